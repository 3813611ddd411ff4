"""The command line: one module for each command, put together in `ackclock.cli.app`.

Modules here import little at the top, so that `ackclock --help` answers at once; what a command
needs is imported when it runs.
"""
