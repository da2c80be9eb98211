//! Writes the baskets of trees. The header of their key has a tail, the header of the basket.

use std::ops::Range;

use super::key::Key;
use super::{RootFileWriter, Unwritten};
use crate::error::{Error, Result};

/// The class of baskets.
const CLASS: &str = "TBasket";

/// The description of a basket in its stored form.
pub struct StoredBasket<'a> {
    /// The directory of the tree.
    pub dir: &'a str,
    /// The name of the branch.
    pub branch: &'a str,
    /// The name of the tree.
    pub tree: &'a str,
    /// The number of the basket in its branch.
    pub number: u64,
    /// The header of the basket, behind the header of the key.
    pub header: &'a [u8],
    /// The size of the payload when it is uncompressed, in bytes.
    pub objlen: u64,
}

impl RootFileWriter {
    /// Returns the size in bytes of the key of a basket whose header has `header` bytes.
    pub fn basket_keylen(branch: &str, tree: &str, header: usize) -> usize {
        Key::size_for(CLASS, branch.as_bytes(), tree.as_bytes()) + header
    }

    /// Writes a basket with its stored payload. No directory lists it. Returns the position and the size of its key with
    /// the payload.
    ///
    /// # Errors
    /// `LimitExceeded` beyond what a key can hold; an error if the sink cannot be written.
    pub fn write_basket(
        &mut self,
        basket: &StoredBasket<'_>,
        payload: &[u8],
    ) -> Result<(u64, u64)> {
        let key = self.basket_key(basket, payload.len())?;
        self.append(&key, &[basket.header, payload]).map_err(|error| self.blame(error))?;
        Ok((key.seek, key.size() as u64 + key.stored))
    }

    /// Gives a basket its place, as [`RootFileWriter::write_basket`] does, and leaves its bytes to `unwritten`.
    ///
    /// # Errors
    /// `LimitExceeded` beyond what a key can hold; an error if the sink cannot be written.
    pub fn place_basket(
        &mut self,
        basket: &StoredBasket<'_>,
        payload: Vec<u8>,
        unwritten: &mut Unwritten,
    ) -> Result<(u64, u64)> {
        let key = self.basket_key(basket, payload.len())?;
        self.place(&key, [basket.header.to_vec(), payload], unwritten)?;
        Ok((key.seek, key.size() as u64 + key.stored))
    }

    fn basket_key(&mut self, basket: &StoredBasket<'_>, stored: usize) -> Result<Key> {
        let dir = self.make_directory(basket.dir)?;
        let parent = self.directories[dir].seek;
        // ROOT writes the lowest bits of the number, too.
        let cycle = (basket.number & 0x7FFF) as u16;
        let (branch, tree) = (basket.branch.into(), basket.tree.into());
        let key = self.key(CLASS, branch, tree, parent, cycle, stored as u64);
        Ok(Key { small: false, objlen: basket.objlen, tail: basket.header.len(), ..key })
    }

    /// Writes a basket of another file with the key and the header of that file: `head`. Only the fields that depend on its
    /// place change. `objlen` is the size of its payload when it is uncompressed. Returns its position and its size.
    ///
    /// # Errors
    /// `Unsupported` for a key with 32-bit positions in a file beyond 2 GiB; `LimitExceeded` beyond what a key can
    /// hold; an error if the sink cannot be written.
    pub fn copy_basket(
        &mut self,
        (dir, number): (&str, u64),
        head: &[u8],
        payload: &[u8],
        objlen: u64,
    ) -> Result<(u64, u64)> {
        let dir = self.make_directory(dir)?;
        let (seek, parent) = (self.out.end(), self.directories[dir].seek);
        let size = head.len() + payload.len();
        let head =
            moved(head, (seek, parent), number, size, objlen).map_err(|error| self.blame(error))?;
        self.out
            .append(&head)
            .and_then(|()| self.out.append(payload))
            .map_err(|e| self.blame(e))?;
        Ok((seek, size as u64))
    }
}

/// The fields of a key that depend on its place in the file.
const NBYTES: Range<usize> = 0..4;
const VERSION: Range<usize> = 4..6;
const OBJLEN: Range<usize> = 6..10;
const CYCLE: Range<usize> = 16..18;
const POSITIONS: usize = 18;
/// The number of processes before those that the basket names, in a key with 64-bit positions. It is above the position of the
/// directory.
const PROCESS_OFFSET: Range<usize> = 26..28;
/// A key with a version above this has 64-bit positions.
const LARGE_KEY: u16 = 1000;

/// Removes the number that is added to the numbers of processes in a basket, from its key.
///
/// # Errors
/// `OutOfSpecification` for a key that is too short.
pub fn without_process_offset(head: &mut [u8]) -> Result<()> {
    let short = || Error::out_of_spec("the key of a basket is too short");
    if is_large(head).ok_or_else(short)? {
        head.get_mut(PROCESS_OFFSET).ok_or_else(short)?.fill(0);
    }
    Ok(())
}

/// Returns whether a key has 64-bit positions.
fn is_large(head: &[u8]) -> Option<bool> {
    let version = head.get(VERSION).and_then(<[u8]>::first_chunk)?;
    Some(u16::from_be_bytes(*version) > LARGE_KEY)
}

/// Returns the key and the header of a basket for another place.
fn moved(
    head: &[u8],
    (seek, parent): (u64, u64),
    number: u64,
    size: usize,
    objlen: u64,
) -> Result<Vec<u8>> {
    let short = || Error::out_of_spec("the key of a basket is too short");
    let limit = || Error::limit(format!("a basket of {} bytes", objlen.max(size as u64)));
    let mut head = head.to_vec();
    let mut put = |place: Range<usize>, bytes: &[u8]| {
        head.get_mut(place).map(|room| room.copy_from_slice(bytes)).ok_or_else(short)
    };
    put(NBYTES, &i32::try_from(size).map_err(|_| limit())?.to_be_bytes())?;
    put(OBJLEN, &i32::try_from(objlen).map_err(|_| limit())?.to_be_bytes())?;
    // ROOT writes the lowest bits of the number, too.
    put(CYCLE, &((number & 0x7FFF) as u16).to_be_bytes())?;
    let is_large = is_large(&head).ok_or_else(short)?;
    let offset = head.get(PROCESS_OFFSET).map(<[u8]>::to_vec).filter(|_| is_large);
    for (index, position) in [seek, parent].into_iter().enumerate() {
        let bytes = match is_large {
            true => position.to_be_bytes().to_vec(),
            false => match i32::try_from(position) {
                Ok(position) => position.to_be_bytes().to_vec(),
                Err(_) => {
                    return Err(Error::unsupported(
                        "the keys of its baskets have 32-bit positions, and the output is larger than 2 GiB: \
                         merge fewer files, or convert them first",
                    ));
                }
            },
        };
        let start = POSITIONS + index * bytes.len();
        let room = head.get_mut(start..start + bytes.len()).ok_or_else(short)?;
        room.copy_from_slice(&bytes);
    }
    if let Some(offset) = offset {
        head.get_mut(PROCESS_OFFSET).ok_or_else(short)?.copy_from_slice(&offset);
    }
    Ok(head)
}
