"""`python -m trireme`."""

from trireme.cli.app import main

main()
