//! Keeps large blocks that were freed, for the next arrays of about their size.
//!
//! The first touch of new memory costs more than all else in a read: the system clears each page at 1 to 3 GB/s, while
//! memory that was in use before is cleared at 20 GB/s. The kept memory is little and for a short time, and the system may
//! take it back at any time (`MADV_FREE`), so that a process with a limit of memory does not come closer to it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memmap2::MmapMut;

use super::huge_pages::huge_pages;

/// The maximum number of bytes that are kept.
const MAX_BYTES: usize = 1 << 30;

/// The time after which a block that no read took is given back.
const IDLE: Duration = Duration::from_secs(2);

/// A memory mapping of the system.
pub(super) struct Mapped {
    block: Option<MmapMut>,
    /// Whether it is kept for another one when it is dropped.
    keeps: bool,
}

impl Mapped {
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.block.as_deref_mut().unwrap_or_default()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(block) = self.block.take().filter(|_| self.keeps) {
            freed().keep(block);
        }
    }
}

/// Returns at least `bytes` bytes, all zero. If `keeps`, they are kept for others when they are dropped. Returns `None` if the
/// system gives none.
pub(super) fn zeroed(bytes: usize, keeps: bool) -> Option<Mapped> {
    let bytes = size_class(bytes)?;
    let taken = freed().take(bytes);
    if let Some(mut block) = taken {
        block.fill(0);
        return Some(Mapped { block: Some(block), keeps });
    }
    let mut block = MmapMut::map_anon(bytes).ok()?;
    huge_pages(&mut block);
    Some(Mapped { block: Some(block), keeps })
}

/// Gives all kept memory back to the system.
pub(super) fn release() {
    let blocks = std::mem::take(&mut freed().blocks);
    drop(blocks);
}

/// Rounds a size up to one of eight sizes between two powers of two. Blocks of reads of about equal sizes have one size, and
/// the rest of a block is not touched.
fn size_class(bytes: usize) -> Option<usize> {
    let step = bytes.checked_ilog2()?.saturating_sub(3);
    bytes.checked_next_multiple_of(1 << step)
}

/// The blocks that are kept.
struct Freed {
    /// The oldest first, each with the time when it was freed.
    blocks: VecDeque<(Instant, MmapMut)>,
    /// The process whose thread gives blocks back. A forked process has no thread of its parent.
    keeper: Option<u32>,
}

static FREED: Mutex<Freed> = Mutex::new(Freed { blocks: VecDeque::new(), keeper: None });

fn freed() -> MutexGuard<'static, Freed> {
    FREED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Freed {
    /// Takes a block of `bytes` bytes. If there is none, as many other bytes are given back, so that the memory in use and the
    /// kept memory together are never more than the memory in use was before.
    fn take(&mut self, bytes: usize) -> Option<MmapMut> {
        let place = self.blocks.iter().rposition(|(_, block)| block.len() == bytes);
        if let Some(place) = place {
            return self.blocks.remove(place).map(|(_, block)| block);
        }
        let mut given_back = 0;
        while given_back < bytes
            && let Some((_, block)) = self.blocks.pop_front()
        {
            given_back += block.len();
        }
        None
    }

    fn keep(&mut self, block: MmapMut) {
        let kept: usize = self.blocks.iter().map(|(_, block)| block.len()).sum();
        if kept + block.len() > MAX_BYTES || !self.has_keeper() {
            return;
        }
        // SAFETY: nobody else has the mapping, and its contents are not needed: `zeroed` writes all bytes before they are read.
        #[cfg(target_os = "linux")]
        let _ = unsafe { block.unchecked_advise(memmap2::UncheckedAdvice::Free) };
        self.blocks.push_back((Instant::now(), block));
    }

    /// Returns whether a thread gives blocks back. Begins it if there is none.
    fn has_keeper(&mut self) -> bool {
        let process = std::process::id();
        if self.keeper != Some(process) {
            let thread = thread::Builder::new().name("nyssa-memory".to_owned());
            self.keeper = thread.spawn(give_idle_back).is_ok().then_some(process);
        }
        self.keeper.is_some()
    }
}

/// Gives blocks back that were not taken for a while. Ends when there are none.
fn give_idle_back() {
    loop {
        let mut freed = freed();
        let Some(age) = freed.blocks.front().map(|(since, _)| since.elapsed()) else {
            freed.keeper = None;
            return;
        };
        let idle = (age >= IDLE).then(|| freed.blocks.pop_front());
        drop(freed);
        match idle {
            Some(block) => drop(block),
            None => thread::sleep(IDLE.saturating_sub(age)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_by_an_eighth_at_most() {
        for bytes in [1, 7, 8, 9, 1 << 20, (1 << 20) + 1, 67_000_001, 1 << 40] {
            let class = size_class(bytes).unwrap();
            assert!(class >= bytes && class - bytes <= bytes / 8, "{bytes}: {class}");
            assert_eq!(size_class(class), Some(class));
        }
        assert_eq!(size_class(usize::MAX), None);
    }

    #[test]
    fn a_freed_block_is_zero_when_it_is_taken_again() {
        // A size that no other test has.
        let bytes = 37 << 20;
        let mut block = zeroed(bytes, true).unwrap();
        block.bytes_mut().fill(7);
        let address = block.bytes_mut().as_ptr();
        drop(block);
        let mut again = zeroed(bytes - 5, false).unwrap();
        assert_eq!(again.bytes_mut().as_ptr(), address);
        assert!(again.bytes_mut().iter().all(|&byte| byte == 0));
        // A job with a limit of memory keeps nothing.
        drop(again);
        assert!(freed().blocks.iter().all(|(_, block)| block.len() != size_class(bytes).unwrap()));
    }

    #[test]
    fn blocks_that_no_read_takes_are_given_back() {
        let mut freed = Freed { blocks: VecDeque::new(), keeper: Some(std::process::id()) };
        let block = |megabytes: usize| MmapMut::map_anon(megabytes << 20).unwrap();
        freed.keep(block(MAX_BYTES >> 21));
        freed.keep(block(MAX_BYTES >> 21));
        freed.keep(block(1));
        assert_eq!(freed.blocks.len(), 2);
        // Another size gives as many bytes back.
        assert!(freed.take(3 << 20).is_none());
        assert_eq!(freed.blocks.len(), 1);
        assert!(freed.take(MAX_BYTES / 2).is_some());
        assert!(freed.blocks.is_empty());
    }
}
