"""Paths for tests: calls with their answers, messages, cuts."""

from leafscar.hindsight import later_uses, losses

LINES = "".join(f"{number:4}\tvalue number {number}\n" for number in range(1, 101))


class Path:
    """A path of calls and their results, whose ids are r0, r1 and so on."""

    def __init__(self):
        self.entries = []
        self.count = 0

    def put(self, message, **more):
        """Add a message entry."""
        self.entries.append({"type": "message", "id": f"e{len(self.entries)}", "message": message, **more})
        return len(self.entries) - 1

    def call(self, *calls, text=LINES, error=False):
        """Add one response with ``(name, arguments)`` calls and the results; gives the position of the response."""
        ids = [f"c{self.count + number}" for number in range(len(calls))]
        parts = [
            {"type": "toolCall", "id": id_, "name": name, "arguments": arguments}
            for id_, (name, arguments) in zip(ids, calls, strict=True)
        ]
        at = self.put({"role": "assistant", "content": parts})
        for id_, (name, _) in zip(ids, calls, strict=True):
            content = [{"type": "text", "text": text}] if text is not None else [{"type": "image", "data": "x"}]
            result = {"role": "toolResult", "toolCallId": id_, "toolName": name, "content": content, "isError": error}
            self.put(result)
            self.entries[-1]["id"] = f"r{self.count}"
            self.count += 1
        return at

    def read(self, path="a.py", text=LINES, error=False, **more):
        """Add a read."""
        return self.call(("read", {"path": path, **more}), text=text, error=error)

    def edit(self, old="value number 7", path="a.py", **more):
        """Add an edit."""
        return self.call(("edit", {"path": path, "oldText": old, "newText": "x"}), text="done", **more)

    def run(self, command="make", text="ok, built\n", **more):
        """Add a shell command."""
        return self.call(("bash", {"command": command}), text=text, **more)

    def uses(self, **more):
        """Later uses as ``{id: [(position, kind)]}``, without those that nothing needed."""
        found = later_uses(self.entries, **more)
        return {id_: [(use.position, use.kind) for use in uses] for id_, uses in found.items() if uses}

    def user(self, text):
        """Add a message of the user."""
        return self.put({"role": "user", "content": text})

    def cut(self, summary="Goal: go on", keep=None, **more):
        """Add a cut that keeps the entries from the one at ``keep`` on, or none."""
        at = len(self.entries)
        first = f"k{at}" if keep is None else self.entries[keep]["id"]
        self.entries.append(
            {"type": "compaction", "id": f"k{at}", "summary": summary, "firstKeptEntryId": first, **more}
        )
        return at

    def lost(self, number=0, **more):
        """What the cut of that number took."""
        return losses(self.entries, **more)[number].lost
