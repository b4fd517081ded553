"""Dates, times and durations as ISO 8601 text, the same on every version of Python.

Nothing is rounded and nothing is guessed: text that Python cannot hold exactly is a `ValueError` that says what is
expected. Durations have days and smaller units only, because a month has no fixed length.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone

_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,30}))?)?(Z|z|[+-][0-9]{2}:[0-9]{2})?"
_NUMBER = r"([0-9]{1,15})"
# Compiled by `re` at first use and kept there: importing this module costs nothing.
_DATE_TIME = f"{_DATE}[Tt ]{_TIME}"
_DURATION = (
    rf"([+-])?P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}(?:\.([0-9]{{1,30}}))?S)?)?"
)

DATE_TIME = "a date and time like 2025-01-31T09:30:00Z"
DATE = "a date like 2025-01-31"
TIME = "a time like 09:30:00"
DURATION = "an ISO 8601 duration of weeks, days, hours, minutes and seconds like P1DT2H30M"


def read_datetime(text: str) -> datetime:
    """A date and time; without an offset from UTC it is naive."""
    match = re.fullmatch(_DATE_TIME, text)
    if match is None:
        raise ValueError(DATE_TIME)
    year, month, day, *clock = match.groups()
    moment = _clock(clock, DATE_TIME)
    try:
        return datetime.combine(date(int(year), int(month), int(day)), moment)
    except ValueError as error:
        raise ValueError(f"{DATE_TIME} ({error})") from None


def read_date(text: str) -> date:
    """A day."""
    match = re.fullmatch(_DATE, text)
    if match is None:
        raise ValueError(DATE)
    try:
        return date(*map(int, match.groups()))
    except ValueError as error:
        raise ValueError(f"{DATE} ({error})") from None


def read_time(text: str) -> time:
    """A time of day; without an offset from UTC it is naive."""
    match = re.fullmatch(_TIME, text)
    if match is None:
        raise ValueError(TIME)
    return _clock(match.groups(), TIME)


def read_timedelta(text: str) -> timedelta:
    """A duration."""
    match = re.fullmatch(_DURATION, text)
    if match is None or not any(match.groups()[1:]) or text.endswith("T"):
        raise ValueError(DURATION)
    sign, weeks, days, hours, minutes, seconds, fraction = match.groups()
    try:
        length = timedelta(
            weeks=int(weeks or 0),
            days=int(days or 0),
            hours=int(hours or 0),
            minutes=int(minutes or 0),
            seconds=int(seconds or 0),
            microseconds=_microseconds(fraction, DURATION),
        )
        return -length if sign == "-" else length
    except OverflowError:
        raise ValueError(f"{DURATION} of at most 999999999 days") from None


def write_timedelta(length: timedelta) -> str:
    """A duration as text that `read_timedelta` reads back exactly."""
    sign, length = ("-", -length) if length < timedelta(0) and length != timedelta.min else ("", length)
    if length == timedelta.min:
        # Its opposite is longer than the longest timedelta.
        return f"-P{-length.days}D"
    days = f"{length.days}D" if length.days else ""
    minutes, seconds = divmod(length.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{length.microseconds:06}".rstrip("0").rstrip(".") if length.microseconds else ""
    clock = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    if seconds or fraction:
        clock += f"{seconds}{fraction}S"
    return f"{sign}P{days}" + (f"T{clock}" if clock else "" if days else "T0S")


def _clock(parts: list[str | None] | tuple[str | None, ...], expected: str) -> time:
    hour, minute, second, fraction, offset = parts
    zone: timezone | None = None
    if offset in ("Z", "z"):
        zone = timezone.utc
    elif offset is not None:
        shift = timedelta(hours=int(offset[1:3]), minutes=int(offset[4:6]))
        if int(offset[4:6]) > 59 or shift >= timedelta(days=1):
            raise ValueError(f"{expected} (the offset {offset} does not exist)")
        zone = timezone(-shift if offset[0] == "-" else shift)
    microseconds = _microseconds(fraction, expected)
    try:
        return time(int(hour or 0), int(minute or 0), int(second or 0), microseconds, zone)
    except ValueError as error:
        raise ValueError(f"{expected} ({error})") from None


def _microseconds(fraction: str | None, expected: str) -> int:
    digits = (fraction or "").rstrip("0")
    if len(digits) > 6:
        raise ValueError(f"{expected} with at most 6 digits of a second")
    return int(digits.ljust(6, "0"))
