"""FastAPI and `transformers.generate`, one prompt a request: `PYTHON fastapi_transformers.py MODEL.gguf PORT`.

It imports nothing of ours. The weights are those of the GGUF file, in fp32.
"""

import sys
from pathlib import Path

import torch
import transformers
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Request(BaseModel):
    """A prompt, and how many tokens the answer has."""

    prompt: str
    max_tokens: int


path = Path(sys.argv[1])
app = FastAPI()
tokenizer = transformers.AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
model = transformers.AutoModelForCausalLM.from_pretrained(
    str(path.parent), gguf_file=path.name, torch_dtype=torch.float32
).eval()


@app.post("/generate")
def generate(request: Request) -> dict[str, int]:
    """Write a whole answer."""
    prompt = tokenizer(request.prompt, return_tensors="pt")
    tokens = request.max_tokens
    with torch.no_grad():
        result = model.generate(**prompt, do_sample=False, max_new_tokens=tokens, min_new_tokens=tokens)
    return {"tokens": result.shape[1] - prompt.input_ids.shape[1]}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
