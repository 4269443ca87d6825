"""The few facts of a SentencePiece model that its Python library does not tell.

The library's own protobuf classes are generated for one protobuf release and refuse others, so the wire format is read
here: https://protobuf.dev/programming-guides/encoding, sentencepiece_model.proto of google/sentencepiece.
"""

from dataclasses import dataclass

_TRAINER, _NORMALIZER = 2, 3
_MODEL_TYPE = 3
_NAME, _CHARSMAP, _ADD_DUMMY_PREFIX, _REMOVE_EXTRA_WHITESPACES = 1, 2, 3, 4
_UNIGRAM = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class SentencePieceFacts:
    """How a model segments, and what it does to a text before."""

    is_unigram: bool
    normalizer: str
    charsmap: bytes
    adds_dummy_prefix: bool
    removes_extra_whitespaces: bool


def read_sentencepiece(serialized: bytes) -> SentencePieceFacts:
    """The facts of a serialized ModelProto; what it leaves out has the default of the .proto file.

    Raises:
        ValueError: it is not one.
    """
    model = _fields(serialized)
    trainer = _fields(_bytes(model.get(_TRAINER, b"")))
    normalizer = _fields(_bytes(model.get(_NORMALIZER, b"")))
    return SentencePieceFacts(
        is_unigram=trainer.get(_MODEL_TYPE, _UNIGRAM) == _UNIGRAM,
        normalizer=_bytes(normalizer.get(_NAME, b"")).decode(),
        charsmap=_bytes(normalizer.get(_CHARSMAP, b"")),
        adds_dummy_prefix=bool(normalizer.get(_ADD_DUMMY_PREFIX, 1)),
        removes_extra_whitespaces=bool(normalizer.get(_REMOVE_EXTRA_WHITESPACES, 1)),
    )


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number where SentencePiece's format has a message")
    return value


def _fields(data: bytes) -> dict[int, int | bytes]:
    """The fields of a message by number; of a repeated field the last."""
    found: dict[int, int | bytes] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            found[tag >> 3], at = _varint(data, at)
            continue
        size, at = _varint(data, at) if kind == _BYTES else ({_FIXED64: 8, _FIXED32: 4}[kind], at)
        found[tag >> 3] = data[at : at + size]
        at += size
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
