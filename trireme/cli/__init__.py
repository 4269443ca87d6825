"""The command line's handlers, a file a room."""
