"""Gives coffea the forms and the buffers of datasets, column by column."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import awkward as ak
import numpy as np
from coffea.nanoevents.mapping.base import BaseSourceMapping
from coffea.nanoevents.util import quote

from nyssa.read.column import Column
from nyssa.read.dataset import Dataset
from nyssa.uproot.values import typename

__all__ = ["SourceMapping"]


class SourceMapping(BaseSourceMapping):  # type: ignore[misc]
    """Maps keys to buffers of NanoEvents, which are read from a dataset when they are needed.

    The parameters of coffea's ``BaseSourceMapping``, and:

    preloaded
        Arrays of columns that were read before, by their names.
    threads
        As in `Dataset.arrays`.
    """

    def __init__(
        self,
        *args: Any,
        preloaded: dict[str, ak.Array] | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._threads = threads
        self._preloaded = preloaded or {}
        # A column with several buffers is read once: its array, and how many buffers follow.
        self._kept: dict[str, tuple[ak.Array, int]] = {}

    def key_root(self) -> str:
        """Return the beginning of the keys of this kind of mapping."""
        return "NyssaSourceMapping:"

    @classmethod
    def _extract_base_form(cls, source: Dataset, *, dots: bool = False) -> dict[str, Any]:
        """Return what the schemas of coffea take: the form of all columns, with keys of buffers.

        With `dots`, colons in names are dots, and records without any member are left out.
        """
        form = source.form(skip_unreadable=True)
        titles, types = _described(source)
        fields, contents, typenames = [], [], {}
        for name in form.fields:
            if "," in name or "!" in name:
                warnings.warn(f"coffea does not allow the name {name}: left out", stacklevel=2)
                continue
            if dots and is_empty(form.content(name)):
                continue
            shown = name.replace(":", ".") if dots else name
            described = {"__doc__": titles[name], "typename": types[name]}
            try:
                content = _with_keys(form.content(name), f"{shown},!load", described)
            except NotImplementedError as error:
                warnings.warn(f"coffea cannot hold {name}, {error}: left out", stacklevel=2)
                continue
            fields.append(shown)
            contents.append(content)
            typenames[shown] = types[name]
        return {
            "class": "RecordArray",
            "fields": fields,
            "contents": contents,
            "parameters": {"__doc__": source.title},
            "form_key": None,
            "typenames": typenames,
        }

    def get_column_handle(self, columnsource: Dataset, name: str, allow_missing: bool) -> Any:
        """Return a column, or `None` if it may be missing."""
        if name not in columnsource and (colons := name.replace(".", ":")) in columnsource:
            name = colons
        if allow_missing and name not in columnsource:
            return None
        return columnsource[name]

    def extract_column(
        self,
        columnhandle: Column | None,
        start: int,
        stop: int,
        allow_missing: bool,
        **_: Any,
    ) -> Any:
        """Return the values of a column from entry `start` to `stop`."""
        if columnhandle is None:
            missing = ak.index.Index64(np.full(stop - start, -1, dtype=np.int64))
            nothing = ak.contents.NumpyArray(np.array([], dtype=bool))
            return ak.contents.IndexedOptionArray(missing, nothing)
        array = self._read(columnhandle, start, stop)
        if allow_missing:
            index = ak.index.Index64(np.arange(stop - start, dtype=np.int64))
            return ak.Array(ak.contents.IndexedOptionArray(index, array.layout))
        return array

    def _read(self, column: Column, start: int, stop: int) -> ak.Array:
        name = column.name
        if name in self._preloaded:
            return self._preloaded[name]
        array, follow = self._kept.pop(name, (None, 0))
        if array is None:
            array = column.array(entry_start=start, entry_stop=stop, threads=self._threads)
            if isinstance(array.layout, ak.contents.ListOffsetArray):
                array = ak.Array(array.layout.to_ListOffsetArray64(True))
            follow = len(array.layout.form.expected_from_buffers())
        if follow > 1:
            self._kept[name] = array, follow - 1
        return array

    def __len__(self) -> int:
        return int(self._stop - self._start)

    def __iter__(self) -> Any:
        raise NotImplementedError("buffers are requested by their keys, and not listed")


def _described(source: Dataset) -> tuple[dict[str, str], dict[str, str]]:
    """Return the title of each column, and its type as uproot names it."""
    names = source.keys()
    types = {name: typename(cpp) for name, cpp in source.typenames().items()}
    return {name: source[name].title for name in names}, types


def is_empty(form: ak.forms.Form) -> bool:
    """Return whether a form has no values: a record without members, or with such members alone."""
    if isinstance(form, ak.forms.RecordForm):
        return all(is_empty(content) for content in form.contents)
    return isinstance(form, ak.forms.ListForm | ak.forms.ListOffsetForm) and is_empty(form.content)


def _with_keys(
    form: ak.forms.Form, prefix: str, described: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a form as a dict, with the keys by which coffea requests the buffers.

    What describes the column is a parameter of its items, as in coffea.
    """
    known = json.loads(form.to_json())
    parameters = {
        name: value
        for name, value in (known.get("parameters") or {}).items()
        if name == "__array__"
    }
    named: dict[str, Any] = {"class": known["class"], "parameters": parameters}
    if not isinstance(form, ak.forms.ListOffsetForm):
        parameters |= described or {}
    if isinstance(form, ak.forms.NumpyForm):
        named.update(primitive=known["primitive"], inner_shape=[], form_key=quote(prefix))
    elif isinstance(form, ak.forms.ListOffsetForm):
        content = _with_keys(form.content, f"{prefix},!content", described)
        named.update(offsets="i64", content=content, form_key=quote(prefix))
    elif isinstance(form, ak.forms.RegularForm):
        content = _with_keys(form.content, f"{prefix},!content", described)
        named.update(size=form.size, content=content)
    elif isinstance(form, ak.forms.RecordForm) and not form.is_tuple:
        members = dict(_members(form, prefix))
        named.update(fields=list(members), contents=list(members.values()))
    else:
        raise NotImplementedError(f"which has a {known['class']}")
    return named


def _members(form: ak.forms.RecordForm, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over the members of a record. Those of base classes are among them, as in uproot."""
    for name in form.fields:
        content, key = form.content(name), f"{prefix},{name},!item"
        if name.startswith(":_") and isinstance(content, ak.forms.RecordForm):
            yield from _members(content, key)
        else:
            yield name, _with_keys(content, key)
