//! What a tree says beside its branches: aliases (`fAliases`), friends (`fFriends`) and the index by
//! which entries of a friend are found (`fTreeIndex`).

use crate::distinct::Distinct;
use crate::error::{Error, Result, ResultExt};
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::values::View;

/// What a tree says beside its branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Names of formulas, in order.
    pub aliases: Vec<Alias>,
    /// Other trees whose branches belong to the same entries, in order.
    pub friends: Vec<Friend>,
    /// How entries of this tree are found when it is a friend, or why that is not known; `None` for
    /// entries of the same number.
    pub index: Option<std::result::Result<Index, String>>,
    /// Number of objects that users added to the tree (`fUserInfo`).
    pub user_objects: usize,
}

/// A name for a formula (`TTree::SetAlias`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name.
    pub name: String,
    /// The formula in ROOT's language.
    pub formula: String,
}

/// Another tree (`TFriendElement`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Friend {
    /// The name that goes before those of its branches: an alias, or the name of the tree; with a number
    /// where an earlier friend is called so.
    pub name: String,
    /// Path of the tree in its file.
    pub tree: String,
    /// The file as it was given to ROOT; `None` for that of the tree whose friend it is.
    pub file: Option<String>,
}

/// The formulas whose values tell entries apart (`TTreeIndex`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The first, such as `run`.
    pub major: String,
    /// The second, such as `event`; `0` when there is none.
    pub minor: String,
}

impl Relations {
    /// Reads those of the tree of a key.
    ///
    /// # Errors
    /// As [`RootFile::object`]; `OutOfSpecification` for lists of something else.
    pub fn load(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let object = file.object(key)?;
        Self::of(object.root()).in_file(file.name()).in_object(&key.path)
    }

    fn of(tree: View<'_>) -> Result<Self> {
        let alias = |alias: View<'_>| {
            Ok(Alias { name: alias.str("fName")?.into(), formula: alias.str("fTitle")?.into() })
        };
        Ok(Self {
            aliases: items(tree, "fAliases")?.into_iter().map(alias).collect::<Result<_>>()?,
            friends: distinct(
                items(tree, "fFriends")?.into_iter().map(friend).collect::<Result<_>>()?,
            ),
            index: index(tree),
            // A list that cannot be read is something, too.
            user_objects: items(tree, "fUserInfo").map_or(1, |objects| objects.len()),
        })
    }

    /// What of it an RNTuple has no place for, in words.
    pub fn left_out(&self) -> Vec<String> {
        let names = |all: Vec<&str>| all.join(", ");
        let aliases: Vec<_> = self.aliases.iter().map(|alias| &*alias.name).collect();
        let friends: Vec<_> = self.friends.iter().map(|friend| &*friend.name).collect();
        let mut out = Vec::new();
        if !aliases.is_empty() {
            out.push(format!("the aliases of the tree are left out: {}", names(aliases)));
        }
        if !friends.is_empty() {
            out.push(format!("the friends of the tree are left out: {}", names(friends)));
        }
        if self.index.is_some() {
            out.push("the index of the tree is left out".to_owned());
        }
        if self.user_objects > 0 {
            let count = self.user_objects;
            out.push(format!("the user information of the tree is left out: {count} objects"));
        }
        out
    }

    /// The aliases as pairs of name and formula.
    pub fn formulas(&self) -> Vec<(String, String)> {
        let pair = |alias: &Alias| (alias.name.clone(), alias.formula.clone());
        self.aliases.iter().map(pair).collect()
    }
}

/// The objects of a list that old trees do not have, and most leave out.
fn items<'a>(tree: View<'a>, name: &str) -> Result<Vec<View<'a>>> {
    if tree.get(name).is_none() {
        return Ok(Vec::new());
    }
    match tree.view(name)? {
        Some(list) => Ok(list.items()?.into_iter().flatten().collect()),
        None => Ok(Vec::new()),
    }
}

fn friend(element: View<'_>) -> Result<Friend> {
    let (name, tree) = (element.str("fName")?, element.str("fTreeName")?);
    let file = element.str("fTitle")?;
    // Without an alias the name is the path of the tree, and its branches go by its last part.
    let name = if name == tree { tree.rsplit('/').next().unwrap_or(tree) } else { name };
    Ok(Friend {
        name: name.to_owned(),
        tree: tree.to_owned(),
        file: (!file.is_empty()).then(|| file.to_owned()),
    })
}

/// Friends of one name get numbers, as branches of one name do.
fn distinct(mut friends: Vec<Friend>) -> Vec<Friend> {
    let names: Vec<String> = friends.iter().map(|friend| friend.name.clone()).collect();
    let mut distinct = Distinct::reserving(names);
    for friend in &mut friends {
        friend.name = distinct.give(&friend.name, true);
    }
    friends
}

fn index(tree: View<'_>) -> Option<std::result::Result<Index, String>> {
    tree.get("fTreeIndex")?;
    let read = || {
        let Some(index) = tree.view("fTreeIndex")? else { return Ok(None) };
        let formula = |name: &str| index.str(name).map(str::to_owned);
        Ok(Some(Index { major: formula("fMajorName")?, minor: formula("fMinorName")? }))
    };
    // Other classes of index say nothing that nyssa knows.
    read().map_err(|error: Error| error.message().to_owned()).transpose()
}
