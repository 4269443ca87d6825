"""From a checkpoint to a release: load the source, export its graph and tokenizer, pass the gates, publish.

Data runs one way: `sources` -> `onnx_graph` and `tokenizers` -> `engines` -> `gates` -> `publish`. Nothing touches the
model repository before the last gate has passed.
"""
