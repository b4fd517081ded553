"""Prices stay what they are."""

from teahouse.prices import price


def test_small_packets_cost_the_full_price() -> None:
    assert price("sencha", 100) == 8.90


def test_large_packets_are_cheaper() -> None:
    assert price("sencha", 200) == 17.00
