"""Applications of other people, built from source on the installed library: see docs/applications.md."""
