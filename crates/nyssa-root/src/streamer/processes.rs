//! Finds which objects have references (`TRef`). A reference is a number that an object got in a process, and the
//! number of this process (`TProcessID`) in the file. So an object with references means other objects in a file
//! whose processes have other numbers.

use std::collections::BTreeMap;

use crate::error::{Error, Kind, Result, ResultExt};
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::values::Object;

/// The class of the objects that name the process of each number in the file.
pub const PROCESS_ID: &str = "TProcessID";

/// The reason why an object with references is not written to a file where the number of its process belongs to
/// another process.
pub const OTHER_PROCESS: &str = "it has references (TRef) by the number of a process (TProcessID) of its file, and \
                                        this number is that of another process in the output; ROOT's hadd numbers them anew";

/// The name of a `TProcessID` without its number.
const NAME: &str = "ProcessID";

/// The numbers that the processes of a file have in another file, by the numbers in their own file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessNumbers(BTreeMap<u16, u16>);

impl ProcessNumbers {
    /// Sets the number of a process.
    pub fn set(&mut self, own: u16, other: u16) {
        self.0.insert(own, other);
    }

    /// Returns the new numbers.
    pub fn new_numbers(&self) -> impl Iterator<Item = u16> {
        self.0.values().copied()
    }

    /// Returns whether all processes keep their numbers.
    pub fn are_kept(&self) -> bool {
        self.0.iter().all(|(own, other)| own == other)
    }

    /// Changes the numbers at `places` of `bytes`, to each of which the file adds `offset`.
    ///
    /// # Errors
    /// `OutOfSpecification` for the number of a process that the file does not have, if other numbers change.
    pub fn change(&self, bytes: &mut [u8], places: &[usize], offset: u16) -> Result<()> {
        for &place in places {
            let number = bytes.get_mut(place..).and_then(<[u8]>::first_chunk_mut::<2>);
            let number = number.ok_or_else(|| Error::out_of_spec("a process beyond the data"))?;
            let own = u16::from_be_bytes(*number).wrapping_add(offset);
            let new = match self.0.get(&own) {
                Some(new) => *new,
                None if self.are_kept() => own,
                None => {
                    return Err(Error::out_of_spec(format!(
                        "a reference names {NAME}{own}, and the file has no such TProcessID"
                    )));
                }
            };
            *number = new.to_be_bytes();
        }
        Ok(())
    }
}

/// Returns the number of the process whose `TProcessID` has a key, from its path. ROOT finds processes by these names.
pub fn process_number(key: &KeyEntry) -> Option<u16> {
    let number = key.path.strip_prefix(NAME).filter(|_| key.class == PROCESS_ID)?;
    let is_spelt = |parsed: &u16| parsed.to_string() == number;
    number.parse().ok().filter(is_spelt)
}

/// Returns the path of the process with a number.
pub fn process_path(number: u16) -> String {
    format!("{NAME}{number}")
}

/// Returns whether an object has references, or is referred to. An object that cannot be read counts as such.
///
/// # Errors
/// `Io` if the file cannot be read.
pub fn has_references(file: &RootFile, key: &KeyEntry) -> Result<bool> {
    let read = || {
        let infos = file.streamer_infos()?;
        let payload = file.payload(key)?;
        Object::read(infos.complete(), &key.class, &payload, key.keylen)
    };
    match read() {
        Ok(object) => Ok(object.is_none_or(|object| object.has_references())),
        Err(error) if error.kind() == Kind::Io => Err(error).in_object(&key.path),
        Err(_) => Ok(true),
    }
}
