//! Decides which branches a tree gets that was a tree before: its old branches, if their objects can be written so; or
//! branches of their classes, or of the classes of the fields; or none, so that the members become branches.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::Reader;
use nyssa_ttree::write::{ColumnOptions, Described, KeptBranch, TreeWriteOptions, branches_of};

use crate::kept_tree::{BranchFacts, KeptTree};

/// The class of a top-level field, and the name of its branch.
#[derive(Clone, Debug, Default)]
pub(super) struct Restored {
    /// The class or container, as ROOT spells it. `None` opens it.
    pub class: Option<String>,
    /// The name of the branch.
    pub branch: String,
    /// How deep its objects are split; `None` means the level of the tree.
    pub split_level: Option<u32>,
    /// The form that the branch had.
    pub kept: Option<Arc<KeptBranch>>,
    /// The reason why its members become branches.
    pub opened: Option<String>,
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
        let objects = |(_, branch): &&(String, BranchFacts)| {
            branch.split_level.is_some() || !branch.form.is_empty()
        };
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
        let kept = self.kept(path, branch);
        let reason = match kept {
            Ok((kept, names)) => {
                self.taken.extend(names);
                let class = branch.split_level.map(|_| was.clone());
                let kept = Some(kept);
                return (
                    Restored { class, branch: path.to_owned(), kept, ..Restored::default() },
                    None,
                );
            }
            Err(reason) => reason,
        };
        if branch.split_level.is_none() {
            return (Restored { branch: path.to_owned(), ..Restored::default() }, None);
        }
        if branch.own_streamer {
            return opened(path, branch, "the class streams its objects by code of its own");
        }
        let own = self.classes.check_type(was).map(|()| was.clone());
        let own = own.map_err(|error| error.message().to_owned());
        let split_level = branch.split_level;
        let restored = |class, branch| Restored {
            class: Some(class),
            branch,
            split_level,
            ..Restored::default()
        };
        let refused = match own.and_then(|class| self.named(path, &class, branch)) {
            Ok((name, names)) => {
                let note = match (path == name, reason) {
                    (false, _) => Some(format!(
                        "it is called {name} now, because its members would have the names of other branches"
                    )),
                    (true, reason) => reason.map(|reason| {
                        format!("its {was} objects may be split into other branches than before: {reason}")
                    }),
                };
                self.taken.extend(names);
                return (restored(was.clone(), name), note);
            }
            Err(refused) => refused,
        };
        let reason = reason.unwrap_or(refused);
        let field = self.reader.schema().top_level().find(|(_, field)| field.name == branch.field);
        let class = field.and_then(|(_, field)| self.classes.class_of(&field.type_name).ok());
        let named = class.and_then(|class| Some((self.named(path, &class, branch).ok()?, class)));
        match named {
            Some(((branch, names), class)) => {
                self.taken.extend(names);
                let note = format!("it was a {was}, and is a {class}: {reason}");
                (restored(class, branch), Some(note))
            }
            None => opened(path, branch, &reason),
        }
    }

    /// Returns the form that a branch had, and the names of all its branches; or why it cannot have this form again. There
    /// is no reason if the form is not known or not wanted.
    fn kept(
        &self,
        path: &str,
        branch: &BranchFacts,
    ) -> Result<(Arc<KeptBranch>, Vec<String>), Option<String>> {
        if branch.form.is_empty() {
            return Err(None);
        }
        let kept = KeptBranch::of(&branch.form, self.classes.infos());
        let kept = Arc::new(kept.map_err(|error| Some(error.message().to_owned()))?);
        let options = ColumnOptions {
            kept: Some(Arc::clone(&kept)),
            has_old_name: true,
            ..ColumnOptions::default()
        };
        let names = self.branches(path, branch, options).map_err(Some)?;
        Ok((kept, names))
    }

    /// Returns the name of the branch, with a dot where the names of its members are taken otherwise, and the names of
    /// all its branches.
    fn named(
        &self,
        path: &str,
        class: &str,
        branch: &BranchFacts,
    ) -> Result<(String, Vec<String>), String> {
        let options = ColumnOptions {
            class: Some(class.to_owned()),
            split_level: branch.split_level,
            has_old_name: true,
            ..ColumnOptions::default()
        };
        let names = self.branches(path, branch, options.clone())?;
        if !names.iter().any(|name| self.taken.contains(name)) {
            return Ok((path.to_owned(), names));
        }
        let dotted = format!("{path}.");
        let names = self.branches(&dotted, branch, options)?;
        Ok((dotted, names))
    }

    fn branches(
        &self,
        name: &str,
        branch: &BranchFacts,
        options: ColumnOptions,
    ) -> Result<Vec<String>, String> {
        let column = self.reader.find_column(&branch.field);
        let column = column.ok_or_else(|| format!("there is no field {}", branch.field))?;
        let arrow = column.field.clone()?.with_name(name);
        let alone = TreeWriteOptions {
            columns: HashMap::from([(name.to_owned(), options)]),
            described: self.tree.described.clone(),
            split_level: self.tree.split_level,
            process: self.tree.process,
            ..TreeWriteOptions::default()
        };
        branches_of(&arrow, &alone).map_err(|error| error.message().to_owned())
    }
}

/// Makes the members of objects branches of their own, for a reason.
fn opened(path: &str, branch: &BranchFacts, reason: &str) -> (Restored, Option<String>) {
    let note = format!("it was a {}, whose members are branches now: {reason}", branch.class);
    let split_level = branch.split_level;
    let opened = Some(reason.to_owned());
    let restored = Restored { branch: path.to_owned(), split_level, opened, ..Restored::default() };
    (restored, Some(note))
}
