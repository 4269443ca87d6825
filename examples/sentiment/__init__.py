"""A small ERNIE that tells a good product review from a bad one, trained here from texts that a package carries."""
