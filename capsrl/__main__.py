"""`python -m capsrl` is the `capsrl` command."""

from capsrl.cli import main

main()
