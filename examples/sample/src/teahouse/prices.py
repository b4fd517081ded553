"""What tea costs."""

# Euro for 100 grams.
PRICES = {"assam": 5.00, "darjeeling": 7.50, "earl grey": 6.20, "oolong": 18.80, "rooibos": 3.77, "sencha": 8.90}

DISCOUNT_FROM_GRAMS = 200
DISCOUNT = 0.045


def price(tea: str, grams: int) -> float:
    """The price of a tea, with the discount for large packets."""
    full = PRICES[tea] * grams / 100
    return round(full * (1 - DISCOUNT) if grams >= DISCOUNT_FROM_GRAMS else full, 2)
