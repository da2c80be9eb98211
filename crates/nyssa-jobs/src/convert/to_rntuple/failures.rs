//! Records failures that appear only when data are read. The conversion then starts again without the branches that
//! failed.

use std::collections::BTreeMap;

use nyssa_data::dataset::LeftOut;
use nyssa_root::error::{Error, Kind};

use super::counters::needed;
use super::model::{Input, OutputField, Source};
use super::streamer::StreamerBranches;
use crate::convert::options::InputOptions;
use crate::convert::report::Skipped;

/// The known failures of the branches of a tree, by index of the inputs.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// The branches that are left out.
    left_out: BTreeMap<usize, Skipped>,
    /// The sub-branches that are left out of their objects.
    members: Vec<LeftOut>,
    /// Counts how often a branch had values that a narrower column cannot store exactly.
    too_narrow: BTreeMap<usize, u16>,
    /// Lists the branches with objects that cannot be streamed.
    not_streamed: BTreeMap<usize, NotStreamed>,
    /// Whether an earlier attempt has reported the memory that is needed.
    pub need_is_said: bool,
}

/// The reason why objects cannot be streamed.
#[derive(Clone, Debug)]
pub(super) struct NotStreamed {
    pub why: String,
    /// Whether the bytes in the file cannot be copied either.
    pub carried: bool,
}

impl Failures {
    /// Returns the reason why a branch is left out, if it is.
    pub(super) fn left_out(&self, input: usize) -> Option<&Skipped> {
        self.left_out.get(&input)
    }

    /// Returns the reason why the objects of a branch cannot be streamed, if it is known.
    pub(super) fn not_streamed(&self, input: usize) -> Option<&NotStreamed> {
        self.not_streamed.get(&input)
    }

    /// Returns the sub-branches that are left out of their objects.
    pub(super) fn members(&self) -> &[LeftOut] {
        &self.members
    }

    /// Returns how often a branch had values that a narrower column cannot store exactly.
    pub(super) fn too_narrow(&self, input: usize) -> u16 {
        self.too_narrow.get(&input).copied().unwrap_or(0)
    }

    /// Adds a branch with values that a narrower column cannot store exactly.
    pub(super) fn add_too_narrow(&mut self, input: usize) {
        *self.too_narrow.entry(input).or_default() += 1;
    }

    /// Adds sub-branches that cannot be read. Returns false if all of them are already known.
    pub(super) fn add_members(&mut self, members: Vec<LeftOut>) -> bool {
        let known = |item: &LeftOut| self.members.iter().any(|other| other.column == item.column);
        let new: Vec<_> = members.into_iter().filter(|member| !known(member)).collect();
        let news = !new.is_empty();
        self.members.extend(new);
        news
    }

    /// Adds a unit that failed. Returns false if this failure is already known.
    pub(super) fn add(
        &mut self,
        inputs: &[Input<'_>],
        streamed_branches: &StreamerBranches,
        unit: &OutputField,
        error: &Error,
    ) -> bool {
        let kind = error.kind();
        let reason = error.brief();
        if let Source::Streamed(index) = unit.source
            && let Some(streamed) = streamed_branches.get(index)
            && unsupported(kind)
            && streamed_branches.has_choice(index)
        {
            let carried = streamed.is_carried();
            let known = self.not_streamed.insert(index, NotStreamed { why: reason, carried });
            return known.is_none_or(|known| known.carried != carried);
        }
        let inputs = inputs.iter().enumerate().filter(|(index, input)| match &unit.source {
            Source::Branch(at) | Source::Items(at) | Source::Streamed(at) => index == at,
            Source::Offsets(counter) => {
                let counted = OutputField { field: unit.field, source: Source::Items(*index) };
                input.path == counter.branch || needed(inputs, &counted) == Some(counter)
            }
        });
        let mut news = false;
        for (index, input) in inputs {
            let (branch, reason) = (input.path.clone(), reason.clone());
            let unreadable = !unsupported(kind);
            let skipped = Skipped { branch, reason, unreadable };
            news |= self.left_out.insert(index, skipped).is_none();
        }
        news
    }
}

/// Returns whether a conversion continues without a unit that failed.
pub(super) fn may_leave_out(
    options: &InputOptions,
    streamed_branches: &StreamerBranches,
    unit: &OutputField,
    error: &Error,
) -> bool {
    let kind = error.kind();
    match unit.source {
        _ if matches!(kind, Kind::Cancelled | Kind::Io | Kind::NotFound) => false,
        Source::Streamed(index) if unsupported(kind) && streamed_branches.has_choice(index) => true,
        _ if unsupported(kind) => options.skip_unsupported,
        _ => options.skip_unreadable,
    }
}

/// Returns whether an error is a limit of nyssa and not a fault of the file.
pub(super) fn unsupported(kind: Kind) -> bool {
    matches!(kind, Kind::Unsupported | Kind::InvalidArgument)
}
