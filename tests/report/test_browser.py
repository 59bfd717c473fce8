"""The page in a real browser."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.report.samples import a_long_session, a_policy, a_result, a_session

from leafscar.report import render_html
from leafscar.report.sort import SCRIPT_SOURCE

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-features=NetworkTimeServiceQuerying",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--enable-logging=stderr",
)  # fmt: skip

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on PATH"),
]


class Server:
    """Serves one page from memory and remembers what was asked for."""

    def __init__(self, page: str) -> None:
        asked = self.asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = page.encode() if self.path == "/" else b""
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *args):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def port(self):
        """Where it listens."""
        return self._server.server_address[1]


def shoot(server, folder, *flags):
    """Open the page; returns the picture and what the console said."""
    picture = folder / "page.png"
    run = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--screenshot={picture}", *flags,
         # every other host leads to the same server, which would remember it
         f"--host-resolver-rules=MAP * 127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port}/"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return picture.read_bytes(), [line for line in run.stderr.splitlines() if "CONSOLE" in line]


def marked(picture):
    """Share of the filtered bytes of a PNG that differ from their neighbours: 0 for a blank page."""
    at, data = 8, b""
    while at < len(picture):
        (size,) = struct.unpack(">I", picture[at : at + 4])
        if picture[at + 4 : at + 8] == b"IDAT":
            data += picture[at + 8 : at + 8 + size]
        at += size + 12
    raw = zlib.decompress(data)
    return sum(byte != 0 for byte in raw) / len(raw)


@pytest.mark.parametrize(("scheme", "width"), [(1, 1180), (0, 420)], ids=["light-wide", "dark-narrow"])
def test_the_page_shows_and_asks_for_nothing(tmp_path, scheme, width):
    """The page is not blank, the console stays silent, and the only request is the one for the page itself."""
    hostile = a_session([a_policy("</svg><script>console.error('acted')</script>")], path="<img src='/spy'>")
    with Server(render_html(a_result(a_long_session(250), hostile))) as server:
        picture, said = shoot(
            server, tmp_path, f"--window-size={width},1600", f"--blink-settings=preferredColorScheme={scheme}"
        )
    assert said == []
    assert server.asked == ["/"]
    assert marked(picture) > 0.01


def built(server, folder, *flags):
    """The document as it stands after its scripts ran, and what the console said."""
    run = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", *flags,
         f"--host-resolver-rules=MAP * 127.0.0.1:{server.port}", f"http://127.0.0.1:{server.port}/"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


def names(document, label):
    """Heads of the rows of one table, in order."""
    table = document.partition(f'aria-label="{label}"')[2].partition("</table>")[0]
    return re.findall(r'<th scope="row">([\w:-]+)', table.partition("<tbody>")[2])


def test_tables_sort_by_their_heads(tmp_path):
    """The script runs under its policy, adds a button to each head, and sorts numbers down, then up, words after."""
    policies = [a_policy("none"), a_policy("a", cost=900.0), a_policy("b", cost=12.5), a_policy("c", cost=1_000.0)]
    policies.append(a_policy("d", cost=None))
    page = render_html(a_result(a_session(policies)))
    with Server(page) as server:
        document, said = built(server, tmp_path)
    assert said == []
    assert (
        '<th scope="col" title="dollars of all requests and of the summariser"><button type="button">Cost' in document
    )
    assert names(document, "Policies compared") == ["none", "a", "b", "c", "d"]
    click = "document.querySelectorAll('.policies thead button')[1].click();"
    for clicks, order in ((1, ["none", "b", "a", "c", "d"]), (2, ["c", "a", "b", "none", "d"])):
        clicked = re.sub(r"<meta http-equiv[^>]*>", "", page).replace(
            "</body>", f"<script>{click * clicks}</script></body>"
        )
        with Server(clicked) as server:
            document, said = built(server, tmp_path)
        assert said == []
        assert names(document, "Policies compared") == order
        assert f'aria-sort="{"ascending" if clicks == 1 else "descending"}"' in document


def test_without_script_nothing_is_missing(tmp_path):
    """Where a browser runs no script, the page holds every table and every number, and no button."""
    page = render_html(a_result(a_long_session(30)))
    with Server(page.replace(SCRIPT_SOURCE, "'none'")) as server:
        document, _ = built(server, tmp_path)
    assert "<button" not in document
    assert names(document, "Policies compared") == names(page, "Policies compared") != []
    assert document.count("<tr>") == page.count("<tr>")
