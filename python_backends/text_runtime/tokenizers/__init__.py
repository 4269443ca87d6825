"""From texts to rows of token ids: preparation, windows, prompts, and how much of a text was read."""
