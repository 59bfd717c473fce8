"""``python -m leafscar``: the command."""

from __future__ import annotations

from leafscar.cli import main

if __name__ == "__main__":
    main(prog_name="leafscar")
