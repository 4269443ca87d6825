"""What another version of Trireme left on the disk: fields that this one does not know, formats that are too new."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from text_runtime.manifest import parse_manifest
from text_runtime.tasks.label_files import read_labels
from trireme.contract.repository import Repository
from trireme.errors import RepositoryError
from trireme.promotion.intent import IntentFile
from trireme.promotion.layout import Traffic
from trireme.promotion.ledger import Entry, Ledger

FORMAT_1 = Path(__file__).parents[1] / "testdata" / "format_1"
MANIFEST = FORMAT_1 / "models/chain/1/manifest.json"
TOO_NEW = {"format": 2, "trireme_version": "7.1.0"}
REFUSAL = "format 2 is newer than format 1, the newest that this Trireme reads; use Trireme 7.1.0 or later"


def fields_of(path: Path) -> dict[str, Any]:
    """The first JSON object of a file."""
    fields: dict[str, Any] = json.loads(
        path.read_text().splitlines()[0] if path.suffix == ".jsonl" else path.read_text()
    )
    return fields


def test_a_manifest_keeps_the_fields_that_it_does_not_know_at_every_depth() -> None:
    fields = fields_of(MANIFEST) | {"family": "encoder", "approved_by": {"name": "li"}}
    fields["tokenizer"]["normalizer"] = "v2"
    fields["tokenizer"]["preparation"]["is_reversed"] = False
    fields["gates"][1]["took_s"] = 0.5
    fields["files"]["unknown_fields"] = "a file's name like any other"
    manifest = parse_manifest(json.dumps(fields).encode(), "m")
    assert (manifest.pipeline, manifest.tokenizer.max_length) == ("chain", 48)
    assert json.loads(manifest.to_json()) == fields


def test_what_an_old_manifest_lacks_has_a_default() -> None:
    fields = fields_of(MANIFEST)
    for part, names in {"tokenizer": ("preparation", "buckets"), "encoder": ("token_rows", "warnings")}.items():
        for name in names:
            del fields[part][name]
    del fields["evaluation"], fields["format"]
    manifest = parse_manifest(json.dumps(fields).encode(), "m")
    assert (manifest.family, manifest.format, manifest.encoder.token_rows) == ("encoder", 1, 0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"width": "two"}, r"^m is not a manifest: Expected `int`, got `str` - at `\$.width`$"),
        ({"tokenizer": {"max_length": 2, "pad_token_id": 0}}, "leaves no room for a token"),
        ({"source": None}, r"at `\$.source`$"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused_with_the_field(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse_manifest(json.dumps(fields_of(MANIFEST) | change).encode(), "m")


def read_manifest(folder: Path) -> None:
    Repository(folder).manifest("chain", 1)


def read_ledger(folder: Path) -> None:
    Ledger(folder).entries()


def read_intent(folder: Path) -> None:
    IntentFile(folder).read()


@pytest.mark.parametrize(
    ("source", "place", "read"),
    [
        (MANIFEST, "chain/1/manifest.json", read_manifest),
        (FORMAT_1 / "releases/chain/ledger.jsonl", "ledger.jsonl", read_ledger),
        (FORMAT_1 / "releases/joined/intent.json", "intent.json", read_intent),
    ],
)
def test_a_format_that_is_too_new_is_refused_in_one_line_that_names_the_trireme_it_needs(
    source: Path, place: str, read: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields_of(source) | TOO_NEW) + "\n")
    with pytest.raises(RepositoryError) as refusal:
        read(tmp_path)
    assert str(refusal.value) == f"{path}: its {REFUSAL}"


def test_ledgers_and_intents_pass_over_fields_that_they_do_not_know(tmp_path: Path) -> None:
    line = fields_of(FORMAT_1 / "releases/chain/ledger.jsonl") | {"ticket": "OPS-1"}
    ledger = Ledger(tmp_path)
    ledger.path.write_text(json.dumps(line) + "\n")
    ledger.append(Entry("promote", 2, 1, "done"))
    assert [(entry.command, entry.source, entry.target) for entry in ledger.entries()] == [
        ("stage", 1, 2),
        ("promote", 2, 1),
    ]
    assert json.loads(ledger.path.read_text().splitlines()[0]) == line
    intent = fields_of(FORMAT_1 / "releases/joined/intent.json") | {"ticket": "OPS-1"}
    (tmp_path / "intent.json").write_text(json.dumps(intent))
    found = IntentFile(tmp_path).read()
    assert found is not None
    assert (found.command, found.after.traffic) == ("canary", Traffic(1, 2, 75.0))


def test_an_intent_that_says_nothing_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "intent.json").write_text("{}")
    with pytest.raises(RepositoryError, match="which move was interrupted .*promote the release that shall answer"):
        IntentFile(tmp_path).read()


def test_labels_of_a_newer_trireme_are_read_without_what_it_added(tmp_path: Path) -> None:
    fields = fields_of(FORMAT_1 / "models/chain_postprocess/1/labels.json") | {"descriptions": ["bad", "good"]}
    (tmp_path / "labels.json").write_text(json.dumps(fields))
    assert read_labels(tmp_path, 2).names == ("negative", "positive")
