"""What a user of Trireme installs, room by room, from the ground (`contract`, `machine`) up to the roof (`cli`)."""

__version__ = "0.1.0"
