"""Programs in plain C that show a failure of the conformance suite, made from a record of the calls of the test."""
