"""Run the command line: `python -m capsrl`."""

from capsrl.cli import main

main()
