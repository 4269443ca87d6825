"""FastAPI, uvicorn and ONNX Runtime, one text a request."""

import os
from typing import Any

import numpy as np
import onnxruntime
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from tokenizers import Tokenizer

from loadtest.peers.softmax import answer_of


class Request(BaseModel):
    """One text."""

    text: str


app = FastAPI()
tokenizer = Tokenizer.from_file(os.environ["PEER_TOKENIZER"])
tokenizer.enable_truncation(int(os.environ["PEER_MAX_LENGTH"]))
session = onnxruntime.InferenceSession(os.environ["PEER_ONNX"], providers=["CPUExecutionProvider"])


@app.post("/predict")
def predict(request: Request) -> dict[str, Any]:
    """Classify one text."""
    ids = np.array([tokenizer.encode(request.text).ids])
    feeds = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
    return answer_of(session.run(None, {value.name: feeds[value.name] for value in session.get_inputs()})[0][0])


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PEER_PORT"]), log_level="warning")
