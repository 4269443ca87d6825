"""Hugging Face's own library, in an interpreter of its own: where it is, how it is made, and how it is asked.

Neither torch enters our lock file nor Paddle theirs. `worker` is the only part that runs under the other interpreter;
`converters.sources.huggingface` makes a source of what it answers.
"""
