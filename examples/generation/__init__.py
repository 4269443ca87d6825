"""A model that writes, on real weights: exported, served, and asked in streams."""
