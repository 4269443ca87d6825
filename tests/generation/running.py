"""What a served pipeline that writes is doing, as its operator sees it."""

from text_runtime.metrics.generation_metrics import RUNNING
from trireme.admin import scrape
from trireme.serving import Server


def running_sequences(server: Server) -> int:
    """Answers under way, those that wait for their first token too."""
    samples = scrape(server.metrics_url)
    return int(sum(sample.value for sample in samples if sample.name in RUNNING))
