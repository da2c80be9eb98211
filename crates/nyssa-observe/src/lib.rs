//! Observes what this process does: the stages of its work, what it opens and reads, its memory and CPU time.
//!
//! This crate is a layer of `nyssa`, and its interface may change at any time. It knows no format and no protocol.
//!
//! The work is in [stages](stage!), each in one place of the code. While nobody observes them, a stage costs the load of
//! one number (decision 0031). A [`Profiler`] sums them up. A [`Monitor`] writes what the kernel counts for the process.
//! [`IoStats`] count opens and reads. All that is observed is an [`Event`], which a [recording](record) writes to a file.

#![deny(missing_docs, unreachable_pub)]

mod error;
mod event;
mod monitor;
mod profile;
mod reads;
mod recorder;
mod stage;
mod switch;
mod time;

pub use error::{Error, Result};
pub use event::{Event, Pair, Request, RequestFacts, VERSION, parse_events};
pub use monitor::{Monitor, Summary as MonitorSummary, interval, peak_memory, resident_bytes};
pub use profile::{
    ColumnTime, Flame, MemorySampler, MemoryUse, ProfileReport, Profiler, StageTime, ThreadTime,
};
pub use reads::{IoCounts, IoStats, ObservedFile, Opened, RecordedPlan, RecordedWait};
pub use recorder::{Recording, record};
pub use stage::{About, Stage};
pub use time::cpu_time;
