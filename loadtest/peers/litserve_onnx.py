"""LitServe with its own dynamic batching over ONNX Runtime."""

import os
from typing import Any

import litserve
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from loadtest.peers.softmax import answer_of


class Sentiment(litserve.LitAPI):  # type: ignore[misc]
    """Batches what arrives within the time-out, padded to the longest of the batch."""

    def setup(self, device: str) -> None:
        """Load tokenizer and model."""
        self.tokenizer = Tokenizer.from_file(os.environ["PEER_TOKENIZER"])
        self.tokenizer.enable_truncation(int(os.environ["PEER_MAX_LENGTH"]))
        self.tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
        self.session = onnxruntime.InferenceSession(os.environ["PEER_ONNX"], providers=["CPUExecutionProvider"])

    def decode_request(self, request: dict[str, Any]) -> str:
        """The text of a request."""
        return str(request["text"])

    def predict(self, texts: list[str]) -> Any:
        """Logits of a batch."""
        ids = np.array([encoding.ids for encoding in self.tokenizer.encode_batch(texts)])
        feeds = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
        return self.session.run(None, {value.name: feeds[value.name] for value in self.session.get_inputs()})[0]

    def encode_response(self, logits: Any) -> dict[str, Any]:
        """Label and score of one row."""
        return answer_of(logits)


if __name__ == "__main__":
    api = Sentiment(max_batch_size=32, batch_timeout=0.002)
    server = litserve.LitServer(api, accelerator="cpu")
    server.run(host="127.0.0.1", port=int(os.environ["PEER_PORT"]), generate_client_file=False, log_level="warning")
