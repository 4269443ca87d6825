"""Administers one Triton: loads and unloads its models, looks into it, reads what it counted, and probes its pipelines.

Control goes over gRPC, never over HTTP: a load over HTTP blocks one of Triton's event loops, and with it every client
that has a connection on that loop. Whoever serves, promotes or measures uses this one client.
"""

from trireme.admin.administrator import Administrator
from trireme.admin.deadlines import Deadlines
from trireme.admin.endpoint import Endpoint
from trireme.admin.index import ModelVersion, exception_of
from trireme.admin.metrics import Sample, scrape
from trireme.admin.probe import probe_columns
from trireme.admin.statistics import ModelCounts

__all__ = [
    "Administrator",
    "Deadlines",
    "Endpoint",
    "ModelCounts",
    "ModelVersion",
    "Sample",
    "exception_of",
    "probe_columns",
    "scrape",
]
