//! Defines the table of requests under way, with the threads that wait for their answers.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use super::Answer;
use crate::failure::Failure;

/// The requests under way, by stream id.
#[derive(Default)]
pub(super) struct Table {
    slots: HashMap<u16, Option<Slot>>,
    last: u16,
    /// The reason why nothing more can be sent.
    pub broken: Option<Failure>,
    /// The number of files that are open.
    pub files: usize,
}

/// One request under way.
pub(super) struct Slot {
    pub sender: Sender<Answer>,
    pub sent: Instant,
    /// Whether no other request was under way when it was sent.
    pub alone: bool,
    /// The time when its answer began.
    pub begun: Option<Instant>,
    /// The number of bytes that its answer may have.
    pub room: u64,
    /// The parts that were received.
    pub body: Vec<u8>,
    pub parts: Vec<(u64, usize)>,
    /// Whether the server has said that the answer will take some time.
    pub deferred: bool,
}

impl Table {
    /// Adds a new request. Returns its stream id and the receiver of its answer.
    pub(super) fn add(&mut self, room: u64) -> Option<(u16, Receiver<Answer>)> {
        if self.slots.len() >= usize::from(u16::MAX) {
            return None;
        }
        // Stream 0 belongs to the handshake.
        loop {
            self.last = self.last.wrapping_add(1);
            if self.last != 0 && !self.slots.contains_key(&self.last) {
                break;
            }
        }
        let (sender, receiver) = channel();
        let (body, parts, deferred) = (Vec::new(), Vec::new(), false);
        let (sent, alone, begun) = (Instant::now(), self.slots.is_empty(), None);
        let slot = Slot { sender, sent, alone, begun, room, body, parts, deferred };
        self.slots.insert(self.last, Some(slot));
        Some((self.last, receiver))
    }

    /// Takes a slot out of the table, to fill it. Its stream id stays in use.
    pub(super) fn take(&mut self, stream: u16) -> Option<Slot> {
        self.slots.get_mut(&stream)?.take()
    }

    /// Puts a slot back, because more parts will follow.
    pub(super) fn put_back(&mut self, stream: u16, slot: Slot) {
        if self.broken.is_none() {
            self.slots.insert(stream, Some(slot));
        }
    }

    /// Frees a stream id.
    pub(super) fn free(&mut self, stream: u16) {
        self.slots.remove(&stream);
    }

    /// Returns whether no request waits for an answer.
    pub(super) fn is_idle(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns whether an answer is being read.
    pub(super) fn is_filling(&self) -> bool {
        self.slots.values().any(Option::is_none)
    }

    /// Returns the time at which the oldest request was sent whose answer is not deferred.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let slots = self.slots.values().flatten();
        slots.filter(|slot| !slot.deferred).map(|slot| slot.sent).min()
    }

    /// Ends all requests. The first reason stays.
    pub(super) fn end(&mut self, failure: Failure) -> Failure {
        // A thread that waits sees that its sender is gone, and reads the reason.
        let failure = self.broken.get_or_insert(failure).clone();
        self.slots.clear();
        failure
    }
}
