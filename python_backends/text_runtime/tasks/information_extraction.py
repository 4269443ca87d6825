"""information-extraction: UIE. What is asked travels with each request, as a schema; nothing is kept between requests.

A row of the encoder holds a text once for each of the schema's top names: many texts and many names are one batch.
What is asked about an answer (`{"公司": ["成立时间"]}`) needs that answer first: each deeper level goes through the
tokenizer and the encoder once more, for all rows of all requests of an execution together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from text_runtime.tasks.agreement import f1
from text_runtime.tasks.answer_spans import Span as Place
from text_runtime.tasks.answer_spans import find_spans
from text_runtime.tasks.answers import Answer, Asked, Question
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import Array, strings
from text_runtime.tasks.judging import Judge, require, require_score
from text_runtime.tasks.schema import ANSWER_END, Prompt, half_width, parse_schema
from text_runtime.tasks.views import Branch, Tone, View, shortened
from text_runtime.tensors import SCHEMA, SPANS, TEXT, DataType, TensorSpec
from text_runtime.tokenizers.texts import read_texts

_OF = "的"
_MAX_QUESTIONS = 64
"""Questions that one row may put in one pass: an execution stays bounded however many answers were found."""

Schema = str | Sequence[Any] | Mapping[str, Any]
"""A name, a list of names and nodes, or a node, whose values are schemas: `["时间", {"公司": ["成立时间"]}]`."""

Found = Mapping[str, tuple["Span", ...]]
"""Findings by the schema's names; a name without any is left out."""


@dataclass(frozen=True)
class Span:
    """One finding: `text[start:end]` of the text as it was sent, and what was found about it.

    `start` and `end` are None for a choice that the schema's name itself offers, as in `情感[正向，负向]`.
    """

    text: str
    score: float
    start: int | None = None
    end: int | None = None
    relations: Found = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Extraction(Answer):
    """What was found in one text."""

    result: Found


class InformationExtraction(Task[Extraction]):
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

    def ask(
        self, texts: Sequence[str], schema: Schema, *, key: str | None = None, timeout_s: float | None = None
    ) -> Question[list[Extraction]]:
        """What a schema asks, found in each text (information-extraction)."""
        columns = {TEXT.name: texts, SCHEMA.name: [orjson.dumps(schema).decode()] * len(texts)}
        return Question(self.name, columns, self.answers, key, timeout_s)

    def answer(self, row: Tensors, *, release: int | None, truncated_chars: int) -> Extraction:
        """See the base class."""
        found = _found(orjson.loads(row["result"][0]))
        return Extraction(result=found, release=release, truncated_chars=truncated_chars)

    def agreement(self, ours: Extraction, theirs: Extraction) -> float | None:
        """F1 of the findings of all levels: the same stretch, under the same names."""
        return f1(set(_findings(ours.result)), set(_findings(theirs.result)))

    def judge(self) -> Judge[Extraction]:
        """What is found was asked for, and is a stretch of the text.

        That a text gets the same findings each time is not judged: where a probability is near one half, padding
        decides.
        """
        return _Judge()

    def view(self, asked: Asked, answer: Extraction) -> View:
        """A tree of names and findings under the text."""
        unread = f"  ({answer.truncated_chars} characters unread)" if answer.is_truncated else ""
        nothing = [Branch([("nothing found", Tone.FAINT)])]
        return Branch(shortened(asked[TEXT.name]) + unread, _branches(answer.result) or nothing)


def _found(content: Mapping[str, Any]) -> Found:
    return {name: tuple(_span(**each) for each in spans) for name, spans in content.items()}


def _span(relations: Mapping[str, Any] | None = None, **fields: Any) -> Span:
    return Span(**fields, relations=_found(relations or {}))


def _findings(found: Found, path: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every finding of every level, by the names and findings that lead to it."""
    for name, spans in found.items():
        for span in spans:
            own = (*path, name, span.text)
            yield own, span.start
            yield from _findings(span.relations, own)


def _branches(found: Found) -> list[Branch]:
    return [Branch([(name, Tone.NAME)], [_leaf(span) for span in spans]) for name, spans in found.items()]


def _leaf(span: Span) -> Branch:
    place = "" if span.start is None else f"  {span.start}-{span.end}"
    line = [(span.text, Tone.FOUND), (f"{place}  {span.score:.4f}", Tone.PLAIN)]
    return Branch(line, _branches(span.relations))


class _Judge(Judge[Extraction]):
    def __call__(self, asked: Asked, answer: Extraction) -> None:
        _judge(answer.result, _prompts(asked[SCHEMA.name]), asked[TEXT.name])


@lru_cache
def _prompts(schema: str) -> tuple[Prompt, ...]:
    return parse_schema(schema)


def _judge(found: Found, prompts: tuple[Prompt, ...], text: str) -> None:
    children = {prompt.name: prompt.children for prompt in prompts}
    for name, spans in found.items():
        require(name in children, "something was found that was not asked for")
        for span in spans:
            is_cut_out = span.start is None or text[span.start : span.end] == span.text
            require(is_cut_out, "a finding is not the text between its offsets")
            require_score(span.score)
            _judge(span.relations, children[name], text)


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


def _as_json(text: str, prompt: str, span: Place) -> dict[str, Any]:
    if span.end < 0:
        bias = len(prompt) + 1
        return {"text": prompt[span.start + bias : span.end + bias], "score": span.score}
    return {"text": text[span.start : span.end], "start": span.start, "end": span.end, "score": span.score}
