"""The files of a release that writes, beside its graph."""

TOKENIZER_NAME = "tokenizer.json"
TEMPLATE_NAME = "chat_template.jinja"
"""The chat template; empty where the checkpoint has none."""
SPECIAL_TOKENS_NAME = "special_tokens.json"
"""The words that a chat template may name: `bos_token`, `eos_token` and others."""
