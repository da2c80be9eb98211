//! Makes rows of texts of a kept tree, and reads them again. The rows are in a file, which may claim anything.

use nyssa_root::error::{Error, Result};
use nyssa_ttree::stored::PlainObject;
use nyssa_ttree::{Alias, FriendElement, Index};
use serde::{Deserialize, Serialize};

use super::{BranchFacts, KeptTree, TreeFacts};

/// The version of the rows. A reader refuses other versions.
const VERSION: &str = "1";

/// One row of the attribute set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    /// The kind of the fact: an alias, a friend, a branch and so on.
    pub kind: String,
    /// The name of the alias, the friend, the branch or the class.
    pub name: String,
    /// A text, or an object of JSON.
    pub value: String,
    /// The bytes of an object.
    pub data: Vec<u8>,
}

/// The text of a friend.
#[derive(Serialize, Deserialize)]
struct FriendText {
    tree: String,
    file: String,
    class: String,
}

/// The text of an index.
#[derive(Serialize, Deserialize)]
struct IndexText {
    #[serde(flatten)]
    index: Index,
    entries: u64,
}

impl KeptTree {
    /// Returns the rows, in the order in which they are written.
    pub(super) fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = vec![row("version", "", VERSION.to_owned(), &[])];
        rows.push(row("tree", &self.tree.class, text(&self.tree)?, &self.reference_bytes()?));
        for alias in &self.aliases {
            rows.push(row("alias", &alias.name, alias.formula.clone(), &[]));
        }
        for (friend, object) in &self.friends {
            let FriendElement { name, tree, file } = friend.clone();
            let friend = FriendText { tree, file, class: object.class.clone() };
            rows.push(row("friend", &name, text(&friend)?, &object.bytes));
        }
        for object in &self.user_info {
            rows.push(row("user info", &object.class, String::new(), &object.bytes));
        }
        if let Some((index, object)) = &self.index {
            let index = IndexText { index: index.clone(), entries: self.entries };
            rows.push(row("index", &object.class, text(&index)?, &object.bytes));
        }
        for (path, branch) in &self.branches {
            let mut facts = branch.clone();
            names(&mut facts).filter(|name| *name == path).for_each(String::clear);
            rows.push(row("branch", path, text(&facts)?, &branch.form));
        }
        Ok(rows)
    }

    /// Reads rows about `entries` entries. Rows of kinds that are not known are refused.
    ///
    /// # Errors
    /// `Unsupported` for another version; `OutOfSpecification` for rows that nyssa does not write.
    pub(super) fn of_rows(rows: Vec<Row>, entries: u64) -> Result<Self> {
        let mut rows = rows.into_iter();
        match rows.next() {
            Some(row) if row.kind == "version" && row.value == VERSION => {}
            Some(row) if row.kind == "version" => {
                return Err(Error::unsupported(format!(
                    "it has version {:?} of the rows about a TTree, and this nyssa reads version {VERSION}",
                    row.value
                )));
            }
            _ => return Err(Error::out_of_spec("the first row about a TTree is no version")),
        }
        let mut kept = Self { entries, ..Self::default() };
        for row in rows {
            kept.add(row)?;
        }
        Ok(kept)
    }

    fn add(&mut self, row: Row) -> Result<()> {
        let Row { kind, name, value, data: bytes } = row;
        match kind.as_str() {
            "tree" => {
                self.tree = parse::<TreeFacts>(&kind, &name, &value)?;
                self.set_references(&bytes)?;
            }
            "alias" => self.aliases.push(Alias { name, formula: value }),
            "friend" => {
                let FriendText { tree, file, class } = parse(&kind, &name, &value)?;
                self.friends
                    .push((FriendElement { name, tree, file }, PlainObject { class, bytes }));
            }
            "user info" => self.user_info.push(PlainObject { class: name, bytes }),
            "index" => {
                let IndexText { index, entries } = parse(&kind, &name, &value)?;
                // An index of other entries says nothing about these.
                if entries == self.entries {
                    self.index = Some((index, PlainObject { class: name, bytes }));
                }
            }
            "branch" => {
                let mut branch = parse::<BranchFacts>(&kind, &name, &value)?;
                names(&mut branch)
                    .filter(|own| own.is_empty())
                    .for_each(|own| own.clone_from(&name));
                branch.form = bytes;
                self.branches.push((name, branch));
            }
            _ => return Err(Error::out_of_spec(format!("a row about a TTree of kind {kind:?}"))),
        }
        Ok(())
    }
}

/// Returns the names of the field and the leaves of a branch. In a row, a name that is the path of the branch is missing.
fn names(branch: &mut BranchFacts) -> impl Iterator<Item = &mut String> {
    let leaves = branch.leaves.iter_mut().map(|leaf| &mut leaf.name);
    std::iter::once(&mut branch.field).chain(leaves)
}

fn row(kind: &str, name: &str, value: String, data: &[u8]) -> Row {
    Row { kind: kind.to_owned(), name: name.to_owned(), value, data: data.to_vec() }
}

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::invalid_argument(error.to_string()))
}

fn parse<'t, T: Deserialize<'t>>(kind: &str, name: &str, value: &'t str) -> Result<T> {
    let what = || format!("the row about the {kind} {name:?} of a TTree");
    serde_json::from_str(value).map_err(|error| Error::out_of_spec(format!("{}: {error}", what())))
}
