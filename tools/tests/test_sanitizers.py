"""The environment of programs with a sanitizer."""

from __future__ import annotations

import pytest

from armci_tool import bazel, sanitizers


def test_a_plain_build_is_run_as_it_is() -> None:
    assert sanitizers.environment("opt", {}) == {}
    assert sanitizers.deadline_factor("opt") == 1.0


@pytest.mark.parametrize("mode", [mode for mode in bazel.MODES if mode != bazel.DEFAULT_MODE])
def test_each_sanitizer_has_its_options_and_more_time(mode: str) -> None:
    first = mode.split("-")[0].upper()
    assert f"{first}_OPTIONS" in sanitizers.environment(mode, {})
    assert sanitizers.deadline_factor(mode) > 1.0


def test_both_get_the_options_of_each() -> None:
    both = sanitizers.environment(sanitizers.BOTH, {})
    assert both == {**sanitizers.environment("asan", {}), **sanitizers.environment("ubsan", {})}


def test_what_the_caller_says_wins_option_by_option(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = sanitizers.environment("asan", {})
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=1")
    monkeypatch.setenv("HWLOC_COMPONENTS", "-x86")
    own = bazel.Configuration(mode="asan").environment()
    assert own == {**plain, "ASAN_OPTIONS": plain["ASAN_OPTIONS"] + ":detect_leaks=1", "HWLOC_COMPONENTS": "-x86"}
