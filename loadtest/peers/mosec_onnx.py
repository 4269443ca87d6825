"""Mosec (a Rust front end with dynamic batching over Python workers) with ONNX Runtime."""

import os
from typing import Any

import numpy as np
import onnxruntime
from mosec import Server, Worker
from tokenizers import Tokenizer

from loadtest.peers.softmax import answer_of


class Sentiment(Worker):  # type: ignore[misc]
    """Tokenizes and encodes what arrived together, padded to the longest of the batch."""

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(os.environ["PEER_TOKENIZER"])
        self.tokenizer.enable_truncation(int(os.environ["PEER_MAX_LENGTH"]))
        self.tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
        self.session = onnxruntime.InferenceSession(os.environ["PEER_ONNX"], providers=["CPUExecutionProvider"])

    def forward(self, data: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Classify a batch."""
        ids = np.array([encoding.ids for encoding in self.tokenizer.encode_batch([row["text"] for row in data])])
        feeds = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
        logits = self.session.run(None, {value.name: feeds[value.name] for value in self.session.get_inputs()})[0]
        return [answer_of(row) for row in logits]


if __name__ == "__main__":
    server = Server()
    server.append_worker(Sentiment, num=1, max_batch_size=32, max_wait_time=2)
    server.run()
