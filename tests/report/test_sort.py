from __future__ import annotations

import base64
import hashlib

from leafscar.report.sort import SCRIPT, SCRIPT_SOURCE


def test_the_policy_names_exactly_this_script():
    """The source is the digest of the text between the tags."""
    digest = hashlib.sha256(SCRIPT.encode()).digest()
    assert f"'sha256-{base64.b64encode(digest).decode()}'" == SCRIPT_SOURCE


def test_the_script_reaches_for_nothing():
    """It neither fetches nor writes markup nor stores, and cannot end its own element."""
    for word in ("fetch", "http", "innerHTML", "eval", "import", "storage", "cookie", "location", "</", "XMLHttp"):
        assert word not in SCRIPT.replace("document.createElement", "")
    assert SCRIPT.isascii()
    assert len(SCRIPT) < 2_000
