"""The samples of the analysis: processes, cross sections, and the files of each."""

from __future__ import annotations

import json
import posixpath
from pathlib import Path
from typing import NamedTuple

#: Integrated luminosity of 2015 in 1/pb.
LUMINOSITY = 3378
#: Cross sections in pb, as all implementations of the AGC have them.
CROSS_SECTIONS = {
    "ttbar": 396.87 + 332.97,
    "single_top_s_chan": 2.0268 + 1.2676,
    "single_top_t_chan": (36.993 + 22.175) / 0.252,
    "single_top_tW": 37.936 + 37.906,
    "wjets": 61457 * 0.252,
}
#: The nine samples: each process, and how its events were simulated.
SAMPLES = [
    ("ttbar", "nominal"),
    ("ttbar", "scaledown"),
    ("ttbar", "scaleup"),
    ("ttbar", "ME_var"),
    ("ttbar", "PS_var"),
    ("single_top_s_chan", "nominal"),
    ("single_top_t_chan", "nominal"),
    ("single_top_tW", "nominal"),
    ("wjets", "nominal"),
]
#: What the URLs in the AGC's list of files begin with.
AGC_PREFIX = "https://xrootd-local.unl.edu:1094//store/user/AGC"


class Sample(NamedTuple):
    """One of the nine samples."""

    process: str
    variation: str
    files: list[str]
    """Paths or URLs, with the name of the tree: ``a.root:Events``."""
    events: int
    """The number of events in the files."""

    @property
    def nominal(self) -> bool:
        """Whether the systematic variations are computed from this sample."""
        return self.variation == "nominal"

    @property
    def weight(self) -> float:
        """Return the weight of each event, which scales the sample to the luminosity."""
        return CROSS_SECTIONS[self.process] * LUMINOSITY / self.events


def read_samples(
    inputs: Path,
    prefix: str | None = None,
    max_files: int | None = None,
    converted: str | None = None,
) -> list[Sample]:
    """Read a list of files in the AGC's form (``nanoaod_inputs.json``).

    Parameters
    ----------
    inputs
        The JSON file. Paths in it are relative to its folder.
    prefix
        Folder or URL where the files are instead. It replaces the folder of the JSON file or
        `AGC_PREFIX`.
    max_files
        Largest number of files of each sample.
    converted
        Folder or URL where ``nyssa campaign convert`` has written the files of the list.
    """

    def url(path: str, sample: str) -> str:
        if converted:
            path = posixpath.join(converted, sample, posixpath.basename(path))
        elif prefix:
            path = posixpath.join(prefix, path.removeprefix(AGC_PREFIX).lstrip("/"))
        elif "://" not in path:
            path = posixpath.join(str(inputs.parent), path)
        return f"{path}:Events"

    samples = []
    try:
        for process, variations in json.loads(inputs.read_text()).items():
            if process == "data":
                continue
            for variation, found in variations.items():
                files = found["files"][:max_files]
                urls = [url(one["path"], f"{process}__{variation}") for one in files]
                samples.append(Sample(process, variation, urls, sum(one["nevts"] for one in files)))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise OSError(f"{inputs} is not a list of files like that of the AGC: {error!r}") from None
    return samples
