"""The written `tokenizer.json` beside the source's own tokenizer: ids, offsets, pairs, truncation; or refused."""

import io
import shutil
from functools import cache
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer

from converters import paddle_runtime
from converters.corpus import generated_texts
from converters.export import ExportSpec, export
from converters.sources import SourceModel, open_source
from converters.sources.base import SourceTokenizer
from converters.tokenizers.paddlenlp import PaddleNlpTokenizer
from tests.conftest import CHECKPOINT, TASK
from tests.converters.candidates import gate
from tests.converters.checkpoints import TEXTS, make_model, write_checkpoint, write_tokenizer_config
from text_runtime.facts import TokenizerFacts
from text_runtime.tokenizers.tokenizer import FILE_NAME, TextTokenizer
from trireme.contract.pipelines import Step
from trireme.contract.repository import Repository
from trireme.errors import CheckpointError, GateError

pytestmark = pytest.mark.xdist_group("tokenizers")
MAX_LENGTH = 24
_SETTINGS = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
# Half a surrogate pair is no text. The other two changed their category since the library's Unicode tables were made:
# of all other characters, each between two Chinese ones and between two letters, none differs.
_PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u1734\U000111c9"), max_size=60)
_STRANGE = st.lists(st.sampled_from(generated_texts(60, seed=11)), max_size=3).map("".join)
ANY_TEXT = st.one_of(_PLAIN, _STRANGE)


@cache
def served(source: SourceTokenizer, folder: Path) -> TextTokenizer:
    """What the tokenizer step would load, with the characters of each token."""
    source.write(folder / FILE_NAME)
    facts = TokenizerFacts(MAX_LENGTH, source.traits.pad_token_id, odd_token=source.traits.odd_token)
    return TextTokenizer(folder, facts, has_spans=True)


def assert_equal(ours: TextTokenizer, source: SourceTokenizer, text: str, pair: str) -> None:
    """The same ids, types and offsets for a text, and the same ids and types for a pair."""
    (row,), (their,) = ours.encode([text]), source.encode([text], None, MAX_LENGTH)
    assert (row.ids, row.type_ids) == (their.ids, their.type_ids)
    (spans,) = source.offsets([text], MAX_LENGTH)
    for (start, end, _), span in zip(row.spans.tolist(), spans, strict=False):
        assert span in (None, (start, end))
    (both,), (theirs,) = ours.encode([text], [pair]), source.encode([text], [pair], MAX_LENGTH)
    assert (both.ids, both.type_ids) == (theirs.ids, theirs.type_ids)


@cache
def paddlenlp_tokenizer(kind: str, folder: Path) -> PaddleNlpTokenizer:
    """One of PaddleNLP's tokenizers, from a vocabulary made here, loaded as an export loads it."""
    name, _, cased = kind.partition(", ")
    if name == "RobertaBPETokenizer":
        trained = ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trained.train_from_iterator([*TEXTS, *generated_texts(200)], 600, show_progress=False, special_tokens=special)
        trained.save_model(str(folder))
    else:
        shutil.copy(CHECKPOINT / "vocab.txt", folder)
    write_tokenizer_config(folder, name, do_lower_case=not cased)
    return PaddleNlpTokenizer(paddle_runtime.load_tokenizer(folder, folder), folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind of tokenizer."""
    return {kind: tmp_path_factory.mktemp("tokenizer") for kind in KINDS}


KINDS = ("ErnieTokenizer", "BertTokenizer, cased", "ElectraTokenizer", "RobertaBPETokenizer")


@pytest.mark.parametrize("kind", KINDS)
@_SETTINGS
@given(text=ANY_TEXT, pair=ANY_TEXT)
@example(text="", pair="")
@example(text="İstanbul ΣΑΣ ｶﾞ㎡ e\u0301 👨‍👩‍👧 \u00ad～～", pair="好" * 40)
def test_ids_and_offsets_equal_paddlenlps_on_any_text(
    kind: str, folders: dict[str, Path], text: str, pair: str
) -> None:
    source = paddlenlp_tokenizer(kind, folders[kind])
    assert_equal(served(source, folders[kind]), source, text, pair)


def test_offsets_are_told_for_most_tokens_of_real_texts(reviews: list[str], tmp_path: Path) -> None:
    source = paddlenlp_tokenizer("ErnieTokenizer", tmp_path)
    told = [span for spans in source.offsets(reviews[:100], MAX_LENGTH) for span in spans if span is not None]
    assert len(told) > 1500
    ours = served(source, tmp_path).encode(reviews[:100])
    assert len(told) > 0.9 * sum(int((row.spans[:, 0] >= 0).sum()) for row in ours)


def test_an_offset_that_differs_is_refused_with_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_checkpoint(tmp_path / "c", "ErnieForTokenClassification")
    real = PaddleNlpTokenizer._offsets
    monkeypatch.setattr(
        PaddleNlpTokenizer,
        "_offsets",
        lambda self, text, length: [span and (span[0], span[1] + 1) for span in real(self, text, length)],
    )
    with pytest.raises(GateError, match="gate 'tokens' refused .*a token of .* is .*the source says"):
        export(ExportSpec(folder, "token-classification", "x", tmp_path / "repository"))
    assert not (tmp_path / "repository").exists()


def test_the_side_on_which_a_text_is_cut_is_kept(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "c", "BertForSequenceClassification")
    write_tokenizer_config(folder, "BertTokenizer", truncation_side="left")
    manifest = export(ExportSpec(folder, TASK, "x", tmp_path / "repository", max_length=8))
    assert manifest.tokenizer.truncation_side == "left"
    step = Repository(tmp_path / "repository").step_folder("x", Step.TOKENIZER) / "1"
    (row,) = TextTokenizer(step, manifest.tokenizer).encode(["1 2 3 4 5 6 7 8 9"])
    (their,) = open_source(folder, TASK).tokenize(["1 2 3 4 5 6 7 8 9"], None, 8)
    words = (folder / "vocab.txt").read_text().splitlines()
    assert row.ids == their.ids
    assert [words[token] for token in row.ids] == ["[CLS]", "4", "5", "6", "7", "8", "9", "[SEP]"]
    assert row.truncated_chars == len("1 2 3 ")


def write_sentencepiece(folder: Path, kind: str, lines: list[str]) -> int:
    """A SentencePiece model as that PaddleNLP tokenizer wants it, trained here; gives how many ids it has."""
    model = io.BytesIO()
    roles = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "user_defined_symbols": "[CLS],[SEP],[MASK]"}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=2000,
        hard_vocab_limit=False,
        minloglevel=2,
        **(roles if kind == "AlbertEnglishTokenizer" else {}),
    )
    name = {"AlbertEnglishTokenizer": "spiece.model"}.get(kind, "sentencepiece.bpe.model")
    (folder / name).write_bytes(model.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    if kind == "ErnieMTokenizer":
        words = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
        words += [pieces.id_to_piece(index) for index in range(3, len(pieces))]
        (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    write_tokenizer_config(folder, kind)
    return len(pieces) + 3


SENTENCEPIECE = {"Albert": "AlbertEnglishTokenizer", "XLMRoberta": "XLMRobertaTokenizer", "ErnieM": "ErnieMTokenizer"}


@pytest.fixture
def with_sentencepiece(prefix: str, reviews: list[str], tmp_path: Path) -> SourceModel:
    """A model of the family with its own SentencePiece tokenizer."""
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    words = write_sentencepiece(folder, SENTENCEPIECE[prefix], [*reviews[:300], *TEXTS * 5, "ガガ カカ"])
    make_model(f"{prefix}ForSequenceClassification", words).save_pretrained(str(folder))
    return open_source(folder, TASK)


@pytest.mark.parametrize("prefix", ["Albert", "XLMRoberta"])
def test_a_unigram_model_passes_on_texts_where_it_is_equal(
    prefix: str, with_sentencepiece: SourceModel, tmp_path: Path
) -> None:
    rows = gate(with_sentencepiece, tmp_path / "candidate", TASK, list(TEXTS) * 20)
    assert [row.gate for row in rows] == ["graph", "load", "tokens", "outputs"]


@pytest.mark.parametrize("prefix", ["XLMRoberta"])
def test_a_unigram_model_is_refused_with_the_first_text_where_it_is_not(
    prefix: str, with_sentencepiece: SourceModel, tmp_path: Path
) -> None:
    """SentencePiece composes half-width kana with their marks, the library's normalizer does not."""
    with pytest.raises(GateError, match="gate 'tokens' refused this candidate: 'ｶﾞｶﾞ' encodes to"):
        gate(with_sentencepiece, tmp_path / "candidate", TASK, [*TEXTS, "ｶﾞｶﾞ", "ｶﾞ"])


@pytest.mark.parametrize("prefix", ["ErnieM"])
def test_a_tokenizer_that_no_file_expresses_is_named(
    prefix: str, with_sentencepiece: SourceModel, tmp_path: Path
) -> None:
    with pytest.raises(GateError, match="no tokenizer.json is known that encodes as PaddleNLP's ErnieMTokenizer does"):
        with_sentencepiece.write_tokenizer(tmp_path / FILE_NAME)


@pytest.mark.parametrize(
    ("name", "value"),
    [("model_max_length", []), ("model_max_length", -1), ("model_max_length", True), ("truncation_side", "middle")],
)
def test_a_setting_that_cannot_be_is_refused_by_name(tmp_path: Path, name: str, value: object) -> None:
    shutil.copy(CHECKPOINT / "vocab.txt", tmp_path)
    write_tokenizer_config(tmp_path, "ErnieTokenizer", **{name: value})
    with pytest.raises(CheckpointError, match=f"({name} is|its tokenizer does not load)"):
        PaddleNlpTokenizer(paddle_runtime.load_tokenizer(tmp_path, tmp_path), tmp_path)
