"""What our users would run instead, each as its own users write it: same checkpoint, same texts, same cores."""
