"""Arguments in, one library call, exit code out."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, and exit with its code.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing chosen (``discover``), 130
    interrupted.
    """
    try:
        # Imported here, so that Ctrl-C during the import ends without a traceback too.
        from ._app import run
    except KeyboardInterrupt:
        sys.stderr.write("unbraid: Interrupted.\n")
        raise SystemExit(130) from None
    run()
