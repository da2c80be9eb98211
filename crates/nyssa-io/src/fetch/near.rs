//! Fetches units of a near source. The thread that requests a unit reads it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use nyssa_observe::RecordedPlan;

use super::requests::Requests;
use super::{Failed, Fetched, check_unit, request, too_few};
use crate::{Limits, Result, Source};

/// A reader of units at the time when they are requested.
pub(super) struct Near {
    source: Arc<dyn Source>,
    limits: Limits,
    units: Vec<Vec<Range<u64>>>,
    next: AtomicUsize,
    stopped: AtomicBool,
    recorded: Option<RecordedPlan>,
}

impl Near {
    pub(super) fn new(
        source: Arc<dyn Source>,
        limits: Limits,
        units: Vec<Vec<Range<u64>>>,
        recorded: Option<RecordedPlan>,
    ) -> Self {
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { source, limits, units, next, stopped, recorded }
    }

    pub(super) fn next(&self) -> Option<std::result::Result<Fetched, Failed>> {
        self.take(self.next.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn take(&self, unit: usize) -> Option<std::result::Result<Fetched, Failed>> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let read = self.read(self.units.get(unit)?);
        Some(match read {
            Ok(bytes) => Ok(Fetched { unit, bytes, _held: None, wait: None }),
            Err(error) => {
                self.stop();
                Err(Failed { unit, error })
            }
        })
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn read(&self, unit: &Vec<Range<u64>>) -> Result<Vec<Bytes>> {
        check_unit(self.source.as_ref(), unit)?;
        let plan = Requests::of(std::slice::from_ref(unit), &self.limits, u64::MAX, u64::MAX);
        let mut answers = Vec::with_capacity(plan.requests.len());
        for item in &plan.requests {
            let make = || request(self.source.as_ref(), item);
            answers.push(self.recorded.as_ref().map_or_else(make, |plan| plan.requesting(make))?);
        }
        let bytes = plan.bytes(0, |request| answers.get(request).map(Vec::as_slice));
        bytes.ok_or_else(|| too_few(self.source.name()))
    }
}
