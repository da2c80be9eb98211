"""Translates filters of pyarrow, such as DuckDB makes them, into cuts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nyssa.pushdown.condition import (
    ANY,
    Condition,
    Kind,
    column_cut,
    compare,
    is_any_of,
    is_nan,
    truth,
)

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

__all__ = ["cut_of"]

_NAME = re.compile(r"[A-Za-z_][\w.:/]*")
_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?![\w.])'
    r"|(?P<sign><=|>=|==|!=|<|>|[(){}\[\],=])|(?P<name>[A-Za-z_][\w.:/]*))"
)
_SIGNS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_DEEPEST = 40
"""The depth of a filter below which it has no translation."""


class _UnknownError(Exception):
    """A filter has a form that this module does not know."""


def cut_of(expression: pc.Expression, schema: pa.Schema) -> str | None:
    """Return the cut that a filter needs; `None` if nothing of it can be a cut."""
    text = str(expression)
    # The text has names without quotes.
    if any(_NAME.fullmatch(name) is None and name in text for name in schema.names):
        return None
    try:
        return _Parser(text, schema).whole().true
    except (_UnknownError, ValueError):
        return None


class _Parser:
    """Parses the text of a filter. Operators have brackets around them: ``(a > 3)``."""

    def __init__(self, text: str, schema: pa.Schema) -> None:
        self._kinds = {field.name: _kind(field.type) for field in schema}
        self._tokens: list[tuple[str, str]] = []
        self._next = 0
        self._depth = 0
        at = 0
        while at < len(text.rstrip()):
            token = _TOKEN.match(text, at)
            if token is None:
                raise _UnknownError
            at = token.end()
            kind = token.lastgroup or ""
            self._tokens.append((kind, token[kind]))
        self._tokens.append(("end", ""))

    def whole(self) -> Condition:
        condition = self._condition(self._operand())
        self._expect("")
        return condition

    def _take(self) -> tuple[str, str]:
        token = self._tokens[min(self._next, len(self._tokens) - 1)]
        self._next += 1
        return token

    def _peek(self) -> str:
        return self._tokens[min(self._next, len(self._tokens) - 1)][1]

    def _expect(self, text: str) -> None:
        if self._take()[1] != text:
            raise _UnknownError

    def _operand(self) -> object:
        """Return a condition, the name of a column, a number, or `None` for another value."""
        kind, text = self._take()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnknownError
        operand: object = None
        if text == "(" and kind == "sign":
            operand = self._operation()
        elif kind == "number":
            operand = int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        elif kind == "name" and self._peek() == "(":
            operand = self._call(text)
        elif kind == "name" and text in self._kinds:
            operand = text
        elif kind == "name" and self._peek() == "[":
            self._skip("[", "]")  # null[bool]
        elif kind not in ("text", "name"):
            raise _UnknownError
        self._depth -= 1
        return operand

    def _operation(self) -> Condition:
        left = self._operand()
        sign = self._take()[1]
        right = self._operand()
        self._expect(")")
        if sign == "and":
            return self._condition(left) & self._condition(right)
        if sign == "or":
            return self._condition(left) | self._condition(right)
        if sign not in _SIGNS:
            return ANY
        if column := self._column(left):
            return compare(*column, sign, right)
        column = self._column(right)
        return compare(*column, sign, left, mirrored=True) if column else ANY

    def _call(self, name: str) -> Condition:
        self._expect("(")
        if name == "is_in":
            return self._is_in()
        arguments = [self._operand()]
        while self._peek() == ",":
            self._take()
            if self._peek() == "{":
                self._skip("{", "}")
            else:
                arguments.append(self._operand())
        self._expect(")")
        if name == "invert":
            return ~self._condition(arguments[0])
        if name == "is_nan" and (column := self._column(arguments[0])):
            return is_nan(column[0]) if column[1] in ("float32", "float64") else ANY
        if name == "if_else" and len(arguments) == 3 and arguments[2] is None:
            # The condition where it has a value, and null elsewhere.
            return self._condition(arguments[1])
        return ANY

    def _is_in(self) -> Condition:
        """Return the condition of ``x, {value_set=int64:[1, 2], ...})``."""
        column = self._column(self._operand())
        for text in (",", "{", "value_set", "="):
            self._expect(text)
        if not self._take()[1].endswith(":"):
            raise _UnknownError
        self._expect("[")
        values: list[object] = []
        while self._peek() != "]":
            values.append(self._operand())
            if self._peek() == ",":
                self._take()
        self._expect("]")
        while self._take()[1] not in ("}", ""):
            pass
        self._expect(")")
        return is_any_of(*column, values) if column else ANY

    def _skip(self, opening: str, closing: str) -> None:
        """Skip a value in brackets."""
        depth = 0
        while True:
            kind, text = self._take()
            if kind == "end":
                raise _UnknownError
            depth += (text == opening) - (text == closing)
            if depth == 0:
                return

    def _column(self, operand: object) -> tuple[str, Kind] | None:
        kind = self._kinds.get(operand) if isinstance(operand, str) else None
        cut = column_cut(operand) if isinstance(operand, str) and kind else None
        return None if kind is None or cut is None else (cut, kind)

    def _condition(self, operand: object) -> Condition:
        if isinstance(operand, Condition):
            return operand
        column = self._column(operand)
        return truth(column[0]) if column and column[1] == "bool" else ANY


def _kind(data_type: pa.DataType) -> Kind | None:
    import pyarrow as pa

    if pa.types.is_integer(data_type):
        return "integer"
    kinds: dict[str, Kind] = {"float": "float32", "double": "float64", "bool": "bool"}
    return kinds.get(str(data_type))
