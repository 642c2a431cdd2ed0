"""What samples say: known answers, and noise as machines have it."""

from __future__ import annotations

import math
import random
from statistics import median

import pytest
from armci_tool.compare import statistics
from armci_tool.compare.statistics import Interval

ROUNDS, SAMPLES, CELLS = 5, 15, 200


def rounds(generator: random.Random, truth: float, of_round: float, of_sample: float) -> dict[int, float]:
    """Medians of rounds that each have a mood of their own."""
    made = {}
    for one in range(ROUNDS):
        mood = truth * generator.lognormvariate(0, of_round)
        made[one] = median(mood * generator.lognormvariate(0, of_sample) for _ in range(SAMPLES))
    return made


def test_the_ratio_is_the_mean_of_logarithms_with_students_interval() -> None:
    # Logarithms 0 and 1: mean 0.5, deviation sqrt(0.5), error 0.5; Student's t with one degree of freedom is 12.706.
    found = statistics.ratio({0: 1.0, 1: math.e}, {0: 1.0, 1: 1.0})
    assert found is not None
    assert math.log(found.middle) == pytest.approx(0.5)
    assert math.log(found.high) == pytest.approx(0.5 + 12.7062 * 0.5, rel=1e-5)
    assert math.log(found.low) == pytest.approx(0.5 - 12.7062 * 0.5, rel=1e-5)


def test_only_rounds_that_both_have_are_compared() -> None:
    found = statistics.ratio({0: 10.0, 1: 20.0, 2: 30.0}, {1: 10.0, 2: 15.0, 3: 1.0})
    assert found is not None and found.middle == pytest.approx(2.0)
    assert found.low == pytest.approx(2.0) and found.high == pytest.approx(2.0)
    assert statistics.ratio({0: 1.0}, {1: 1.0}) is None


def test_a_slow_moment_that_hits_both_is_not_in_the_ratio() -> None:
    ours, theirs = {0: 10.0, 1: 90.0, 2: 11.0}, {0: 20.0, 1: 180.0, 2: 22.0}
    found = statistics.ratio(ours, theirs)
    assert found is not None and found.high < 0.51
    assert statistics.level(list(ours.values())).high > 90


def test_one_round_says_nothing_for_certain() -> None:
    found = statistics.ratio({0: 1.0}, {0: 3.0})
    assert found is not None and not found.bounded
    assert statistics.verdict(found) == statistics.UNCLEAR
    assert found.as_json()["high"] is None
    assert not statistics.ratio_apart([1.0], [3.0, 3.1]).bounded


def test_runs_apart_are_compared_by_welch() -> None:
    # Both deviations sqrt(0.5), errors 0.25 each: 2 degrees of freedom, Student's t 4.3027.
    found = statistics.ratio_apart([1.0, math.e], [1.0, math.e])
    assert math.log(found.high) == pytest.approx(4.30265 * math.sqrt(0.5), rel=1e-5)
    assert statistics.ratio_apart([2.0, 2.0], [1.0, 1.0]) == Interval(2.0, 2.0, 2.0)


@pytest.mark.parametrize("low, high, said", [
    (0.5, 0.9, "faster"), (1.1, 1.3, "slower"), (0.9, 1.1, "same"), (1.001, 1.019, "same"), (0.985, 0.99, "same"),
    (1.001, 1.03, "slower"), (0.97, 0.99, "faster"), (0.9, 1.3, "unclear"), (0.7, 1.1, "unclear")])
def test_the_interval_gives_the_verdict(low: float, high: float, said: str) -> None:
    assert statistics.verdict(Interval(low, math.sqrt(low * high), high)) == said


def test_the_99th_percentile_and_the_spread() -> None:
    samples = [float(one) for one in range(1, 102)]
    assert statistics.percentile_99(samples) == pytest.approx(100.0)
    assert statistics.spread(samples) == pytest.approx(80 / 51)
    assert statistics.percentile_99([7.0]) == 7.0 and statistics.spread([7.0]) == 0.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("of_round, of_sample", [(0.02, 0.05), (0.1, 0.1), (0.3, 0.5)])
def test_two_runs_of_the_same_agree(seed: int, of_round: float, of_sample: float) -> None:
    generator = random.Random(seed)
    agreed = 0
    for _ in range(CELLS):
        first, second = (list(rounds(generator, 100.0, of_round, of_sample).values()) for _ in range(2))
        agreed += statistics.level(first).overlaps(statistics.level(second))
    assert agreed >= 0.95 * CELLS


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("of_round, of_sample", [(0.02, 0.05), (0.07, 0.1)])
def test_thirty_percent_are_found(seed: int, of_round: float, of_sample: float) -> None:
    generator = random.Random(seed)
    found = 0
    for _ in range(CELLS):
        ratio = statistics.ratio(rounds(generator, 130.0, of_round, of_sample), rounds(generator, 100.0, of_round, of_sample))
        assert ratio is not None
        found += statistics.verdict(ratio) == statistics.SLOWER
    assert found >= 0.95 * CELLS


@pytest.mark.parametrize("seed", range(4))
def test_where_there_is_no_difference_seldom_one_is_said(seed: int) -> None:
    generator = random.Random(seed)
    pairs = [(rounds(generator, 100.0, 0.1, 0.1), rounds(generator, 100.0, 0.1, 0.1)) for _ in range(CELLS)]
    said = [statistics.verdict(found) for ours, theirs in pairs if (found := statistics.ratio(ours, theirs))]
    assert said.count("faster") + said.count("slower") <= 0.1 * CELLS
