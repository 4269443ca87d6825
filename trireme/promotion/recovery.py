"""Repairs what an interrupted command left: finishes it past its point of no return, undoes it before."""

from trireme.promotion.fleet import Fleet
from trireme.promotion.intent import Intent
from trireme.promotion.ledger import Entry
from trireme.promotion.moves import Mover
from trireme.promotion.spec import PromotionSpec


def recover(spec: PromotionSpec, fleet: Fleet) -> str:
    """Finish or undo what is under way, on every server that answers; gives a line that says so, or nothing."""
    intent = spec.intents.read()
    if intent is None:
        return ""
    wanted = intent.after if intent.is_decided else intent.before
    Mover(spec.disk, fleet, is_patient=True).move(wanted)
    outcome = "done" if intent.is_decided else "undone"
    if not _is_recorded(spec, intent):
        source = intent.before.traffic.current
        evidence = {"id": intent.id, "recovered": True, "servers": fleet.addresses, "lost": sorted(fleet.lost)}
        spec.ledger.append(Entry(intent.command, source, intent.target, outcome, evidence))
    spec.intents.clear()
    fleet.lost.clear()
    verb = "finished" if intent.is_decided else "undid"
    return f"{verb} an interrupted {intent.command} first: {spec.pipeline} is at {wanted}"


def _is_recorded(spec: PromotionSpec, intent: Intent) -> bool:
    return any(entry.evidence.get("id") == intent.id for entry in spec.ledger.entries())
