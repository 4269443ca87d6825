"""information-extraction under load: what is found was asked for, and is a stretch of the text.

That a text gets the same findings each time is not judged: where a probability is near one half, padding decides.
"""

from loadtest.scenarios.base import Asked, Scenario, require, require_score
from text_runtime.schema import Prompt, parse_schema
from trireme.client.codecs import Extraction
from trireme.client.codecs.extraction import Found
from trireme.errors import InputError


class InformationExtraction(Scenario[Extraction]):
    """What a schema found in a text.

    Raises:
        InputError: the schema is none.
    """

    task_name = "information-extraction"

    def __init__(self, schema: str) -> None:
        super().__init__(schema)
        try:
            self._prompts = parse_schema(schema)
        except ValueError as error:
            raise InputError("schema", str(error), "give it with --schema") from error

    def judge_answer(self, asked: Asked, answer: Extraction) -> None:
        """See the base class."""
        _judge(answer.result, self._prompts, asked["text"])


def _judge(found: Found, prompts: tuple[Prompt, ...], text: str) -> None:
    children = {prompt.name: prompt.children for prompt in prompts}
    for name, spans in found.items():
        require(name in children, "something was found that was not asked for")
        for span in spans:
            is_cut_out = span.start is None or text[span.start : span.end] == span.text
            require(is_cut_out, "a finding is not the text between its offsets")
            require_score(span.score)
            _judge(span.relations, children[name], text)
