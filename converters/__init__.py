"""From a checkpoint to a release: load the source, export its graph and tokenizer, pass the gates, publish.

Data runs one way: `sources` -> `onnx_graph` and `tokenizers` -> `engines` -> `gates` -> `publish`. Nothing touches the
model repository before the last gate has passed.
"""

import sys

# OpenVINO and NNCF do without it. With it they report their use to the maker, in a fork for each event, which gRPC's
# threads in the same process do not survive unharmed.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
