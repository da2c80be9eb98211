"""C++ types with two values each, in C++ and in Python: the rows of tables/types.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Type:
    """A C++ type: two C++ expressions of its values, and the same values in Python."""

    cpp: str
    literals: tuple[str, str]
    values: tuple[Any, Any]
    equal: str = "({0}) == ({1})"
    """C++ code that compares a value read with an expected one."""

    assigned: str = "{}"
    """C++ code that assigns a value to a field."""


FUNDAMENTAL = [
    Type("bool", ("true", "false"), (True, False)),
    Type("char", ("'a'", "'~'"), (97, 126)),
    Type("std::byte", ("std::byte{7}", "std::byte{255}"), (7, 255)),
    Type("std::int8_t", ("-128", "127"), (-128, 127)),
    Type("std::uint8_t", ("0", "255"), (0, 255)),
    Type("std::int16_t", ("-32768", "32767"), (-32768, 32767)),
    Type("std::uint16_t", ("1", "65535"), (1, 65535)),
    Type("std::int32_t", ("-2147483647", "7"), (-2147483647, 7)),
    Type("std::uint32_t", ("0", "4294967295u"), (0, 4294967295)),
    Type("std::int64_t", ("-9007199254740993ll", "5"), (-9007199254740993, 5)),
    Type(
        "std::uint64_t",
        ("18446744073709551615ull", "9223372036854775808ull"),
        (18446744073709551615, 9223372036854775808),
    ),
    Type(
        "float",
        ("0.1f", "-std::numeric_limits<float>::infinity()"),
        (0.10000000149011612, float("-inf")),
    ),
    Type("double", ("0.1", "-1e300"), (0.1, -1e300)),
]

MAP = "std::{}map<std::string,std::int32_t>"
SET = "std::{}set<std::int32_t>"

COMPOUND = [
    Type("std::string", ('"caf\\u00e9"', '""'), ("café", "")),
    Type("std::vector<float>", ("{1.5f, 2.5f}", "{}"), ([1.5, 2.5], [])),
    Type("std::vector<bool>", ("{true, false}", "{}"), ([True, False], [])),
    Type("std::vector<std::string>", ('{"a", "bc"}', '{""}'), (["a", "bc"], [""])),
    Type(
        "std::vector<std::vector<std::int32_t>>",
        ("{{1}, {}, {2, 3}}", "{}"),
        ([[1], [], [2, 3]], []),
    ),
    Type(
        "ROOT::VecOps::RVec<double>",
        ("{0.5, 1.5}", "{}"),
        ([0.5, 1.5], []),
        "std::equal({0}.begin(), {0}.end(), {1}.begin(), {1}.end())",
    ),
    Type("std::array<std::int16_t,3>", ("{1, 2, 3}", "{-1, 0, 1}"), ([1, 2, 3], [-1, 0, 1])),
    Type(
        "std::array<std::array<float,2>,2>",
        ("{{{{1, 2}}, {{3, 4}}}}", "{}"),
        ([[1, 2], [3, 4]], [[0, 0], [0, 0]]),
    ),
    Type(
        "std::bitset<10>",
        ("0b1000000011", "0"),
        ([True, True] + 7 * [False] + [True], 10 * [False]),
    ),
    Type("std::pair<std::int32_t,std::string>", ('{1, "x"}', '{-1, ""}'), ((1, "x"), (-1, ""))),
    Type(
        "std::tuple<std::int32_t,float,bool>",
        ("{1, 2.5f, true}", "{}"),
        ((1, 2.5, True), (0, 0.0, False)),
    ),
    Type("std::optional<float>", ("1.5f", "std::nullopt"), (1.5, None)),
    Type(
        "std::optional<std::vector<std::int32_t>>",
        ("std::vector<std::int32_t>{1, 2}", "std::nullopt"),
        ([1, 2], None),
    ),
    Type(
        "std::unique_ptr<std::int32_t>",
        ("std::make_unique<std::int32_t>(5)", "nullptr"),
        (5, None),
        "({0} ? *{0} : -1) == ({1} ? *{1} : -1)",
    ),
    Type("std::variant<std::int32_t,std::string>", ("1", '"one"'), (1, "one")),
    Type(
        "std::vector<std::variant<float,std::vector<std::int32_t>>>",
        ("{1.5f, std::vector<std::int32_t>{1, 2}}", "{}"),
        ([1.5, [1, 2]], []),
    ),
    *[
        Type(SET.format(kind), ("{3, 1, 2}", "{}"), ([1, 2, 3], []))
        for kind in ("", "unordered_", "multi", "unordered_multi")
    ],
    *[
        Type(MAP.format(kind), ('{{"a", 1}}', "{}"), ([("a", 1)], []))
        for kind in ("", "unordered_", "multi", "unordered_multi")
    ],
    Type(
        "std::atomic<std::int32_t>", ("3", "-3"), (3, -3), "{0}.load() == {1}.load()", "{}.load()"
    ),
]


@dataclass(frozen=True)
class Column:
    """A column type on storage, and a C++ type that can be stored in it."""

    name: str
    cpp: str
    literals: tuple[str, str]
    values: tuple[Any, Any]
    option: str = ""
    """The option for nyssa, if it is more than the name."""

    setup: str = ""
    """The setting of ROOT's field, if it is more than the type."""


REAL = (("1.5f", "-0.25f"), (1.5, -0.25))
WHOLE = (("100", "7"), (100, 7))
LIST = (("{1, 2}", "{}"), ([1, 2], []))

COLUMNS = [
    Column("Bit", "bool", ("true", "false"), (True, False)),
    Column("Byte", "std::byte", ("std::byte{9}", "std::byte{200}"), (9, 200)),
    Column("Char", "char", ("'a'", "'z'"), (97, 122)),
    Column("Int8", "std::int8_t", *WHOLE),
    Column("UInt8", "std::uint8_t", *WHOLE),
    *[
        Column(f"{split}{sign}Int{bits}", f"std::{sign.lower()}int{bits}_t", *WHOLE)
        for bits in (16, 32, 64)
        for sign in ("", "U")
        for split in ("", "Split")
    ],
    Column("Real16", "float", *REAL),
    *[Column(f"{split}Real32", "float", *REAL) for split in ("", "Split")],
    *[Column(f"{split}Real64", "double", *REAL) for split in ("", "Split")],
    Column("Real32Trunc", "float", *REAL, "Real32Trunc:16", "SetTruncated(16)"),
    Column(
        "Real32Quant",
        "float",
        ("-2.0f", "6.0f"),
        (-2.0, 6.0),
        "Real32Quant:8:-2:6",
        "SetQuantized(8, std::make_pair(-2.0, 6.0))",
    ),
    *[
        Column(f"{split}Index{bits}", "std::vector<std::int32_t>", *LIST)
        for bits in (32, 64)
        for split in ("", "Split")
    ],
    Column("Switch", "std::variant<std::int32_t,std::string>", ("3", '"x"'), (3, "x")),
]

TYPES = FUNDAMENTAL + COMPOUND
_ROOT = "RNTupleModel RNTupleReader RNTupleWriter RNTupleWriteOptions RField RVec RNTupleDescriptor"
#: ROOT reads collections other than vectors through dictionaries, which need these headers.
DICTIONARIES = [t.cpp for t in TYPES if "set<std::int32" in t.cpp or "map<" in t.cpp]
HEADERS = ["map", "set", "unordered_map", "unordered_set", "string"]


def code() -> str:
    """Return C++ that writes every type and column, and compares what it reads."""
    lines = [f"#include <ROOT/{header}.hxx>" for header in _ROOT.split()]
    lines += [f"#include <{header}>" for header in ("map", "set", "unordered_map")]
    lines += ["#include <unordered_set>", "namespace support {"]
    for k, row in enumerate([*TYPES, *COLUMNS]):
        lines.append(f"using T{k} = {row.cpp};")
        lines += [f"T{k} value{k}_{e}() {{ return {row.literals[e]}; }}" for e in (0, 1)]
    lines.append("void write(const char *path) {")
    lines.append("  auto model = ROOT::RNTupleModel::Create();")
    lines += [f'  auto f{k} = model->MakeField<T{k}>("f{k}");' for k in range(len(TYPES))]
    lines += _made(len(TYPES))
    lines.append('  auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path);')
    for e in (0, 1):
        for k, row in enumerate([*TYPES, *COLUMNS]):
            assigned = getattr(row, "assigned", "{}").format(f"value{k}_{e}()")
            lines.append(f"  *f{k} = {assigned};")
        lines.append("  w->Fill();")
    lines.append("}")
    lines.append("void check(const char *path) {")
    lines.append('  auto r = ROOT::RNTupleReader::Open("n", path); std::string wrong;')
    for k, row in enumerate([*TYPES, *COLUMNS]):
        equal = getattr(row, "equal", "({0}) == ({1})")
        test = " && ".join(f"({equal.format(f'v({e})', f'w{e}')})" for e in (0, 1))
        lines.append(
            f'  {{ auto v = r->GetView<T{k}>("f{k}"); T{k} w0 = value{k}_0(), w1 = value{k}_1(); '
            f'if (!({test})) wrong += " f{k}"; }}'
        )
    lines.append("  if (!wrong.empty()) throw std::runtime_error(wrong);")
    lines.append("}\n}")
    return "\n".join(lines)


def _made(first: int) -> list[str]:
    """Return C++ that adds the fields of `COLUMNS`, each with its column type."""
    lines = []
    for k, column in enumerate(COLUMNS, first):
        setup = column.setup or (
            ""
            if column.name == "Switch"
            else f"SetColumnRepresentatives({{{{E::k{column.name}}}}})"
        )
        lines.append(f'  {{ auto f = std::make_unique<ROOT::RField<T{k}>>("f{k}");')
        lines.append("    using E = ROOT::ENTupleColumnType;")
        lines.append(f"    {f'f->{setup};' if setup else ''} model->AddField(std::move(f)); }}")
        lines.append(f'  auto f{k} = model->GetDefaultEntry().GetPtr<T{k}>("f{k}");')
    return lines
