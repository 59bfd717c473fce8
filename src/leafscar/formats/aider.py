"""aider: ``.aider.chat.history.md``, a Markdown log of many sessions.

Each session is a branch from a root of its own. Lines that the tool marks as the user's are the user's message, its
own lines (``> ``) are left out but for the model and the counts; what remains is the response. aider ends each line of
its own with two blanks, which tells them from quotes and headings of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from leafscar._words import counted
from leafscar.errors import SessionRefused
from leafscar.formats._json import refuse_giant
from leafscar.formats._pieces import assistant_message, make_usage, number_in, text_parts
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading

__all__ = ["FORMAT", "read_aider", "sniff"]

FORMAT = "aider"

_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*")
_SNIFF = re.compile(rb"^# aider chat started at \d{4}-", re.MULTILINE)
_MODEL = re.compile(r"(?:Main model|Models?): (\S+) with ")
_TOKENS = re.compile(r"Tokens: (\S+) sent(?:, (\S+) cache write)?(?:, (\S+) cache hit)?, (\S+) received")
_SENT = ("/ask ", "/code ", "/architect ", "/context ")
"""Commands whose text goes to the model."""
_INTERRUPTED = "^C KeyboardInterrupt"


def sniff(head: bytes, name: str) -> bool:
    """Whether a file that starts with ``head`` is a chat history of aider."""
    if head.lstrip()[:1] in (b"{", b"["):
        return False
    return name.endswith("aider.chat.history.md") or _SNIFF.search(head) is not None


def read_aider(data: bytes) -> Reading:
    """Read a chat history; raises ``SessionRefused`` when it holds no message."""
    refuse_giant(data, FORMAT)
    log = _Log()
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        log.line(line.removesuffix("\r"), number)
    log.close()
    roles = {(entry.message_data or {}).get("role") for entry in log.builder.entries}
    if "user" not in roles and not (log.started and "assistant" in roles):
        raise SessionRefused(FORMAT, "no message of a chat", hint="give .aider.chat.history.md")
    header = Header(version=3, timestamp=log.started)
    return log.builder.reading(FORMAT, header, unknown=[*gaps(log.builder.entries), *log.notes()])


class _Log:
    """Follows the lines of a log."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.started: str | None = None
        """When the first session started, in local time."""
        self._session: str | None = None
        self._sessions = 0
        self._fresh = True  # the next entry is a root
        self._names: dict[str, str] = {}
        self._user: list[str] = []
        self._said: list[str] = []
        self._status: list[str] = []
        self._output = False  # within output of several lines, of which the first and the last are marked
        self._at = 0  # line where the open block began
        self._cached = 0

    def line(self, line: str, number: int) -> None:
        """Read one line."""
        start, typed = _START.fullmatch(line), line.startswith("#### ") and line.endswith("  ")
        if start is not None:
            self._open_session(f"{start[1]}T{start[2]}")
        elif typed:
            self._output = False
            self._block("user", line[5:-2], number)
        elif self._output or (line.startswith("> ") and not self._talking):
            self._output = not line.endswith("  ")
            self._notice(line[2:-2])
        elif line.startswith("> ") and line.endswith("  "):
            self._notice(line[2:-2])
        elif line.strip() or self._talking:
            self._block("said", line, number)

    @property
    def _talking(self) -> bool:
        """Whether a response is open that nothing of the tool's own came behind."""
        return bool(self._said) and not self._status

    def _open_session(self, started: str) -> None:
        self.close()
        self.started = self.started or started
        self._session, self._fresh, self._output = started, True, False
        self._sessions += 1
        self._names = {}

    def _block(self, kind: str, line: str, number: int) -> None:
        """A line of the user's or of the model's: it ends what stood before it."""
        if self._status or (self._user if kind == "said" else self._said):
            self.close()
        block = self._user if kind == "user" else self._said
        if not block:
            self._at = number
        block.append(line)

    def _notice(self, text: str) -> None:
        model = _MODEL.match(text)
        if model is not None:
            provider, slash, name = model[1].partition("/")
            self._names = {"provider": provider, "model": name} if slash else {"model": model[1]}
        if self._user:
            self.close()
        if self._said:
            self._status.append(text)

    def close(self) -> None:
        """Add the message that is open."""
        user, said, status = self._user, self._said, self._status
        self._user, self._said, self._status = [], [], []
        if user:
            self._close_user("\n".join(user).strip())
        elif said:
            self._close_response("\n".join(said).strip("\n"), status)

    def _close_user(self, text: str) -> None:
        command = text.startswith(("/", "!")) and not text.startswith(_SENT)
        if command:
            self._put("custom", {"customType": f"{FORMAT}.command", "data": {"text": text}}, "c")
        else:
            self._put("message", {"message": {"role": "user", "content": text}}, "u")

    def _close_response(self, text: str, status: Iterable[str]) -> None:
        found = next((tokens for line in status if (tokens := _TOKENS.match(line))), None)
        stopped = found is None and any(line.startswith(_INTERRUPTED) for line in status)
        usage = None if found is None else self._usage(found)
        stop = "aborted" if stopped else "stop"
        message = assistant_message(text_parts(text), api=None, stop=stop, usage=usage, **self._names)
        self._put("message", {"message": message}, "a")

    def _usage(self, found: re.Match[str]) -> dict[str, int] | None:
        """Counts as aider shows them; beside cache counts it does not say what the sent ones include."""
        sent, write, hit, received = (None if text is None else number_in(text) for text in found.groups())
        unclear = write is not None or hit is not None
        self._cached += unclear
        return make_usage(input=None if unclear else sent, output=received, cache_read=hit, cache_write=write)

    def _put(self, kind: str, fields: dict[str, object], letter: str) -> None:
        parent, self._fresh = (-1 if self._fresh else None), False
        self.builder.add(kind, fields, id_=f"{letter}{self._at}", line=self._at, timestamp=self._session, parent=parent)

    def notes(self) -> list[str]:
        """Sentences about what the log leaves open."""
        notes = ["Files in the chat, the map of the repository and output that was shared were sent but are not in it."]
        if self._sessions > 1:
            notes.append(
                f"It holds {self._sessions:,} sessions; each is a branch of its own, and only its start is dated."
            )
        if self._cached:
            found = counted(self._cached, "response")
            notes.append(f"Whether the sent tokens of {found} include the cached ones is not stated.")
        return notes
