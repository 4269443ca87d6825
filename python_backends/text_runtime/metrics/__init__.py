"""What the steps count, and how it reaches Triton's metrics."""
