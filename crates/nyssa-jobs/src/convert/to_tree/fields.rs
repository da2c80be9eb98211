//! Walks through the fields of an RNTuple, down to the fields that become columns of a tree.

use std::collections::HashMap;

use globset::GlobMatcher;
use nyssa_rntuple::schema::{BACKING_PREFIX, Field, FieldId, Schema, Structure};
use nyssa_ttree::write::{self, Described};

use super::restored::Restored;
use crate::kept_tree::BranchFacts;

/// A field that becomes a column, and the fields above it.
#[derive(Clone, Debug)]
pub(super) struct FieldChain {
    /// The fields from the top-level field down to this field.
    pub ids: Vec<FieldId>,
    /// The path by which the field is read, such as `jets.pt`.
    pub path: String,
    /// The name of the branch, such as `jets_pt`.
    pub branch: String,
    /// The reason why a tree cannot hold the values.
    pub refused: Option<String>,
    /// The type of objects of a class, or of a collection of a class, as ROOT spells it.
    pub class: Option<String>,
}

/// The walk through the fields of a schema.
pub(super) struct Fields<'a> {
    pub schema: &'a Schema,
    /// The records that stay whole, by the names of their branches.
    pub leaf_lists: &'a [GlobMatcher],
    /// The branches that top-level fields were, with their places in the tree and their paths.
    pub kept: HashMap<&'a str, (usize, &'a str, &'a BranchFacts)>,
    /// The classes that stay whole: their objects become branches of the class. `None` opens all classes.
    pub classes: Option<&'a Described>,
    /// The classes of top-level fields that were branches of classes.
    pub restored: HashMap<String, Restored>,
    /// Whether the members of objects become branches of their own, whose names need the name of the field.
    pub split: bool,
}

impl<'a> Fields<'a> {
    /// Returns the place, the path and the facts of the branch that a field was.
    pub(super) fn kept(&self, ids: &[FieldId]) -> Option<(usize, &'a str, &'a BranchFacts)> {
        let &[id] = ids else { return None };
        self.kept.get(self.schema.field(id).name.as_str()).copied()
    }

    /// Returns the class and the branch that a top-level field gets again.
    pub(super) fn restored(&self, ids: &[FieldId]) -> Option<&Restored> {
        let &[id] = ids else { return None };
        self.restored.get(&self.schema.field(id).name)
    }

    /// Returns the columns of a top-level field.
    pub(super) fn below(&self, top: FieldId) -> Vec<FieldChain> {
        let mut chains = Vec::new();
        self.walk(&mut vec![top], &mut chains);
        chains
    }

    fn walk(&self, ids: &mut Vec<FieldId>, chains: &mut Vec<FieldChain>) {
        let Some(&id) = ids.last() else { return };
        let field = self.schema.field(id);
        let chain = |refused| FieldChain {
            ids: ids.clone(),
            path: self.path(ids),
            branch: self.branch(ids),
            refused,
            class: None,
        };
        if let Some(class) = self.class(ids) {
            let mut own = chain(None);
            let restored = self.restored(ids);
            if let Some(restored) = restored {
                own.branch.clone_from(&restored.branch);
            } else if self.split
                && field.structure == Structure::Record
                && !own.branch.ends_with('.')
            {
                own.branch.push('.');
            }
            chains.push(FieldChain { class: Some(class), ..own });
            return;
        }
        if let Some(reason) = refusal(field) {
            let opened = self.restored(ids).and_then(|restored| restored.opened.as_ref());
            let reason = match opened {
                Some(opened) => format!("{reason}: {opened}"),
                None => reason,
            };
            chains.push(chain(Some(reason)));
            return;
        }
        let is_record = field.structure == Structure::Record;
        if is_record && field.children.is_empty() {
            if is_base(&field.name) {
                return;
            }
            chains.push(chain(Some("a TTree cannot hold a record without members".to_owned())));
            return;
        }
        let whole = is_record && self.is_leaf_list(ids);
        if !whole && self.is_made_of_records(id) {
            for &child in &field.children {
                ids.push(child);
                self.walk(ids, chains);
                ids.pop();
            }
            return;
        }
        chains.push(chain(self.refusal_below(id)));
    }

    /// Returns the type of a field that stays whole: objects of a class that the file describes, or collections of them.
    fn class(&self, ids: &[FieldId]) -> Option<String> {
        let (&id, above) = ids.split_last()?;
        let field = self.schema.field(id);
        let alone = above.iter().all(|&id| !is_list(self.schema.field(id)));
        let objects = matches!(field.structure, Structure::Record | Structure::Collection);
        // The base class of a class that is opened is opened, too.
        let named = !field.type_name.is_empty() && !is_base(&field.name);
        let classes = self.classes?;
        // Numbers and strings in containers have a form, but no class.
        let restored =
            self.restored(&ids[..1]).filter(|item| item.class.is_some() || item.kept.is_none());
        if let Some(restored) = restored {
            return restored.class.clone().filter(|_| above.is_empty());
        }
        if !objects || !alone || !named || field.source.is_some() {
            return None;
        }
        classes.class_of(&field.type_name).ok()
    }

    /// Returns whether a field is a record, or has records as items.
    fn is_made_of_records(&self, id: FieldId) -> bool {
        let field = self.schema.field(id);
        let item = is_list(field).then(|| field.children.first()).flatten();
        field.structure == Structure::Record
            || item.is_some_and(|&item| {
                self.is_made_of_records(item) || refusal(self.schema.field(item)).is_some()
            })
    }

    fn is_leaf_list(&self, ids: &[FieldId]) -> bool {
        let branch = self.branch(ids);
        let single = ids.iter().all(|&id| !is_list(self.schema.field(id)));
        let was_one = self.kept(ids).is_some_and(|(.., branch)| branch.leaves.len() > 1);
        single && (was_one || self.leaf_lists.iter().any(|glob| glob.is_match(&branch)))
    }

    /// Returns the reason why the values of a field or of its subfields cannot be held.
    fn refusal_below(&self, id: FieldId) -> Option<String> {
        let field = self.schema.field(id);
        let below = || field.children.iter().find_map(|&child| self.refusal_below(child));
        refusal(field).or_else(below)
    }

    /// Returns the number of collections in a chain and below it. Strings do not count.
    pub(super) fn depth(&self, chain: &FieldChain) -> usize {
        let above = chain.ids.iter().filter(|&&id| self.is_collection(id)).count();
        let mut below = 0;
        let mut open = chain.ids.last().map(|&id| &self.schema.field(id).children);
        while let Some(&[child]) = open.map(Vec::as_slice) {
            below += usize::from(self.is_collection(child));
            open = Some(&self.schema.field(child).children);
        }
        above + below
    }

    /// Returns the outermost collection of a chain.
    pub(super) fn collection(&self, chain: &FieldChain) -> Option<FieldId> {
        chain.ids.iter().copied().find(|&id| self.is_collection(id))
    }

    fn is_collection(&self, id: FieldId) -> bool {
        self.schema.field(id).structure == Structure::Collection
    }

    /// Returns the path without the items of lists.
    pub(super) fn path(&self, ids: &[FieldId]) -> String {
        self.named(ids).collect::<Vec<_>>().join(".")
    }

    /// Returns the name of the branch: the names of the path. Bases of classes, and collections that exist only for
    /// projected fields, do not name their members. Fields that were branches with dots have colons; they become dots
    /// again. Other characters that a branch name cannot have become `_`.
    pub(super) fn branch(&self, ids: &[FieldId]) -> String {
        if let Some((_, path, _)) = self.kept(ids)
            && write::is_old_name(path)
        {
            return path.to_owned();
        }
        let top = ids.first().map(|&id| self.schema.field(id));
        let hidden = top.is_some_and(is_backing) && self.named(ids).count() > 1;
        let mut branch = String::new();
        for name in self.named(ids).skip(usize::from(hidden)).filter(|name| !is_base(name)) {
            if !branch.is_empty() && !branch.ends_with('.') {
                branch.push('_');
            }
            branch.extend(name.chars().map(|character| match character {
                ':' => '.',
                other if write::is_reserved(other) => '_',
                other => other,
            }));
        }
        branch
    }

    fn named<'s>(&'s self, ids: &'s [FieldId]) -> impl Iterator<Item = &'s str> {
        let above = std::iter::once(None).chain(ids.iter().copied().map(Some));
        let named = ids
            .iter()
            .zip(above)
            .filter(|(_, above)| !above.is_some_and(|above| is_list(self.schema.field(above))));
        named.map(|(&id, _)| self.schema.field(id).name.as_str())
    }
}

/// Returns whether the only subfield is the type of the items.
fn is_list(field: &Field) -> bool {
    field.structure == Structure::Collection || field.array_size.is_some()
}

/// Returns whether a name is the name of a base class (specification, "User-defined classes").
pub(super) fn is_base(name: &str) -> bool {
    name.starts_with(":_")
}

/// Returns whether a collection exists only to hold the data of projected fields.
pub(super) fn is_backing(field: &Field) -> bool {
    field.type_name.is_empty() && field.name.starts_with(BACKING_PREFIX)
}

/// Returns the reason why a tree cannot hold values of this kind.
fn refusal(field: &Field) -> Option<String> {
    let name = &field.type_name;
    if name.starts_with("std::optional<") || name.starts_with("std::unique_ptr<") {
        return Some(format!(
            "values of type {name} may be missing, and a TTree has no missing values"
        ));
    }
    match field.structure {
        Structure::Variant => {
            Some(format!("a branch has values of one type, not of several as {name}"))
        }
        Structure::Streamer => {
            Some(format!("nyssa does not write the streamed objects of {name} to a TTree"))
        }
        Structure::Unknown(code) => Some(format!("its structural role {code} is not known")),
        _ => None,
    }
}
