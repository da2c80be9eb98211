//! Reads the aliases of a tree (`fAliases`), its friends (`fFriends`), its weight (`fWeight`), and the index that finds
//! its entries when it is a friend (`fTreeIndex`).

use nyssa_root::distinct::Distinct;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::values::View;
use serde::{Deserialize, Serialize};

/// The aliases, friends and index of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relations {
    /// The aliases, in order.
    pub aliases: Vec<Alias>,
    /// The friends, in order.
    pub friends: Vec<Friend>,
    /// The index that finds the entries of this tree when it is a friend, or the reason why it cannot be used.
    /// With `None`, entries with the same number belong together.
    pub index: Option<std::result::Result<Index, String>>,
    /// The weight of each entry (`TTree::SetWeight`), if it is not 1.
    pub weight: Option<f64>,
    /// The number of objects that users added to the tree (`fUserInfo`).
    pub user_objects: usize,
}

/// A name for a formula (`TTree::SetAlias`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The name.
    pub name: String,
    /// The formula in ROOT's language.
    pub formula: String,
}

/// A friend: another tree (`TFriendElement`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Friend {
    /// The prefix of its branches: an alias, or the name of the tree. It has a number if an earlier friend has
    /// the same name.
    pub name: String,
    /// The path of the tree in its file.
    pub tree: String,
    /// The file name that ROOT was given. `None` if the friend is in the file of the tree.
    pub file: Option<String>,
}

/// The formulas whose values identify an entry (`TTreeIndex`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The first formula, such as `run`.
    pub major: String,
    /// The second formula, such as `event`. It is `0` when there is none.
    pub minor: String,
}

/// A friend as the tree states it (`TFriendElement`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FriendElement {
    /// The alias, or the path of the tree (`fName`).
    pub name: String,
    /// The path of the tree in its file (`fTreeName`).
    pub tree: String,
    /// The file. It is empty for the file of the tree itself (`fTitle`).
    pub file: String,
}

impl Alias {
    /// Reads an alias.
    pub(crate) fn of(alias: View<'_>) -> Result<Self> {
        Ok(Self { name: alias.str("fName")?.into(), formula: alias.str("fTitle")?.into() })
    }
}

impl FriendElement {
    /// Reads a friend.
    pub(crate) fn of(element: View<'_>) -> Result<Self> {
        let text = |name: &str| element.str(name).map(str::to_owned);
        Ok(Self { name: text("fName")?, tree: text("fTreeName")?, file: text("fTitle")? })
    }
}

impl Friend {
    fn of(element: FriendElement) -> Self {
        let FriendElement { name, tree, file } = element;
        // Without an alias, the name is the path of the tree. The prefix of its branches is the last part of this
        // path.
        let last = || tree.rsplit('/').next().unwrap_or(&tree).to_owned();
        let name = if name == tree { last() } else { name };
        Self { name, tree, file: Some(file).filter(|file| !file.is_empty()) }
    }

    /// Returns the friends of a tree. Friends with equal names get numbers, as branches do.
    pub fn of_elements(elements: impl IntoIterator<Item = FriendElement>) -> Vec<Self> {
        distinct(elements.into_iter().map(Self::of).collect())
    }
}

impl Index {
    /// Reads the formulas of an index.
    pub(crate) fn of(index: View<'_>) -> Result<Self> {
        let formula = |name: &str| index.str(name).map(str::to_owned);
        Ok(Self { major: formula("fMajorName")?, minor: formula("fMinorName")? })
    }
}

impl Relations {
    /// Reads the relations of the tree of a key.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported` or `OutOfSpecification` if the tree cannot be read; `OutOfSpecification` for lists
    /// with objects of other classes.
    pub fn load(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let object = file.object(key)?;
        Self::of(object.root()).in_file(file.name()).in_object(&key.path)
    }

    /// Returns the relations of a tree object.
    pub(super) fn of(tree: View<'_>) -> Result<Self> {
        let friends = items(tree, "fFriends")?.into_iter().map(FriendElement::of);
        Ok(Self {
            aliases: items(tree, "fAliases")?.into_iter().map(Alias::of).collect::<Result<_>>()?,
            friends: Friend::of_elements(friends.collect::<Result<Vec<_>>>()?),
            index: index(tree),
            weight: tree.f64("fWeight").ok().filter(|weight| *weight != 1.0),
            // A list that cannot be read counts as one object.
            user_objects: items(tree, "fUserInfo").map_or(1, |objects| objects.len()),
        })
    }

    /// Returns the aliases as pairs of name and formula.
    pub fn formulas(&self) -> Vec<(String, String)> {
        let pair = |alias: &Alias| (alias.name.clone(), alias.formula.clone());
        self.aliases.iter().map(pair).collect()
    }
}

/// Returns the objects of a list. The list is empty if the tree does not have it. Most trees do not.
fn items<'a>(tree: View<'a>, name: &str) -> Result<Vec<View<'a>>> {
    if tree.get(name).is_none() {
        return Ok(Vec::new());
    }
    match tree.view(name)? {
        Some(list) => Ok(list.items()?.into_iter().flatten().collect()),
        None => Ok(Vec::new()),
    }
}

/// Adds numbers to friends with equal names, as for branches.
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
        Index::of(index).map(Some)
    };
    // nyssa does not know other classes of indices.
    read().map_err(|error: Error| error.message().to_owned()).transpose()
}
