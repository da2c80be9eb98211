"""Finds the texts about their parts that awkward arrays and types have as ``__doc__``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import awkward as ak

__all__ = ["of"]


def of(data: Any) -> dict[str, str]:
    """Return the texts by the paths of fields of an RNTuple; of the whole array by ``""``."""
    if isinstance(data, Mapping):
        parts = {name: part for name, item in data.items() if (part := _form(item)) is not None}
        return dict(text for name, part in parts.items() for text in _texts(part, str(name)))
    form = _form(data)
    return {} if form is None else dict(_texts(form, ""))


def _form(data: Any) -> Any:
    """Return the form or the type of awkward data; `None` for all other data."""
    if isinstance(data, ak.Array):
        return data.layout.form
    if isinstance(data, (ak.contents.Content, ak.types.ArrayType)):
        return data.form if isinstance(data, ak.contents.Content) else data.content
    return data if isinstance(data, (ak.forms.Form, ak.types.Type)) else None


def _texts(form: Any, path: str) -> Iterator[tuple[str, str]]:
    text = form.parameters.get("__doc__")
    if isinstance(text, str):
        yield path, text
    if form.parameters.get("__array__") in ("string", "bytestring"):
        return
    if hasattr(form, "contents"):
        named = isinstance(form, (ak.forms.RecordForm, ak.types.RecordType)) and not form.is_tuple
        names = form.fields if named else [f"_{at}" for at in range(len(form.contents))]
        for name, part in zip(names, form.contents, strict=True):
            yield from _texts(part, f"{path}.{name}" if path else name)
    elif hasattr(form, "content"):
        indexed = isinstance(form, ak.forms.IndexedForm) or not path
        yield from _texts(form.content, path if indexed else f"{path}._0")
