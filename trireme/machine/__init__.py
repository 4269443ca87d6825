"""What belongs to one machine: free ports, the allocator, this user's servers, and how a connection is opened."""
