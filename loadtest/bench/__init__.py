"""The benchmark: a served pipeline, its in-process ceiling and its peers, alternating in one run."""
