"""The matrix of checkpoints: families, heads and settings, each as small as its library allows.

It runs under an interpreter with torch and imports nothing of ours: see `checkpoints.py` beside this folder. Weights
are drawn from numpy's legacy `RandomState`, whose stream never changes, so that the values beside the tests stay right
with any version of torch.
"""
