"""Measures pipelines that write beside their ceiling and their peers."""
