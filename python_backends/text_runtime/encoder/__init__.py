"""From token ids to the network's outputs: sub-batches cut by length, engines, and how they share the machine."""
