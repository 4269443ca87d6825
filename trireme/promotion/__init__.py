"""Moves whole pipelines between releases on one Triton or many: stage, shadow, canary, promote, roll back, retire.

The model repository on disk says what shall be served, every server is brought to it over gRPC, and a command ends only
when each server's own answers prove the release. What a command is about to do is written down before it begins, so
that the next command finishes or undoes whatever was interrupted.
"""
