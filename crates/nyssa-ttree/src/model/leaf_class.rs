//! Lists the leaf classes of numbers, and the letters of their types in the titles of branches.

use nyssa_root::arrow::Number;

/// ROOT's names for a type of numbers in a tree.
pub(crate) struct LeafClass {
    /// The type.
    pub number: Number,
    /// The class of leaves of this type.
    pub class: &'static str,
    /// Whether `fIsUnsigned` is set.
    pub unsigned: bool,
    /// The letter of the type in the title of a branch.
    pub letter: char,
}

/// The names of all types, in the order of [`Number::ALL`].
const ALL: [LeafClass; 11] = [
    row(Number::Bool, "TLeafO", false, 'O'),
    row(Number::Int8, "TLeafB", false, 'B'),
    row(Number::UInt8, "TLeafB", true, 'b'),
    row(Number::Int16, "TLeafS", false, 'S'),
    row(Number::UInt16, "TLeafS", true, 's'),
    row(Number::Int32, "TLeafI", false, 'I'),
    row(Number::UInt32, "TLeafI", true, 'i'),
    row(Number::Int64, "TLeafL", false, 'L'),
    row(Number::UInt64, "TLeafL", true, 'l'),
    row(Number::Float32, "TLeafF", false, 'F'),
    row(Number::Float64, "TLeafD", false, 'D'),
];

/// The names of `Long_t` and `ULong_t`, which always have 8 bytes in a file.
const LONG: [LeafClass; 2] =
    [row(Number::Int64, "TLeafG", false, 'G'), row(Number::UInt64, "TLeafG", true, 'g')];

const fn row(number: Number, class: &'static str, unsigned: bool, letter: char) -> LeafClass {
    LeafClass { number, class, unsigned, letter }
}

/// Returns the names of a type.
pub(crate) fn of_number(number: Number) -> &'static LeafClass {
    &ALL[number as usize]
}

/// Returns the names of `Long_t` or `ULong_t` for a type that they have.
pub(crate) fn of_long(number: Number) -> Option<&'static LeafClass> {
    LONG.iter().find(|row| row.number == number)
}

/// Returns the type of the numbers of a leaf class, or `None` for other leaves.
pub fn number_of_leaf(class: &str, unsigned: bool) -> Option<Number> {
    let mut rows = ALL.iter().chain(&LONG).filter(|row| row.class == class);
    // Bools and floats have no unsigned form.
    let row = rows.clone().find(|row| row.unsigned == unsigned).or_else(|| rows.next());
    row.map(|row| row.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_numbers() {
        for number in Number::ALL {
            assert_eq!(of_number(number).number, number);
        }
    }
}
