"""The tensors of a pipeline that writes, named as Triton's vLLM backend names them: its clients work unchanged."""

from text_runtime.tensors import DataType, TensorSpec


def _input(name: str, data_type: DataType) -> TensorSpec:
    return TensorSpec(name, data_type, (1,), is_optional=True)


TEXT_INPUT = _input("text_input", DataType.STRING)
"""A text to be continued."""
MESSAGES = _input("messages", DataType.STRING)
"""A conversation to be answered, as JSON: a list of objects with `role` and `content`."""
STREAM = _input("stream", DataType.BOOL)
"""Whether the answer comes in pieces as it is written."""
SAMPLING_PARAMETERS = _input("sampling_parameters", DataType.STRING)
"""A JSON object, see `SamplingParameters`."""
RESPONSE_FORMAT = _input("response_format", DataType.STRING)
"""A JSON schema that the answer must meet, or an object with it as OpenAI's clients send it."""
EXCLUDE_INPUT = _input("exclude_input_in_output", DataType.BOOL)
"""Whether an answer in one piece leaves the prompt out; a streamed one always does."""
RETURN_LOGPROBS = _input("return_logprobs", DataType.BOOL)
"""The same as `logprobs: 1` among the sampling parameters."""
_ALWAYS_GIVEN = tuple(
    _input(f"return_{name}", DataType.BOOL) for name in ("finish_reason", "num_input_tokens", "num_output_tokens")
)
"""What vLLM's backend gives on demand and this one always."""
STOP_WORDS = TensorSpec("stop_words", DataType.STRING, (-1,), is_optional=True)
"""More texts that end an answer, where clients of TensorRT-LLM's backend, such as LiteLLM, put them."""
BAD_WORDS = TensorSpec("bad_words", DataType.STRING, (-1,), is_optional=True)
"""What an answer must not hold, by the same clients; nothing but empty texts is taken."""

INPUTS = (
    TEXT_INPUT,
    MESSAGES,
    STREAM,
    SAMPLING_PARAMETERS,
    RESPONSE_FORMAT,
    EXCLUDE_INPUT,
    RETURN_LOGPROBS,
    *_ALWAYS_GIVEN,
    STOP_WORDS,
    BAD_WORDS,
)

TEXT_OUTPUT = TensorSpec("text_output", DataType.STRING, (-1,))
FINISH_REASON = TensorSpec("finish_reason", DataType.STRING, (-1,))
"""`stop` or `length` with the last piece; empty before."""
LOGPROBS = TensorSpec("logprobs", DataType.STRING, (-1,))
"""JSON: for each token of the piece its text and its log-probability. Only where they were asked for."""
NUM_INPUT_TOKENS = TensorSpec("num_input_tokens", DataType.UINT32, (1,))
NUM_OUTPUT_TOKENS = TensorSpec("num_output_tokens", DataType.UINT32, (-1,))
"""Tokens of this piece."""

OUTPUTS = (TEXT_OUTPUT, FINISH_REASON, LOGPROBS, NUM_INPUT_TOKENS, NUM_OUTPUT_TOKENS)

TICKET = _input("ticket", DataType.STRING)
"""Which stream a call belongs to. It runs inside the ensemble only."""
CANCEL_TICKET = "cancel:"
"""Begins the ticket by which a router says that the caller of a stream has gone; its token follows."""
STREAM_TOKEN = "stream_token"
"""The request parameter by which a router names a stream."""
TIMEOUT = "timeout"
"""The request parameter by which a caller over HTTP tells how many microseconds it waits; over gRPC Triton reads it."""
ISSUED_TICKET = TensorSpec("issued_ticket", DataType.STRING, (1,))
"""The same on its way out of the call that admits a request."""
