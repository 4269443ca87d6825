"""What belongs to one machine: its free ports, its allocator, and the servers of this user that run on it."""
