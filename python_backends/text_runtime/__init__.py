"""What runs inside Triton, without Triton: numpy in, numpy out.

The backends beside this package are thin shells over it. It is the leaf of the project: it imports nothing of ours,
neither Paddle nor anything that reaches the network, and every other room may import it. A task's contract and the code
that fulfils it stand in one module here, so that they cannot drift apart.
"""
