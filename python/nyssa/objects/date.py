"""Decodes ``TDatime``: dates in 32 bits."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Datime", "dates"]

#: Lowest bit and number of bits of the years since 1995, months, days, hours, minutes and seconds.
_FIELDS = ((26, 6), (22, 4), (17, 5), (12, 5), (6, 6), (0, 6))


class Datime(datetime):
    """A ``TDatime``, by the writer's clock: a `datetime` that also has uproot's `to_datetime`."""

    def to_datetime(self) -> datetime:
        """Return the plain `datetime`."""
        return datetime(*self.timetuple()[:6])  # It has no time zone.


def dates(packed: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return ``TDatime`` numbers as ``datetime64[s]``; a number that is no date is ``NaT``."""
    numbers = np.asarray(packed, dtype=np.int64)
    year, month, day, hour, minute, second = (
        (numbers >> low) & ((1 << bits) - 1) for low, bits in _FIELDS
    )
    months = (year + 25) * 12 + month - 1
    start = months.astype("datetime64[M]").astype("datetime64[D]")
    length = (months + 1).astype("datetime64[M]").astype("datetime64[D]") - start
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (day <= length.astype(np.int64))
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    seconds = ((day - 1) * 24 + hour) * 3600 + minute * 60 + second
    times = start.astype("datetime64[s]") + seconds.astype("timedelta64[s]")
    return np.where(valid, times, np.datetime64("NaT", "s"))
