//! Computes digests of the values that a conversion reads. [`crate::compare::digest`] computes equal digests from the
//! tree and from the RNTuple.
//!
//! Threads read the clusters of a unit in any order. Each thread waits until the values of earlier clusters are
//! added, and then adds its values. Earlier clusters never wait for later clusters, so no thread waits for ever.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use arrow_schema::DataType;

use super::counters::needed;
use super::model::{FieldMap, OutputField, Source};
use super::unit::{Data, Units};
use crate::compare::digest::ColumnHasher;

/// The digests of all units.
pub(super) struct Digests {
    digests: Vec<UnitDigest>,
    stopped: AtomicBool,
}

/// The digest of one unit.
struct UnitDigest {
    state: Mutex<PartialDigest>,
    turn: Condvar,
}

struct PartialDigest {
    /// The cluster whose values are added next.
    cluster: usize,
    /// The current digest, or `None` for values that have no digest.
    column: Option<ColumnHasher>,
}

impl Digests {
    /// Makes digests without values.
    pub(super) fn new(units: &Units<'_>) -> Self {
        let digest = |unit| {
            let column =
                units.data_type(unit).and_then(|data_type| ColumnHasher::new(&data_type).ok());
            UnitDigest {
                state: Mutex::new(PartialDigest { cluster: 0, column }),
                turn: Condvar::new(),
            }
        };
        Self { digests: units.units.iter().map(digest).collect(), stopped: AtomicBool::new(false) }
    }

    /// Adds the values that unit number `unit` read in a cluster, after the values of earlier clusters.
    pub(super) fn add(&self, unit: usize, cluster: usize, data: &Data) {
        let Some(digest) = self.digests.get(unit) else { return };
        let _stage = nyssa_observe::stage!("digest");
        let mut state = digest.lock();
        while state.cluster != cluster && !self.stopped.load(Ordering::Acquire) {
            state = digest.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(column) = &mut state.column {
            let added = match data {
                Data::Array(array) => column.add(array),
                Data::Streamed { objects: Some(objects), .. } => column.add(objects),
                Data::Streamed { objects: None, .. } => {
                    state.column = None;
                    Ok(())
                }
                Data::Offsets(offsets) => {
                    column.add_lengths(offsets);
                    Ok(())
                }
            };
            if added.is_err() {
                state.column = None;
            }
        }
        state.cluster = cluster + 1;
        digest.turn.notify_all();
    }

    /// Ends all waiting, because the values of a cluster will not be added.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        for digest in &self.digests {
            // With the lock, every thread that has seen the old value of the flag is already waiting.
            drop(digest.lock());
            digest.turn.notify_all();
        }
    }

    /// Returns the digests of the branches, in the order of their fields.
    pub(super) fn fields(&self, units: &Units<'_>, fields: &[FieldMap]) -> Vec<Option<String>> {
        let by_field: HashMap<_, _> =
            units.units.iter().zip(&self.digests).map(|pair| (pair.0.field, pair)).collect();
        let offsets: HashMap<_, _> = units
            .units
            .iter()
            .zip(&self.digests)
            .filter_map(|(unit, digest)| match &unit.source {
                Source::Offsets(counter) => Some((counter, digest)),
                _ => None,
            })
            .collect();
        let digest = |field: &FieldMap| {
            let &(unit, unit_digest) = by_field.get(&field.physical)?;
            let column = unit_digest.lock().column.clone()?;
            let column = match unit.source {
                Source::Items(_) => {
                    let lengths = offsets.get(needed(units.inputs, unit)?)?;
                    ColumnHasher::list(lengths.lock().column.as_ref()?, &column)
                }
                // A counter of a leaf list is a part of a branch.
                Source::Offsets(_) if !field.readable => return None,
                _ => column,
            };
            Some(column.digest())
        };
        fields.iter().map(digest).collect()
    }
}

impl UnitDigest {
    fn lock(&self) -> MutexGuard<'_, PartialDigest> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Units<'_> {
    /// Returns the type as which a unit reads, or `None` if its branch reads as another type.
    fn data_type(&self, unit: &OutputField) -> Option<DataType> {
        let branch = |index: usize| self.inputs.get(index)?.branch.data_type().ok();
        match unit.source {
            Source::Branch(index) => branch(index),
            Source::Streamed(index) if self.is_apart(index) => None,
            Source::Streamed(index) => branch(index),
            Source::Items(index) => match branch(index)? {
                DataType::LargeList(item) => Some(item.data_type().clone()),
                _ => None,
            },
            Source::Offsets(_) => Some(DataType::Int64),
        }
    }
}
