"""The ledger: append only, whole after a crash, and what a rollback reads from it."""

from pathlib import Path

from trireme.promotion.ledger import Entry, Ledger


def test_entries_come_back_as_they_were_written(tmp_path: Path) -> None:
    ledger, entry = Ledger(tmp_path / "demo"), Entry("promote", 1, 2, "done", {"servers": ["a:1"]})
    ledger.append(entry)
    assert ledger.entries() == [entry]


def test_a_torn_line_is_passed_over_and_the_next_entry_stands_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append(Entry("promote", 1, 2, "done"))
    with ledger.path.open("ab") as stream:
        stream.write(b'{"command": "roll')
    ledger.append(Entry("rollback", 2, 1, "done"))
    assert [entry.command for entry in ledger.entries()] == ["promote", "rollback"]


def test_each_rollback_takes_one_promotion_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for source, target in ((1, 2), (2, 3)):
        ledger.append(Entry("promote", source, target, "done"))
    assert ledger.release_before(3) == 2
    ledger.append(Entry("rollback", 3, 2, "done"))
    assert ledger.release_before(2) == 1
    ledger.append(Entry("rollback", 2, 1, "done"))
    assert ledger.release_before(1) is None


def test_what_failed_or_ended_a_canary_takes_no_promotion_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append(Entry("promote", 1, 2, "done"))
    ledger.append(Entry("promote", 2, 3, "undone"))
    ledger.append(Entry("canary", 2, 3, "done"))
    ledger.append(Entry("rollback", 3, 2, "done"))
    assert ledger.release_before(2) == 1
