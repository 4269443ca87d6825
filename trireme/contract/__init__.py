"""What all rooms must agree on about a pipeline.

The words (pipeline, step, release), where they lie in a model repository, and how their `config.pbtxt` files are
rendered.
"""
