"""Writes the `tokenizer.json` that encodes as a source's own tokenizer does; the tokens gate proves it."""
