"""The one script of the page: sorting a table by a column (docs/adr/0090-sorting-is-extra.md).

It adds buttons to the heads of tables and moves rows. It reads nothing but the printed cells and asks for nothing;
without it the page lacks only the buttons. The content security policy allows exactly this text.
"""

from __future__ import annotations

import base64
import hashlib

__all__ = ["SCRIPT", "SCRIPT_SOURCE"]

SCRIPT = r"""
document.querySelectorAll("table.sortable").forEach(table => {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const size = {k: 1e3, M: 1e6};
  const value = row => at => {
    const text = row.cells[at].textContent.trim();
    const found = /^[~<]?([+\u2212-]?)\$?([\d,]+(?:\.\d+)?)([kM]?)/.exec(text);
    if (!found) return [1, text.toLowerCase()];
    const sign = /[\u2212-]/.test(found[1]) ? -1 : 1;
    return [0, sign * found[2].replace(/,/g, "") * (size[found[3]] || 1)];
  };
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  heads.forEach((head, at) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending"
        : head.classList.contains("num");
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      const rows = [...body.rows].map(row => [value(row)(at), row]);
      rows.sort(([a], [b]) => a[0] - b[0] || (falls ? -1 : 1) * compare(a[1], b[1]));
      body.append(...rows.map(([, row]) => row));
    });
  });
});
"""
"""Words sort after numbers, whichever way the numbers go."""

SCRIPT_SOURCE = "'sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode() + "'"
"""What the content security policy allows."""
