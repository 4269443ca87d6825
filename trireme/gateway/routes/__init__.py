"""The routes, a file for each family of clients."""
