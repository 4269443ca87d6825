"""`python -m trireme`."""

from trireme.cli import main

main()
