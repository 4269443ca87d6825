"""FastAPI, uvicorn and Paddle Inference, one text a request: the recipe that most articles give."""

import os
from typing import Any

import paddle.inference as paddle_infer
import uvicorn
from fastapi import FastAPI
from paddlenlp.transformers import AutoTokenizer
from pydantic import BaseModel

from loadtest.peers.softmax import answer_of


class Request(BaseModel):
    """One text."""

    text: str


def create_predictor(folder: str) -> Any:
    """A Paddle Inference predictor with oneDNN, as the documentation shows it."""
    config = paddle_infer.Config(f"{folder}/static.json", f"{folder}/static.pdiparams")
    config.disable_gpu()
    config.enable_mkldnn()
    config.set_cpu_math_library_num_threads(os.cpu_count() or 1)
    return paddle_infer.create_predictor(config)


app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained(os.environ["PEER_CHECKPOINT"])
predictor = create_predictor(os.environ["PEER_STATIC"])
max_length = int(os.environ["PEER_MAX_LENGTH"])


@app.post("/predict")
async def predict(request: Request) -> dict[str, Any]:
    """Classify one text."""
    encoded = tokenizer(request.text, max_length=max_length, truncation=True, return_tensors="np")
    for name in predictor.get_input_names():
        predictor.get_input_handle(name).copy_from_cpu(encoded[name].astype("int64"))
    predictor.run()
    return answer_of(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()[0])


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PEER_PORT"]), log_level="warning")
