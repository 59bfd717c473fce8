"""How far the predicted size of the next request is from what the provider then reports, on recordings.

    python benchmarks/next_usage.py [FILE-OR-FOLDER ...] [--smoke]

For every pair of requests of one model, without a cut or an edit between them: the messages in between, estimated by
characters / 4 and by the calibrated estimator as it had learnt so far, against what the second report grew by. Pairs
that grew by more than four times, or less than a quarter, of the text in between are counted and left out: there the
recording does not hold what was sent. Without a name it takes the project's examples.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from leafscar.errors import LeafscarError
from leafscar.estimate import Calibrated, estimate_tokens, message_tokens
from leafscar.replay.recording import RecordedRequest, Recording, read_recording
from leafscar.replay.run import find_sessions
from leafscar.session import load

_EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
_FEWEST = 15
_HIDDEN = 4
_FRAMING = 50  # tokens that a few messages may weigh beyond their text


class Step(NamedTuple):
    """What stands between two reports, in tokens."""

    own: float
    chars4: float
    measured: float

    @property
    def is_visible(self) -> bool:
        """Whether the recording holds what the second report counts."""
        return self.chars4 / _HIDDEN <= self.measured <= _HIDDEN * self.chars4 + _FRAMING


def steps(recording: Recording) -> Iterator[Step]:
    """What each request added to the one before."""
    before: RecordedRequest | None = None
    for request in recording.requests:
        if request.reading is None:
            continue
        if before is not None:
            yield from _step(recording, before, request)
        before = request


def _step(recording: Recording, before: RecordedRequest, request: RecordedRequest) -> Iterator[Step]:
    between = recording.path[before.position + 1 : request.position]
    output = before.usage.output if before.usage else None
    changed = any(entry.type in ("compaction", "context_edit") for entry in between)
    if changed or output is None or before.message.model != request.message.model:
        return
    messages = [entry.message for entry in between if entry.message is not None]
    assert before.reading is not None
    assert request.reading is not None
    yield Step(
        own=sum(map(message_tokens, messages)),
        chars4=sum(map(estimate_tokens, messages)),
        measured=request.reading - before.reading - output,
    )


def errors(found: Iterable[Step]) -> tuple[list[float], list[float], int]:
    """Absolute errors in tokens of the calibrated estimator and of characters / 4, and how many steps were left out."""
    state, ours, theirs, hidden = Calibrated(), [], [], 0
    for step in found:
        if step.is_visible:
            ours.append(abs(state.factor * step.own - step.measured))
            theirs.append(abs(step.chars4 - step.measured))
        else:
            hidden += 1
        state = state.observe(step.own, step.measured)
    return ours, theirs, hidden


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--smoke", action="store_true", help="the project's examples")
    given = parser.parse_args()
    print(f"{'recording':<44}{'steps':>6}{'hidden':>7}{'chars/4':>9}{'ours':>7}{'ratio':>7}   mean |error| in tokens")
    means: list[tuple[float, float]] = []
    for path in find_sessions([_EXAMPLES] if given.smoke or not given.paths else given.paths):
        try:
            ours, theirs, hidden = errors(steps(read_recording(load(path))))
        except LeafscarError as fault:
            print(f"{path.name}: {fault}")
            continue
        if len(ours) >= _FEWEST:
            means.append((fmean(theirs), fmean(ours)))
            name = f"{path.parent.name}/{path.name}"[-43:]
            ratio = means[-1][1] / means[-1][0]
            print(f"{name:<44}{len(ours):>6}{hidden:>7}{means[-1][0]:>9.0f}{means[-1][1]:>7.0f}{ratio:>7.2f}")
    if means:
        theirs, ours = (fmean(column) for column in zip(*means, strict=True))
        print(f"{'mean over recordings':<44}{'':>13}{theirs:>9.0f}{ours:>7.0f}{ours / theirs:>7.2f}")


if __name__ == "__main__":
    main()
