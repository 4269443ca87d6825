"""information-extraction: UIE. What is asked travels with each request, as a schema; nothing is kept between requests.

A row of the encoder holds a text once for each of the schema's top names: many texts and many names are one batch.
What is asked about an answer (`{"公司": ["成立时间"]}`) needs that answer first: each deeper level goes through the
tokenizer and the encoder once more, for all rows of all requests of an execution together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from text_runtime.answer_spans import Span, find_spans
from text_runtime.schema import ANSWER_END, Prompt, half_width, parse_schema
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import Array, strings
from text_runtime.tensors import SCHEMA, SPANS, TEXT, DataType, TensorSpec
from text_runtime.texts import read_texts

_OF = "的"
_MAX_QUESTIONS = 64
"""Questions that one row may put in one pass: an execution stays bounded however many answers were found."""


class InformationExtraction(Task):
    """`result` STRING [1]: JSON object, for each name a list of `text`, `start`, `end`, `score` and `relations`."""

    name = "information-extraction"
    inputs = (TEXT, SCHEMA)
    postprocess_inputs = (SPANS, TEXT, SCHEMA)
    is_per_token = True
    has_labels = False

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("result", DataType.STRING, (1,)),)

    def encoder_output(self, width: int) -> TensorSpec:
        """`probabilities` FP32 [tokens, 2]: that an answer starts, and that it ends, with each token."""
        return TensorSpec("probabilities", DataType.FP32, (-1, width))

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode level by level; `encode` answers the questions of the levels below the first."""
        return _Decoder(encode)


@dataclass
class _Question:
    """One prompt about one text, or about an answer that was found in it, and where its answers go."""

    asked: Prompt
    target: dict[str, Any]
    answer: str = ""

    def prompt(self, end: str = "") -> str:
        """What the model is asked; `end` is put behind the answer."""
        return f"{self.answer}{end}{_OF}{self.asked.name}" if self.answer else self.asked.name

    def put(self, answers: list[dict[str, Any]]) -> None:
        if answers:
            self.target.setdefault(self.asked.name, []).extend(answers)


@dataclass
class _Row:
    """One text of one request on its way through the levels."""

    text: str
    questions: list[_Question]
    result: dict[str, Any] = field(default_factory=dict)


class _Decoder:
    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        rows = [_first_level(request) for request in requests]
        for request, request_rows in zip(requests, rows, strict=True):
            _answer(request_rows, request)
        while waiting := [row for request_rows in rows for row in request_rows if row.questions]:
            self._ask(waiting)
        return [{"result": strings([orjson.dumps(row.result) for row in request_rows])} for request_rows in rows]

    def _ask(self, waiting: list[_Row]) -> None:
        """One more pass for every row that has questions; a row with very many takes several."""
        later = [row.questions[_MAX_QUESTIONS:] for row in waiting]
        for row in waiting:
            row.questions = row.questions[:_MAX_QUESTIONS]
        names = [orjson.dumps([question.prompt(ANSWER_END) for question in row.questions]) for row in waiting]
        inputs = {TEXT.name: strings([row.text.encode() for row in waiting]), SCHEMA.name: strings(names)}
        _answer(waiting, self._encode(inputs))
        for row, rest in zip(waiting, later, strict=True):
            row.questions += rest


def _first_level(request: Tensors) -> list[_Row]:
    texts, schemas = (read_texts(tensor.name, request[tensor.name]) for tensor in (TEXT, SCHEMA))
    rows = [_Row(text, []) for text in texts]
    for row, schema in zip(rows, schemas, strict=True):
        row.questions = [_Question(prompt, row.result) for prompt in parse_schema(schema)]
    return rows


def _answer(rows: Sequence[_Row], tensors: Mapping[str, Array]) -> None:
    """Put the answers where the questions want them; the questions about these answers take their place."""
    for index, row in enumerate(rows):
        spans, probabilities = tensors[SPANS.name][index], tensors["probabilities"][index]
        asked, row.questions = row.questions, []
        for group, question in enumerate(asked):
            own = spans[:, 2] == group
            found = find_spans(probabilities[own], spans[own, :2])
            prompt = half_width(question.prompt())
            answers = [_as_json(row.text, prompt, span) for span in found]
            question.put(answers)
            row.questions += _deeper(question.asked, answers)


def _deeper(asked: Prompt, answers: Sequence[dict[str, Any]]) -> Iterator[_Question]:
    for child in asked.children:
        for answer in answers:
            yield _Question(child, answer.setdefault("relations", {}), answer["text"])


def _as_json(text: str, prompt: str, span: Span) -> dict[str, Any]:
    if span.end < 0:
        bias = len(prompt) + 1
        return {"text": prompt[span.start + bias : span.end + bias], "score": span.score}
    return {"text": text[span.start : span.end], "start": span.start, "end": span.end, "score": span.score}
