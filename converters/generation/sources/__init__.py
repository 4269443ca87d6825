"""The kinds of checkpoint that a causal language model comes in."""
