//! Writes `std::vector` of numbers, of strings and of vectors, in the form that ROOT streams in separate branches.
//!
//! ```text
//! entry   byte count, version, number of items, items
//! item    number | length, characters | number of items, items
//! ```

use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use nyssa_root::arrow::Number;
use nyssa_root::cursor::BYTE_COUNT;
use nyssa_root::error::Result;
use nyssa_root::rootfile::encode;
use nyssa_root::streamer::Declarations;
use nyssa_root::type_name::TypeName;

use super::numbers;

/// The version that ROOT writes before a container.
const VERSION: u16 = 9;
/// The version of the dictionary of a container (`TBranchElement::fClassVersion`).
pub(super) const CLASS_VERSION: i64 = 6;

/// The items of the innermost vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Numbers of a type.
    Number(Number),
    /// Strings.
    Text,
}

/// A `std::vector`, or vectors of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorForm {
    /// The depth of nested vectors, at least 1.
    pub depth: usize,
    /// The items of the innermost vectors.
    pub item: Item,
}

/// The values of a column of vectors.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    /// The number of the first item of each vector, and the number of items, for each depth, outermost first.
    pub levels: Vec<Vec<i64>>,
    pub items: Items,
}

/// The items of all innermost vectors.
#[derive(Clone, Debug)]
pub(super) enum Items {
    /// Numbers of the type of the form.
    Numbers(ArrayRef),
    /// Offsets and bytes of strings.
    Texts(Vec<i64>, Buffer),
}

impl Items {
    /// Returns an estimate of the number of bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Numbers(array) => array.len() * 8,
            Self::Texts(ends, bytes) => bytes.len() + 5 * ends.len(),
        }
    }
}

impl VectorForm {
    /// Returns the form of a class; `None` for classes that are not vectors of numbers, of strings or of such
    /// vectors.
    pub(super) fn of_class(class: &str) -> Option<Self> {
        // These numbers are stored with fewer bits.
        let packed = class.contains("Double32_t") || class.contains("Float16_t");
        let name = TypeName::parse(class).ok().filter(|_| !packed)?;
        Self::of_type(&name)
    }

    fn of_type(name: &TypeName) -> Option<Self> {
        let arguments = name.arguments_of("std::vector")?;
        let [item] = arguments[..] else { return None };
        let text = item.to_string();
        if text == "std::string" {
            return Some(Self { depth: 1, item: Item::Text });
        }
        if let Some(number) = Number::of_type_name(&text) {
            return Some(Self { depth: 1, item: Item::Number(number) });
        }
        let inner = Self::of_type(item)?;
        Some(Self { depth: inner.depth + 1, ..inner })
    }

    /// Returns ROOT's name of the class.
    pub(super) fn class(&self) -> String {
        let item = match self.item {
            Item::Text => "string",
            Item::Number(number) => match number {
                Number::Bool => "bool",
                Number::Int8 => "char",
                Number::UInt8 => "unsigned char",
                Number::Int16 => "short",
                Number::UInt16 => "unsigned short",
                Number::Int32 => "int",
                Number::UInt32 => "unsigned int",
                Number::Int64 => "Long64_t",
                Number::UInt64 => "ULong64_t",
                Number::Float32 => "float",
                Number::Float64 => "double",
            },
        };
        (0..self.depth).fold(item.to_owned(), |inner, _| {
            let space = if inner.ends_with('>') { " " } else { "" };
            format!("vector<{inner}{space}>")
        })
    }

    /// Returns ROOT's checksum of the class, which follows from its name (`TClass::GetCheckSum`).
    pub(super) fn checksum(&self) -> u32 {
        Declarations::checksum_of_name(&self.class())
    }

    /// Appends one entry.
    ///
    /// # Errors
    /// `LimitExceeded` for strings of more than 2 GiB.
    pub(super) fn put(&self, vectors: &Vectors, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&VERSION.to_be_bytes());
        self.put_vector(vectors, 0, row, out)?;
        let count = (out.len() - start - 4) as u32 | BYTE_COUNT;
        out[start..start + 4].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    fn put_vector(
        &self,
        vectors: &Vectors,
        level: usize,
        at: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let offsets = &vectors.levels[level];
        let (start, end) = (offsets[at] as usize, offsets[at + 1] as usize);
        out.extend_from_slice(&((end - start) as u32).to_be_bytes());
        if level + 1 < self.depth {
            return (start..end)
                .try_for_each(|inner| self.put_vector(vectors, level + 1, inner, out));
        }
        match (&vectors.items, self.item) {
            (Items::Numbers(array), Item::Number(number)) => {
                numbers::put(array, number, start..end, out);
            }
            (Items::Texts(ends, bytes), _) => {
                for pair in ends[start..=end].windows(2) {
                    encode::text_bytes(out, &bytes[pair[0] as usize..pair[1] as usize])?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the size of an entry in bytes, without its lengths of strings.
    pub(super) fn size(&self, vectors: &Vectors, row: usize) -> usize {
        let (mut start, mut end, mut bytes) = (row, row + 1, 10usize);
        for (level, offsets) in vectors.levels.iter().enumerate() {
            bytes += if level > 0 { 4 * (end - start) } else { 0 };
            (start, end) = (offsets[start] as usize, offsets[end] as usize);
        }
        bytes
            + match (&vectors.items, self.item) {
                (Items::Texts(ends, _), _) => {
                    (ends[end] - ends[start]) as usize + 5 * (end - start)
                }
                (_, Item::Number(number)) => (end - start) * number.size(),
                _ => 0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_checksums_are_those_of_root() {
        let form = |depth, item| VectorForm { depth, item };
        for (form, class, checksum) in [
            (form(1, Item::Number(Number::Float32)), "vector<float>", 89_790_107),
            (form(1, Item::Number(Number::Int64)), "vector<Long64_t>", 2_424_165_566),
            (form(1, Item::Text), "vector<string>", 269_382_332),
            (form(2, Item::Number(Number::Float32)), "vector<vector<float> >", 2_170_935_584),
        ] {
            assert_eq!((form.class().as_str(), form.checksum()), (class, checksum));
            assert_eq!(VectorForm::of_class(class), Some(form));
        }
    }

    #[test]
    fn other_classes_are_no_vectors() {
        for class in ["set<float>", "vector<Double32_t>", "vector<Jet>", "vector<set<int> >"] {
            assert_eq!(VectorForm::of_class(class), None, "{class}");
        }
    }
}
