//! Decides which classes the branches of a tree get that was a tree before: those that it had, if their objects can be
//! written so; or the classes of the fields; or none, so that the members become branches.

use std::collections::{HashMap, HashSet};

use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::Reader;
use nyssa_ttree::write::{ColumnOptions, Described, TreeWriteOptions, branches_of};

use crate::kept_tree::{BranchFacts, KeptTree, names_hash};

/// The class of a top-level field, and the name of its branch.
#[derive(Clone, Debug)]
pub(super) struct Restored {
    /// The class or container, as ROOT spells it. `None` opens it.
    pub class: Option<String>,
    /// The name of the branch.
    pub branch: String,
    /// How deep its objects are split; `None` means the level of the tree.
    pub split_level: Option<u32>,
}

/// The classes of top-level fields that were branches of classes, by the names of the fields.
#[derive(Debug, Default)]
pub(super) struct RestoredClasses {
    pub by_field: HashMap<String, Restored>,
    /// Notes on the differences from the original branches.
    pub notes: Vec<String>,
}

impl RestoredClasses {
    /// Decides for all fields of `reader`. `tree` has the classes that its file describes.
    pub(super) fn new(reader: &Reader, kept: &KeptTree, tree: &TreeWriteOptions) -> Self {
        let mut this = Self::default();
        let Some(classes) = tree.described.as_deref() else { return this };
        let mut search = Search { reader, tree, classes, taken: HashSet::new() };
        let objects = |(_, branch): &&(String, BranchFacts)| branch.names.is_some();
        let (of_class, others): (Vec<_>, Vec<_>) = kept.branches.iter().partition(objects);
        search.taken.extend(others.iter().map(|(path, _)| path.clone()));
        for (path, branch) in of_class {
            let (restored, note) = search.restore(path, branch);
            this.notes.extend(note.map(|note| format!("{path}: {note}")));
            this.by_field.insert(branch.field.clone(), restored);
        }
        this
    }
}

struct Search<'a> {
    reader: &'a Reader,
    tree: &'a TreeWriteOptions,
    classes: &'a Described,
    /// The names of the branches that the tree has already.
    taken: HashSet<String>,
}

impl Search<'_> {
    fn restore(&mut self, path: &str, branch: &BranchFacts) -> (Restored, Option<String>) {
        let was = &branch.class;
        if branch.own_streamer {
            return opened(path, branch, "the class streams its objects by code of its own");
        }
        let own = self.classes.check_type(was).map(|()| was.clone());
        let own = own.map_err(|error| error.message().to_owned());
        let reason = match own.and_then(|class| self.named(path, &class, branch)) {
            Ok((name, names)) => {
                // Without a dictionary, ROOT leaves some objects whole that it could split.
                let whole = BranchFacts { split_level: Some(0), ..branch.clone() };
                let unsplit = self.named(path, was, &whole).ok();
                let is_other = branch.split_level.is_some() && hash(&names) != branch.names;
                let unsplit = unsplit.filter(|(_, item)| is_other && hash(item) == branch.names);
                let split_level = unsplit.as_ref().map_or(branch.split_level, |_| Some(0));
                let (name, names) = unsplit.unwrap_or((name, names));
                let note = self.note((path, &name), &names, branch);
                self.taken.extend(names);
                let class = Some(was.clone());
                return (Restored { class, branch: name, split_level }, note);
            }
            Err(reason) => reason,
        };
        let field = self.reader.schema().top_level().find(|(_, field)| field.name == branch.field);
        let class = field.and_then(|(_, field)| self.classes.class_of(&field.type_name).ok());
        let split_level = branch.split_level;
        let found = class.and_then(|class| Some((self.named(path, &class, branch).ok()?, class)));
        match found {
            Some(((branch, names), class)) => {
                self.taken.extend(names);
                let note = format!("it was a {was}, and is a {class}: {reason}");
                (Restored { class: Some(class), branch, split_level }, Some(note))
            }
            None => opened(path, branch, &reason),
        }
    }

    /// Returns the name of the branch, with a dot where the names of its members are taken otherwise, and the names of
    /// all its branches.
    fn named(
        &self,
        path: &str,
        class: &str,
        branch: &BranchFacts,
    ) -> Result<(String, Vec<String>), String> {
        let names = self.branches(path, class, branch)?;
        if !names.iter().any(|name| self.taken.contains(name)) {
            return Ok((path.to_owned(), names));
        }
        let dotted = format!("{path}.");
        let names = self.branches(&dotted, class, branch)?;
        Ok((dotted, names))
    }

    fn branches(
        &self,
        name: &str,
        class: &str,
        branch: &BranchFacts,
    ) -> Result<Vec<String>, String> {
        let column = self.reader.find_column(&branch.field);
        let column = column.ok_or_else(|| format!("there is no field {}", branch.field))?;
        let arrow = column.field.clone()?.with_name(name);
        let options = ColumnOptions {
            class: Some(class.to_owned()),
            split_level: branch.split_level,
            ..ColumnOptions::default()
        };
        let alone = TreeWriteOptions {
            columns: HashMap::from([(name.to_owned(), options)]),
            described: self.tree.described.clone(),
            split_level: self.tree.split_level,
            ..TreeWriteOptions::default()
        };
        branches_of(&arrow, &alone).map_err(|error| error.message().to_owned())
    }

    /// Returns a note on the differences of a branch that has its class again from the original branch.
    fn note(
        &self,
        (path, name): (&str, &str),
        names: &[String],
        branch: &BranchFacts,
    ) -> Option<String> {
        if path != name {
            return Some(format!(
                "it is called {name} now, because its members would have the names of other branches"
            ));
        }
        (hash(names) != branch.names && branch.split_level.is_some()).then(|| {
            format!("its {} objects are split into other branches than before", branch.class)
        })
    }
}

/// Makes the members of objects branches of their own, for a reason.
fn opened(path: &str, branch: &BranchFacts, reason: &str) -> (Restored, Option<String>) {
    let note = format!("it was a {}, whose members are branches now: {reason}", branch.class);
    let split_level = branch.split_level;
    (Restored { class: None, branch: path.to_owned(), split_level }, Some(note))
}

fn hash(names: &[String]) -> Option<String> {
    Some(names_hash(names.iter().map(String::as_str)))
}
