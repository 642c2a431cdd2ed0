"""The `armci` command: sets up, builds, runs, tests and measures the repository."""
