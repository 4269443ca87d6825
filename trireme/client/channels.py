"""Settings of gRPC channels."""

from trireme.machine.channels import OWN_CHANNEL

CHANNEL = [
    *OWN_CHANNEL,
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]
"""A client's, sync or async: quick to come back, and without a bound on what it carries."""
