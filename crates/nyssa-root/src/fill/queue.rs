//! Queues clusters. They stay in memory if they fit, and otherwise go to a temporary file.

use nyssa_io::Spill;

use crate::error::Result;

/// A cluster whose bytes can be put into a temporary file.
pub trait Buffers {
    /// Returns the number of bytes in memory.
    fn bytes(&self) -> u64;

    /// Returns all bytes that are not in the file yet.
    fn buffers(&mut self) -> impl Iterator<Item = &mut Vec<u8>>;
}

/// A cluster in the queue.
pub(super) struct Queued<C> {
    cluster: C,
    /// The position of its bytes in the temporary file, and the sizes of its buffers. `None` if they are in memory.
    spilled: Option<(u64, Vec<usize>)>,
}

/// A queue whose memory has a limit.
pub(super) struct Queue {
    /// The number of bytes in memory.
    held: u64,
    max_bytes: u64,
    spill: Spill,
}

impl Queue {
    /// Makes a queue with at most `max_bytes` bytes in memory.
    pub(super) fn new(max_bytes: u64) -> Self {
        Self { held: 0, max_bytes, spill: Spill::default() }
    }

    /// Puts a cluster into the queue.
    ///
    /// # Errors
    /// `Io` if the temporary file cannot be written.
    pub(super) fn push<C: Buffers>(&mut self, mut cluster: C) -> Result<Queued<C>> {
        if self.held + cluster.bytes() <= self.max_bytes {
            self.held += cluster.bytes();
            return Ok(Queued { cluster, spilled: None });
        }
        let (mut first, mut sizes) = (None, Vec::new());
        for bytes in cluster.buffers() {
            let offset = self.spill.append(bytes)?;
            first.get_or_insert(offset);
            sizes.push(bytes.len());
            *bytes = Vec::new();
        }
        Ok(Queued { cluster, spilled: Some((first.unwrap_or(0), sizes)) })
    }

    /// Takes a cluster from the queue, unchanged.
    ///
    /// # Errors
    /// `Io` if the temporary file cannot be read.
    pub(super) fn pop<C: Buffers>(&mut self, waiting: Queued<C>) -> Result<C> {
        let Queued { mut cluster, spilled } = waiting;
        let Some((mut offset, sizes)) = spilled else {
            self.held = self.held.saturating_sub(cluster.bytes());
            return Ok(cluster);
        };
        for (bytes, size) in cluster.buffers().zip(sizes) {
            bytes.resize(size, 0);
            self.spill.read(offset, bytes)?;
            offset += size as u64;
        }
        Ok(cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Buffers for Vec<Vec<u8>> {
        fn bytes(&self) -> u64 {
            self.iter().map(|bytes| bytes.len() as u64).sum()
        }

        fn buffers(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
            self.iter_mut()
        }
    }

    fn cluster(sizes: &[usize]) -> Vec<Vec<u8>> {
        let buffer = |&size: &usize| (0..size).map(|i| (i + size) as u8).collect();
        sizes.iter().map(buffer).collect()
    }

    #[test]
    fn clusters_leave_as_they_came() {
        let all = [&[10, 20, 30][..], &[5, 0, 700], &[1], &[40, 40, 40, 40]];
        let mut queue = Queue::new(70);
        let waiting = all.map(|sizes| queue.push(cluster(sizes)).unwrap());
        let spilled = waiting.iter().map(|w| w.spilled.is_some()).collect::<Vec<_>>();
        assert_eq!((spilled, queue.held), (vec![false, true, false, true], 61));
        let mut order = waiting.into_iter().zip(all).collect::<Vec<_>>();
        order.swap(0, 3);
        for (waiting, sizes) in order {
            assert_eq!(queue.pop(waiting).unwrap(), cluster(sizes));
        }
        assert_eq!(queue.held, 0);
    }
}
