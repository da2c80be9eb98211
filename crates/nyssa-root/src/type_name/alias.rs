//! Replaces other spellings of type names by the normal form.

/// Returns the normal form of a fundamental type from its words, which come in any order, as in `long unsigned
/// int`.
pub(super) fn fundamental(words: &[&str]) -> Option<&'static str> {
    let count = |word: &str| words.iter().filter(|other| **other == word).count();
    let known = ["signed", "unsigned", "short", "long", "int", "char"];
    if words.iter().any(|word| !known.contains(word)) {
        return match words {
            ["long", "double"] | ["double", "long"] => Some("long double"),
            [name] => typedef(name),
            _ => None,
        };
    }
    let signs = count("signed") + count("unsigned");
    if words.is_empty() || signs > 1 || count("int") > 1 || count("char") > 1 {
        return None;
    }
    let unsigned = count("unsigned") == 1;
    let pick = |signed, other| Some(if unsigned { other } else { signed });
    match (count("char"), count("short"), count("long"), count("int")) {
        (1, 0, 0, 0) if signs == 0 => Some("char"),
        (1, 0, 0, 0) => pick("std::int8_t", "std::uint8_t"),
        (0, 1, 0, _) => pick("std::int16_t", "std::uint16_t"),
        (0, 0, 0, _) => pick("std::int32_t", "std::uint32_t"),
        // `long` has 64 bits on every platform that RNTuple is written on.
        (0, 0, 1 | 2, _) => pick("std::int64_t", "std::uint64_t"),
        _ => None,
    }
}

/// Returns the normal form of a fundamental type from its typedef in ROOT or C.
fn typedef(name: &str) -> Option<&'static str> {
    Some(match name {
        "bool" | "Bool_t" => "bool",
        "float" | "Float_t" | "Float16_t" => "float",
        "double" | "Double_t" | "Double32_t" => "double",
        "void" => "void",
        "Char_t" => "char",
        "byte" => "std::byte",
        "int8_t" => "std::int8_t",
        "uint8_t" | "UChar_t" | "Byte_t" => "std::uint8_t",
        "int16_t" | "Short_t" | "Version_t" => "std::int16_t",
        "uint16_t" | "UShort_t" => "std::uint16_t",
        "int32_t" | "Int_t" => "std::int32_t",
        "uint32_t" | "UInt_t" => "std::uint32_t",
        "int64_t" | "Long_t" | "Long64_t" | "ptrdiff_t" => "std::int64_t",
        "uint64_t" | "ULong_t" | "ULong64_t" | "size_t" => "std::uint64_t",
        _ => return None,
    })
}

/// Returns the class that a typedef of ROOT stands for.
pub(super) fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "TMatrix" | "TMatrixF" => "TMatrixT<float>",
        "TMatrixD" => "TMatrixT<double>",
        "TMatrixFSym" => "TMatrixTSym<float>",
        "TMatrixDSym" => "TMatrixTSym<double>",
        "TMatrixFSparse" => "TMatrixTSparse<float>",
        "TMatrixDSparse" => "TMatrixTSparse<double>",
        "TVector" | "TVectorF" => "TVectorT<float>",
        "TVectorD" => "TVectorT<double>",
        "THnC" => "THnT<char>",
        "THnS" => "THnT<short>",
        "THnI" => "THnT<int>",
        "THnL" => "THnT<long>",
        "THnF" => "THnT<float>",
        "THnD" => "THnT<double>",
        "THnSparseC" => "THnSparseT<TArrayC>",
        "THnSparseS" => "THnSparseT<TArrayS>",
        "THnSparseI" => "THnSparseT<TArrayI>",
        "THnSparseL" => "THnSparseT<TArrayL>",
        "THnSparseF" => "THnSparseT<TArrayF>",
        "THnSparseD" => "THnSparseT<TArrayD>",
        _ => return None,
    })
}

/// Returns the number of template arguments that are stored for a class of the standard library that ROOT
/// writes without `std::`. Allocators, comparisons and hashes are not stored.
pub(super) fn standard(name: &str) -> Option<Option<usize>> {
    Some(match name {
        "string" => Some(0),
        "vector" | "list" | "deque" | "forward_list" | "set" | "multiset" | "unordered_set"
        | "unordered_multiset" | "optional" | "unique_ptr" | "atomic" | "bitset" => Some(1),
        "map" | "multimap" | "unordered_map" | "unordered_multimap" | "pair" | "array" => Some(2),
        "tuple" | "variant" => None,
        _ => return None,
    })
}
