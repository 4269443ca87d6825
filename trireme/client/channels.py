"""Settings of gRPC channels."""

from trireme.machine.channels import OWN_CHANNEL

CHANNEL = [
    *OWN_CHANNEL,
    ("grpc.initial_reconnect_backoff_ms", 100),
    # Despite its name it bounds how long one attempt may take, which a far or busy server needs.
    ("grpc.min_reconnect_backoff_ms", 10_000),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]
"""A client's, sync or async: quick to come back, and without a bound on what it carries."""
