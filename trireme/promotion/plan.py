"""What a command would do, in words, for `--dry-run`."""

from text_runtime.routing import side_name
from trireme.promotion.layout import Layout
from trireme.promotion.spec import PromotionSpec


def plan(spec: PromotionSpec, before: Layout, after: Layout) -> list[str]:
    """The steps of a move, one line each; nothing is asked or changed on any server."""
    servers = ", ".join(target.grpc for target in spec.targets())
    lines = [f"on {servers}:"]
    if spec.intents.read():
        lines.append("first repair what an interrupted command left")
    for release in sorted(after.loaded - before.loaded):
        lines += [f"verify the bytes of release {release}, its contract and the free memory"]
        lines += [f"load release {release} beside {_numbers(before)}, also as '{side_name(spec.pipeline, release)}'"]
        lines += [f"ask release {release} its golden requests on every server"]
    if after.traffic != before.traffic:
        lines.append(
            f"switch '{spec.pipeline}' from {before.traffic} to {after.traffic}, and wait for answers to prove it"
        )
    lines += [f"unload release {release}" for release in sorted(before.loaded - after.loaded)]
    return lines if len(lines) > 1 else [*lines, "nothing: it is so already"]


def _numbers(layout: Layout) -> str:
    return ", ".join(map(str, sorted(layout.loaded)))
