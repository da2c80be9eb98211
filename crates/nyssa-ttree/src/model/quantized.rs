//! Finds the numbers of a branch that are stored as integers (`Float16_t` and `Double32_t` with a range).

use nyssa_root::streamer::Quantization;

use super::{Branch, EntryKind, EntryLayout, Split, SplitMember};

impl Branch {
    /// Returns how each number is quantized, in the order of the Arrow type. Strings and bytes count as numbers. The
    /// result is empty if the branch cannot be read.
    pub fn quantizations(&self) -> Vec<Option<Quantization>> {
        if let Some(split) = &self.split {
            return of_split(&self.branches, split);
        }
        match EntryLayout::of(self) {
            Ok(EntryLayout { kind: EntryKind::Streamed(streamed), .. }) => {
                streamed.layout.quantizations()
            }
            Ok(layout) => vec![None; layout.members.len()],
            Err(_) => Vec::new(),
        }
    }
}

fn of_split(branches: &[Branch], split: &Split) -> Vec<Option<Quantization>> {
    let of_member = |(_, member): &(String, SplitMember)| match member {
        SplitMember::Inside(inside) => of_split(branches, inside),
        SplitMember::Branch(path) => {
            let branch = branches.iter().find(|branch| branch.path == *path);
            branch.map_or_else(Vec::new, Branch::quantizations)
        }
    };
    split.members.iter().flat_map(of_member).collect()
}
