//! Finds which objects have references (`TRef`). A reference is a number that an object got in a process, and the
//! number of this process (`TProcessID`) in the file. So an object with references means other objects in a file
//! whose processes have other numbers.

use crate::error::{Kind, Result, ResultExt};
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::values::Object;

/// The class of the objects that name the process of each number in the file.
pub const PROCESS_ID: &str = "TProcessID";

/// The reason why an object with references is not written to a file where the number of its process belongs to
/// another process.
pub const OTHER_PROCESS: &str = "it has references (TRef) by the number of a process (TProcessID) of its file, and \
                                        this number is that of another process in the output; ROOT's hadd numbers them anew";

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
