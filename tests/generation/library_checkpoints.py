"""Writes a small causal language model as Hugging Face's own library does, taught a little.

For an interpreter with torch:

    PYTHON tests/generation/library_checkpoints.py FOLDER llama|qwen2 TEXTS

It imports nothing of ours. TEXTS is what tokenizer and model learn, a paragraph a line. The Llama has a SentencePiece
tokenizer that begins every text with `<s>`, and two tokens that end an answer; the Qwen2 a byte-level one.
"""

import sys
import tempfile
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

_STEPS, _ROWS, _TOKENS = 120, 16, 48
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SIZES = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 512,
}


def main(folder: Path, kind: str, texts: list[str]) -> None:
    """Make the tokenizer and the model, teach it, save both."""
    torch.manual_seed(7)
    folder.mkdir(parents=True)
    tokenizer = _llama_tokenizer(texts, folder) if kind == "llama" else _qwen2_tokenizer(texts)
    tokenizer.chat_template = _TEMPLATE
    tokenizer.save_pretrained(folder)
    model = _model(kind, tokenizer)
    _teach(model, tokenizer, texts)
    model.eval()
    if kind == "llama":
        model.generation_config.eos_token_id = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|im_end|>")]
        model.generation_config.temperature, model.generation_config.do_sample = 0.6, True
        model.generation_config.repetition_penalty = 1.2  # which greedy answers must not heed
    model.save_pretrained(folder)


def _qwen2_tokenizer(texts: list[str]) -> transformers.PreTrainedTokenizerBase:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet))
    with tempfile.TemporaryDirectory() as scratch:
        tokenizer.model.save(scratch)
        return transformers.Qwen2TokenizerFast(
            f"{scratch}/vocab.json", f"{scratch}/merges.txt", additional_special_tokens=["<|im_start|>", "<|im_end|>"]
        )


def _llama_tokenizer(texts: list[str], folder: Path) -> transformers.PreTrainedTokenizerBase:
    import sentencepiece

    with (folder / "tokenizer.model").open("wb") as stream:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_writer=stream, vocab_size=600, model_type="bpe", byte_fallback=True,
            add_dummy_prefix=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
            unk_id=0, bos_id=1, eos_id=2, pad_id=-1, hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
    return transformers.LlamaTokenizerFast(
        str(folder / "tokenizer.model"), additional_special_tokens=["<|im_start|>", "<|im_end|>"], legacy=False
    )


def _model(kind: str, tokenizer: transformers.PreTrainedTokenizerBase) -> transformers.PreTrainedModel:
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    if kind == "llama":
        config = transformers.LlamaConfig(vocab_size=len(tokenizer), **_SIZES, **ends, rope_theta=5000.0)
        return transformers.LlamaForCausalLM(config)
    config = transformers.Qwen2Config(vocab_size=len(tokenizer), **_SIZES, **ends, tie_word_embeddings=True)
    return transformers.Qwen2ForCausalLM(config)


def _teach(
    model: transformers.PreTrainedModel, tokenizer: transformers.PreTrainedTokenizerBase, texts: list[str]
) -> None:
    ids = torch.tensor([token for text in texts for token in tokenizer(text).input_ids])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(_STEPS):
        starts = torch.randint(0, len(ids) - _TOKENS, (_ROWS,))
        rows = torch.stack([ids[start : start + _TOKENS] for start in starts])
        loss = model(input_ids=rows, labels=rows).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]).read_text(encoding="utf-8").splitlines())
