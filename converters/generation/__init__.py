"""From a causal language model to a release that writes: its graph, its tokenizer, its precisions and its gates."""
