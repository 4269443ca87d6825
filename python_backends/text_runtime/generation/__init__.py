"""What runs inside Triton for a pipeline that writes.

A request's way: `prompt` makes token ids of it, `worker_process` hands them to the engine, which runs in a process of
its own (`worker`), and `broker` turns the tokens that come back into messages to the caller.
"""
