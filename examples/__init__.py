"""Worked examples: each folder trains, or fetches, a checkpoint that the converter can turn into a pipeline."""
