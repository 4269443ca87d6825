"""What runs under a Hugging Face interpreter: it loads a folder with the folder's own library, and answers for it.

Nothing here imports the rest of Trireme, since the interpreter may be anybody's training environment. It reads calls
as lines of JSON and answers in lines of JSON: see `loop`. Nothing from the folder is ever run as code.
"""
