"""The documentation as the tests read it: its files, their fenced blocks, and the commands in them."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

README = ROOT / "README.md"
CHINESE_README = ROOT / "README.zh-CN.md"
GUIDES = sorted((ROOT / "docs").glob("*.md"))
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
DOCUMENTS = [
    README,
    CHINESE_README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "sentiment" / "README.md",
    *GUIDES,
    ROOT / "docs" / "decisions" / "README.md",
    *DECISIONS,
]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, which may be empty, and its lines."""

    language: str
    text: str


def blocks(document: Path, language: str | None = None) -> list[Block]:
    """A document's fenced blocks in order, all or those of one language."""
    found = [Block(*match) for match in _FENCE.findall(document.read_text(encoding="utf-8"))]
    return [block for block in found if language in (None, block.language)]


def programs(document: Path) -> list[str]:
    """A document's Python examples."""
    return [block.text for block in blocks(document, "python")]


def prose(document: Path) -> str:
    """A document without its fenced blocks."""
    return _FENCE.sub("", document.read_text(encoding="utf-8"))


def command_lines(document: Path, command: str = "") -> list[str]:
    """What a reader is told to type: the lines behind `$ ` that begin with a command, without their comments."""
    lines = [line for block in blocks(document, "console") for line in block.text.splitlines()]
    typed = [re.sub(r"\s+# .*", "", line[2:]) for line in lines if line.startswith("$ ")]
    return [line for line in typed if line.startswith(command)]
