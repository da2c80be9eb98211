//! Compresses a basket again, or changes only the numbers of processes in it. Its entries stay where they are, so that a basket
//! of any kind can be compressed.

use std::borrow::Cow;

use nyssa_root::compression::Compression;
use nyssa_root::cursor::Cursor;
use nyssa_root::error::Result;
use nyssa_root::rootfile::writer::without_process_offset;

use super::packer::PackingMemory;
use super::plain::plain;
use crate::model::Basket;
use crate::read::basket_header::Header;
use crate::read::{Expected, MovedBasket, Renumbering};

/// Returns a basket of the branch at `path` with another compression, and with the new numbers of `processes`. `raw` are its
/// bytes in the file. A basket that is streamed inside its tree needs none, and gets a key of its own.
///
/// # Errors
/// `OutOfSpecification` if key, branch and payload disagree; `Unsupported` for a basket that exists only in memory, and if
/// numbers of processes change and nyssa cannot know where they are.
pub fn reseal(
    raw: &[u8],
    basket: &Basket,
    compression: Compression,
    (processes, path): (&Renumbering, &str),
    memory: &PackingMemory,
) -> Result<MovedBasket> {
    sealed(raw, basket, (processes, path))
        .and_then(|(basket, _)| basket.compressed(compression, memory))
}

/// Returns a basket of the branch at `path` as it is stored. It is compressed again only if a number of `processes` in it
/// changes. `raw` are its bytes in the file.
///
/// # Errors
/// `OutOfSpecification` if key, branch and payload disagree; `Unsupported` if numbers of processes change and nyssa cannot
/// know where they are.
pub fn renumbered(
    raw: &[u8],
    basket: &Basket,
    compression: Compression,
    (processes, path): (&Renumbering, &str),
    memory: &PackingMemory,
) -> Result<MovedBasket> {
    if processes.concerns(path, raw) {
        let (opened, has_changed) = sealed(raw, basket, (processes, path))?;
        if has_changed {
            return opened.compressed(compression, memory);
        }
    }
    let (head, payload, objlen) = MovedBasket::stored(raw, &Expected::of(basket))?;
    Ok(MovedBasket { head: head.to_vec(), payload: payload.to_vec(), objlen })
}

/// A basket with its decompressed payload.
struct Plain<'a> {
    head: Vec<u8>,
    payload: Cow<'a, [u8]>,
    objlen: u64,
}

impl Plain<'_> {
    fn compressed(self, compression: Compression, memory: &PackingMemory) -> Result<MovedBasket> {
        let Self { head, payload, objlen } = self;
        let compressed = memory.0.compress_bytes(&payload, compression)?;
        Ok(MovedBasket {
            head,
            payload: compressed.unwrap_or_else(|| payload.into_owned()),
            objlen,
        })
    }
}

/// Returns the decompressed basket with the new numbers of its processes, and whether it has such numbers.
fn sealed<'a>(
    raw: &'a [u8],
    basket: &Basket,
    (processes, path): (&Renumbering, &str),
) -> Result<(Plain<'a>, bool)> {
    let expected = Expected::of(basket);
    let (mut head, payload, mut objlen) = match &basket.embedded {
        Some(streamed) => {
            let MovedBasket { head, payload, objlen } = MovedBasket::embedded(streamed, &expected)?;
            (head, Cow::Owned(payload), objlen)
        }
        None => {
            let (head, payload, objlen) = MovedBasket::stored(raw, &expected)?;
            (head.to_vec(), Cow::Borrowed(payload), objlen)
        }
    };
    let mut payload = plain(payload, objlen)?;
    let mut has_changed = false;
    if processes.concerns(path, &head) {
        let mut cursor = Cursor::new(&head, 0);
        let header = Header::read(&mut cursor)?;
        let end = cursor.position();
        if let Some(new) = processes.change(path, basket, (&header, &payload))? {
            has_changed = true;
            without_process_offset(&mut head)?;
            Header::set_last(head.get_mut(..end).unwrap_or_default(), new.last)?;
            objlen = new.payload.len() as u64;
            payload = Cow::Owned(new.payload);
        }
    }
    Ok((Plain { head, payload, objlen }, has_changed))
}
