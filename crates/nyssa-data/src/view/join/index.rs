//! Finds the entry of a key.

use std::hash::{BuildHasher, Hasher, RandomState};

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_schema::DataType;
use nyssa_root::Context;
use nyssa_root::arrow::field;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::guard::try_vec;

use crate::dataset::{ColumnInfo, Dataset};
use crate::view::evolve::{EvolutionOptions, Missing, evolve};

/// An index of entries by the values of key columns. It has the first entry of each key.
///
/// For each entry, it takes 8 bytes of memory for every key column, and 8 to 16 bytes for the table.
pub(super) struct Index {
    keys: Vec<Vec<u64>>,
    /// The hash table with open addressing: entry + 1, or 0 for a free place. The size is a power of two.
    table: Vec<u32>,
    /// The hash function. Its seed is random, so that no file can be made to cause collisions.
    hasher: RandomState,
}

impl Index {
    /// Reads the key columns of all entries, with the types `types`, and builds the index.
    ///
    /// # Errors
    /// `Unsupported` for keys that are not integers; `InvalidArgument` for a value that does not fit its type;
    /// `LimitExceeded` for more than 2^31 entries; an error if the keys cannot be read.
    pub(super) fn build(
        dataset: &dyn Dataset,
        names: &[String],
        types: &[DataType],
        context: &Context,
    ) -> Result<Self> {
        let entries = dataset.num_entries();
        let count = usize::try_from(entries).ok().filter(|&count| count <= 1 << 31);
        let count = count.ok_or_else(|| {
            Error::limit(format!("{entries} entries are too many for an index")).at(|place| {
                place.file = Some(dataset.file().to_owned());
            })
        })?;
        let keys = keys(dataset, names, types, 0..entries, context)?;
        let size = (2 * count).next_power_of_two();
        let table = try_vec(size, "an index")?;
        let mut index = Self { keys, table, hasher: RandomState::new() };
        for entry in 0..count {
            let place = index.place(&index.keys, entry);
            // The index stores the first entry of a key.
            if index.table[place] == 0 {
                index.table[place] = entry as u32 + 1;
            }
        }
        Ok(index)
    }

    /// Returns the entry that has the key in row `row` of the columns `keys`.
    pub(super) fn find(&self, keys: &[Vec<u64>], row: usize) -> Option<u64> {
        self.table[self.place(keys, row)].checked_sub(1).map(u64::from)
    }

    /// Returns the place of the key in the table, or the free place for it.
    fn place(&self, keys: &[Vec<u64>], row: usize) -> usize {
        let mut hasher = self.hasher.build_hasher();
        keys.iter().for_each(|column| hasher.write_u64(column[row]));
        let mask = self.table.len() - 1;
        let mut place = hasher.finish() as usize & mask;
        // At least half of the places are free.
        while let Some(entry) = (self.table[place] as usize).checked_sub(1) {
            if self.keys.iter().zip(keys).all(|(own, other)| own[entry] == other[row]) {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }
}

/// Returns the type in which keys are compared: `UInt64` if both have this type, otherwise `Int64`.
///
/// # Errors
/// `Unsupported` unless both are integers or booleans that are never null.
pub(super) fn key_type(name: &str, left: &dyn Dataset, right: &dyn Dataset) -> Result<DataType> {
    let wide = |dataset: &dyn Dataset| {
        let item = dataset.columns().iter().find(|item| item.name == name);
        let of = |item: &ColumnInfo| item.field.clone().map_err(Error::unsupported);
        let column = item.ok_or_else(|| {
            let names = dataset.columns().iter().map(|item| item.name.as_str());
            let message = format!("there is no field {name:?} to join on");
            Error::not_found(message).suggest(name, names)
        });
        let column = column.and_then(of).in_field(name).in_file(dataset.file())?;
        let integer = column.data_type().is_integer() || column.data_type() == &DataType::Boolean;
        if !integer || column.is_nullable() {
            let message = format!(
                "datasets are joined on integers that are never null, not on {}",
                column.data_type()
            );
            return Err(Error::unsupported(message)).in_field(name).in_file(dataset.file());
        }
        Ok(column.data_type() == &DataType::UInt64)
    };
    Ok(if wide(left)? && wide(right)? { DataType::UInt64 } else { DataType::Int64 })
}

/// Reads the key columns of some entries, converted to `types`, as 64 bits for each value.
///
/// # Errors
/// `InvalidArgument` for a value that does not fit its type; an error if the file is damaged or cannot be read.
pub(super) fn keys(
    dataset: &dyn Dataset,
    names: &[String],
    types: &[DataType],
    entries: std::ops::Range<u64>,
    context: &Context,
) -> Result<Vec<Vec<u64>>> {
    let refs = names.iter().map(String::as_str).collect::<Vec<_>>();
    let arrays = dataset.read(&refs, entries, context)?;
    let bits = |((array, to), name): ((&ArrayRef, &DataType), &String)| {
        let options = EvolutionOptions { missing: Missing::Error, narrowing: true };
        let (from, to) = (field(name, array.data_type().clone()), field(name, to.clone()));
        let wide = evolve(&from, &to, options)?.apply(array)?;
        Ok(match wide.as_primitive_opt::<UInt64Type>() {
            Some(unsigned) => unsigned.values().to_vec(),
            None => wide.as_primitive::<Int64Type>().values().iter().map(|&v| v as u64).collect(),
        })
    };
    let columns = arrays.iter().zip(types).zip(names).map(bits).collect::<Result<Vec<_>>>();
    columns.in_file(dataset.file()).in_object(dataset.name())
}
