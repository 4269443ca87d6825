"""A canary's router: who meets which release, how long it waits, and what it counts."""
