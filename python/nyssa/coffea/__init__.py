"""Makes NanoEvents and processors of coffea whose columns are read by nyssa.

>>> from nyssa import coffea
>>> events = coffea.events("events.root:Events")
>>> jets = events.Jet[events.Jet.pt > 30]

`events` takes TTrees and RNTuples, local files and URLs, one or several. `Runner` is coffea's
``processor.Runner`` and takes all its executors; only files are opened and read by nyssa. This
module needs coffea (``pip install coffea``).
"""

from __future__ import annotations

from nyssa.errors import ArgumentError

try:
    import coffea  # noqa: F401
except ImportError as error:
    raise ArgumentError(f"nyssa.coffea needs coffea (pip install coffea): {error}") from None

from nyssa.coffea.events import events, factory
from nyssa.coffea.mapping import SourceMapping
from nyssa.coffea.runner import Runner

__all__ = ["Runner", "SourceMapping", "events", "factory"]
