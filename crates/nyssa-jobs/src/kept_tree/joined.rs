//! Joins what several RNTuples keep of their trees, and drops what belongs to fields that are gone.

use nyssa_rntuple::read::Reader;
use nyssa_rntuple::write::Writer;
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;
use nyssa_root::shared_file::SharedFile;
use nyssa_root::streamer::StreamerList;

use super::{BranchFacts, KeptTree};

/// The parts that are compared, with their names in notes.
type ComparedPart = (&'static str, fn(&KeptTree, &KeptTree) -> bool);

const PARTS: [ComparedPart; 5] = [
    ("weight", |a, b| a.tree.weight == b.tree.weight),
    ("aliases", |a, b| a.aliases == b.aliases),
    ("friends", |a, b| a.friends == b.friends),
    ("user information", |a, b| a.user_info == b.user_info),
    ("branches", |a, b| described(a) == described(b)),
];

impl KeptTree {
    /// Returns the names of the parts that differ from the parts of another tree. AutoFlush, the sizes of baskets and the
    /// index differ from file to file, and are not compared.
    fn differences(&self, other: &Self) -> Vec<&'static str> {
        PARTS.iter().filter(|(_, equal)| !equal(self, other)).map(|(name, _)| *name).collect()
    }

    /// Makes this the description of `entries` entries, with the fields that `keeps` accepts. Returns a note if the
    /// index or the table of references is left out. Nothing is left out if `is_whole`: the entries are the entries from before.
    pub(crate) fn narrow(
        &mut self,
        entries: u64,
        is_whole: bool,
        keeps: impl Fn(&str) -> bool,
    ) -> Option<String> {
        self.branches.retain(|(_, branch)| keeps(&branch.field));
        self.entries = entries;
        if is_whole {
            return None;
        }
        let parts = [
            ("the index", self.index.take().is_some()),
            ("the table of references (TBranchRef)", self.remove_references()),
        ];
        let parts: Vec<_> =
            parts.iter().filter(|(_, is_gone)| *is_gone).map(|(part, _)| *part).collect();
        (!parts.is_empty()).then(|| {
            format!(
                "{} of the TTree from which the data come is left out: it is for other entries",
                parts.join(", and ")
            )
        })
    }

    /// Returns whether there are objects among the facts, whose classes a file has to describe.
    fn has_objects(&self) -> bool {
        self.index.is_some() || !self.friends.is_empty() || !self.user_info.is_empty()
    }

    /// Writes the facts, with the streamer infos of the file from which they come.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    pub(crate) fn carry(
        &self,
        infos: &StreamerList,
        file: &SharedFile,
        writer: &mut Writer,
        context: &Context,
    ) -> Result<()> {
        if self.has_objects() {
            file.add_streamer_infos(infos)?;
        }
        self.write(writer, context)
    }
}

/// Returns what the branches say, without the sizes of baskets.
fn described(kept: &KeptTree) -> Vec<(&str, BranchFacts)> {
    let without_size = |branch: &BranchFacts| BranchFacts { basket_size: 0, ..branch.clone() };
    kept.branches.iter().map(|(path, branch)| (path.as_str(), without_size(branch))).collect()
}

/// The facts about the inputs of a merge: the facts of the first input, with the branches that the others add.
#[derive(Default)]
pub(crate) struct JoinedTrees {
    first: Option<First>,
    /// Whether the same number may name another process in another input.
    has_other_processes: bool,
    notes: Vec<String>,
}

struct First {
    kept: KeptTree,
    file: String,
    infos: StreamerList,
}

impl JoinedTrees {
    /// Adds what the RNTuple of an input keeps.
    ///
    /// # Errors
    /// `OutOfSpecification` for a description that nyssa does not write; an error if it cannot be read.
    pub(crate) fn add(&mut self, file: &RootFile, reader: &Reader) -> Result<()> {
        let (kept, note) = KeptTree::of_known(reader)?;
        self.notes.extend(note.map(|note| format!("{}: {note}", file.name())));
        let Some(kept) = kept else {
            self.has_other_processes = true;
            return Ok(());
        };
        let Some(first) = &mut self.first else {
            let (file, infos) = (file.name().to_owned(), file.streamer_list()?);
            self.first = Some(First { kept, file, infos });
            return Ok(());
        };
        let differences = first.kept.differences(&kept);
        if !differences.is_empty() {
            self.notes.push(format!(
                "{}: the {} of its TTree differ from {}, which gives the output its own",
                file.name(),
                differences.join(", "),
                first.file
            ));
        }
        self.has_other_processes |= first.kept.tree.process != kept.tree.process;
        let known = |path: &str| first.kept.branches.iter().any(|(known, _)| known == path);
        let new: Vec<_> = kept.branches.into_iter().filter(|(path, _)| !known(path)).collect();
        first.kept.branches.extend(new);
        Ok(())
    }

    /// Writes the description of the joined trees for the RNTuple of `writer`, which has `entries` entries. Returns
    /// notes.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    pub(crate) fn write(
        mut self,
        entries: u64,
        file: &SharedFile,
        writer: &mut Writer,
        context: &Context,
    ) -> Result<Vec<String>> {
        let Some(First { mut kept, infos, .. }) = self.first else { return Ok(self.notes) };
        if self.has_other_processes && kept.tree.process.take().is_some() {
            self.notes.push(
                "references between objects (TRef) cannot become references of a TTree again, because the inputs have \
                 other processes (TProcessID)"
                    .to_owned(),
            );
        }
        let fields: Vec<String> =
            writer.schema().top_level().map(|(_, field)| field.name.clone()).collect();
        let is_whole = kept.entries == entries;
        let keeps = |name: &str| fields.iter().any(|field| field == name);
        self.notes.extend(kept.narrow(entries, is_whole, keeps));
        kept.carry(&infos, file, writer, context)?;
        Ok(self.notes)
    }
}
