"""The `cheliped` command, as pip installs it."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command with the arguments of this process and gives its exit code."""
    from . import _native

    # The command handles Ctrl-C itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["cheliped", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
