//! Holds the events of a recording.

use nyssa_observe::Event;

/// The events of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The events, mostly in the order of their ends.
    pub events: Vec<Event>,
}

impl Trace {
    /// Returns the seconds from the begin of the recording to its end. Where the end is not recorded, the last event
    /// counts as the end.
    pub fn seconds(&self) -> f64 {
        let end = |event: &Event| match *event {
            Event::End { end, .. } => end,
            Event::Wait { end, released, .. } => end.max(released),
            _ => event.span().map_or(0.0, |(_, _, end)| end),
        };
        self.events.iter().map(end).fold(0.0, f64::max)
    }

    /// Returns whether the end is recorded. It is not if the process was killed, and in recordings of XRootD's client.
    pub fn has_end(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::End { .. }))
    }
}
