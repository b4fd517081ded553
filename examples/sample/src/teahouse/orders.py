"""Taking orders and writing them down."""

import csv
from dataclasses import dataclass

from .prices import price


@dataclass(frozen=True)
class Order:
    """An order that was taken."""

    id: int
    tea: str
    grams: int


def write_order(path: str, order: Order) -> None:
    """Adds an order to the file."""
    with open(path, "a", newline="") as file:
        csv.writer(file).writerow([order.id, order.tea, order.grams, price(order.tea, order.grams)])
