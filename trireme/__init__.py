"""The contract and the command line of Trireme.

Everything that all rooms must agree on stands here: the words (pipeline, step, release), where they lie in a model
repository, how their `config.pbtxt` files are rendered, and the errors that a user may see.
"""

__version__ = "0.1.0"
