"""A run of the suite on a library, judged with what is known of the library: what every caller wants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Callable, Mapping

from armci_tool import bazel, conformance, known_failures, launch, traceability
from armci_tool.conformance import Selection, SuiteRun
from armci_tool.libraries import Library
from armci_tool.placement import Placement


def run(library: Library, binary: Path, configuration: bazel.Configuration, processes: int, selection: Selection, *,
        environment: Mapping[str, str] = {}, placement: Placement = Placement(),
        on_test: Callable[[str], None] = lambda name: None) -> SuiteRun:
    """`binary` is the library's suite, built in `configuration`."""
    made = conformance.run_suite(binary, library.name, configuration, processes, selection, environment=environment,
                                 placement=placement, on_test=on_test)
    made = replace(made, library_words=library.words(), settings=launch.user_settings())
    return known_failures.apply(made, traceability.parse_test_list(conformance.list_tests(binary)))
