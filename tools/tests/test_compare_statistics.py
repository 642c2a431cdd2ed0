"""Statistics of samples: known answers, and noise as machines have it."""

from __future__ import annotations

import math
import random
from statistics import median
from typing import Any, Mapping, Sequence

import numpy
import pytest
from armci_tool.compare import statistics
from pandas import DataFrame  # type: ignore[import]

ROUNDS, SAMPLES, CELLS = 5, 15, 200


def logs(*cells: Mapping[int, float]) -> DataFrame:
    return numpy.log(DataFrame(list(cells)))


def ratio(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Any:
    """The interval of a cell over another one."""
    [found] = statistics.intervals(logs(ours) - logs(theirs)).itertuples()
    return found


def apart(ours: Sequence[float], theirs: Sequence[float]) -> Any:
    """The same of two runs."""
    [found] = statistics.welch(logs(dict(enumerate(ours))), logs(dict(enumerate(theirs)))).itertuples()
    return found


def verdicts(ratios: Sequence[tuple[float, float]]) -> list[str]:
    return list(statistics.verdicts(DataFrame(ratios, columns=["ratio_low", "ratio_high"])))


def rounds(generator: random.Random, truth: float, of_round: float, of_sample: float) -> dict[int, float]:
    """Medians of rounds that each have a mood of their own."""
    made = {}
    for one in range(ROUNDS):
        mood = truth * generator.lognormvariate(0, of_round)
        made[one] = median(mood * generator.lognormvariate(0, of_sample) for _ in range(SAMPLES))
    return made


def test_the_ratio_is_the_mean_of_logarithms_with_students_interval() -> None:
    # Logarithms 0 and 1: mean 0.5, deviation sqrt(0.5), error 0.5; Student's t with one degree of freedom is 12.706.
    found = ratio({0: 1.0, 1: math.e}, {0: 1.0, 1: 1.0})
    assert math.log(found.ratio) == pytest.approx(0.5)
    assert math.log(found.ratio_high) == pytest.approx(0.5 + 12.7062 * 0.5, rel=1e-5)
    assert math.log(found.ratio_low) == pytest.approx(0.5 - 12.7062 * 0.5, rel=1e-5)


def test_only_rounds_that_both_have_are_compared() -> None:
    found = ratio({0: 10.0, 1: 20.0, 2: 30.0}, {1: 10.0, 2: 15.0, 3: 1.0})
    assert (found.ratio_low, found.ratio, found.ratio_high) == pytest.approx((2.0, 2.0, 2.0))
    nothing = ratio({0: 1.0}, {1: 1.0})
    assert math.isnan(nothing.ratio) and statistics.text(nothing) == "-"
    assert verdicts([(nothing.ratio_low, nothing.ratio_high)]) == [""]


def test_a_slow_moment_that_hits_both_is_not_in_the_ratio() -> None:
    ours, theirs = {0: 10.0, 1: 90.0, 2: 11.0}, {0: 20.0, 1: 180.0, 2: 22.0}
    assert ratio(ours, theirs).ratio_high < 0.51
    assert statistics.intervals(logs(ours)).ratio_high[0] > 90


def test_one_round_says_nothing_for_certain() -> None:
    found = ratio({0: 1.0}, {0: 3.0})
    assert verdicts([(found.ratio_low, found.ratio_high)]) == [statistics.UNCLEAR]
    assert statistics.as_json(found)["high"] is None and statistics.text(found) == "0.33 (?)"
    assert not statistics.bounded(DataFrame([found, apart([1.0], [3.0, 3.1])])).any()


def test_runs_apart_are_compared_by_welch() -> None:
    # Both deviations sqrt(0.5), errors 0.25 each: 2 degrees of freedom, Student's t 4.3027.
    found = apart([1.0, math.e], [1.0, math.e])
    assert math.log(found.ratio_high) == pytest.approx(4.30265 * math.sqrt(0.5), rel=1e-5)
    assert apart([2.0, 2.0], [1.0, 1.0])[1:] == (2.0, 2.0, 2.0)


@pytest.mark.parametrize("low, high, said", [
    (0.5, 0.9, "faster"), (1.1, 1.3, "slower"), (0.9, 1.1, "same"), (1.001, 1.019, "same"), (0.985, 0.99, "same"),
    (1.001, 1.03, "slower"), (0.97, 0.99, "faster"), (0.9, 1.3, "unclear"), (0.7, 1.1, "unclear")])
def test_the_interval_gives_the_verdict(low: float, high: float, said: str) -> None:
    assert verdicts([(low, high)]) == [said]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("of_round, of_sample", [(0.02, 0.05), (0.1, 0.1), (0.3, 0.5)])
def test_two_runs_of_the_same_agree(seed: int, of_round: float, of_sample: float) -> None:
    generator = random.Random(seed)
    first, second = (statistics.intervals(logs(*(rounds(generator, 100.0, of_round, of_sample) for _ in range(CELLS))))
                     for _ in range(2))
    agreed = (first.ratio_low <= second.ratio_high) & (second.ratio_low <= first.ratio_high)
    assert agreed.sum() >= 0.95 * CELLS


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("of_round, of_sample", [(0.02, 0.05), (0.07, 0.1)])
def test_thirty_percent_are_found(seed: int, of_round: float, of_sample: float) -> None:
    generator = random.Random(seed)
    slow, fast = (logs(*(rounds(generator, truth, of_round, of_sample) for _ in range(CELLS)))
                  for truth in (130.0, 100.0))
    assert list(statistics.verdicts(statistics.intervals(slow - fast))).count(statistics.SLOWER) >= 0.95 * CELLS


@pytest.mark.parametrize("seed", range(4))
def test_where_there_is_no_difference_seldom_one_is_said(seed: int) -> None:
    generator = random.Random(seed)
    ours, theirs = (logs(*(rounds(generator, 100.0, 0.1, 0.1) for _ in range(CELLS))) for _ in range(2))
    said = list(statistics.verdicts(statistics.intervals(ours - theirs)))
    assert said.count("faster") + said.count("slower") <= 0.1 * CELLS
