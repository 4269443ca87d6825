"""How a gRPC connection to a server is opened."""

# A connection of its own: a shared one goes on backing off after a server has come back.
OWN_CHANNEL = [("grpc.use_local_subchannel_pool", 1)]
