//! Gives a new tree the parts that another tree had beside its branches and entries.

use std::sync::Arc;

use nyssa_root::error::Result;
use nyssa_root::streamer::{Draft, StreamerInfos, StreamerList, Target};

use crate::stored::{PlainObject, check_index, drafts};

/// The parts of a new tree beside its branches and entries, as another tree had them.
#[derive(Clone, Debug)]
pub struct TreeParts {
    weight: f64,
    friends: Vec<Draft>,
    user_info: Vec<Draft>,
    index: Option<(Draft, u64)>,
    /// The classes of the objects.
    infos: Arc<StreamerInfos>,
    /// The streamer infos that the file gets.
    list: Arc<StreamerList>,
}

impl TreeParts {
    /// Makes the parts of a weight, friends, user information and an index, which is for a number of entries. `infos` and
    /// `list` describe the classes of the objects.
    ///
    /// # Errors
    /// `OutOfSpecification` or `Unsupported` for bytes that are no object of their class.
    pub fn new(
        weight: f64,
        friends: &[PlainObject],
        user_info: &[PlainObject],
        index: Option<(&PlainObject, u64)>,
        (infos, list): (Arc<StreamerInfos>, StreamerList),
    ) -> Result<Self> {
        index.map_or(Ok(()), |(object, entries)| check_index(object, entries))?;
        let stored = |object: &PlainObject| Draft::stored(&object.class, object.bytes.clone());
        Ok(Self {
            weight,
            friends: drafts("TFriendElement", friends, &infos)?,
            user_info: drafts("TObject", user_info, &infos)?,
            index: index.map(|(object, entries)| (stored(object), entries)),
            infos,
            list: Arc::new(list),
        })
    }

    /// Adds the parts to a tree of `entries` entries. The index is left out if it is for another number of entries.
    pub(super) fn add_to(&self, tree: Draft, entries: u64) -> Draft {
        let tree = tree.float("fWeight", self.weight);
        let lists = [("fFriends", &self.friends), ("fUserInfo", &self.user_info)];
        let lists = lists.into_iter().filter(|(_, objects)| !objects.is_empty());
        let tree = lists.fold(tree, |tree, (member, objects)| {
            tree.items(member, objects.iter().cloned().map(Target::New).collect())
        });
        match &self.index {
            Some((index, of)) if *of == entries => {
                tree.pointer("fTreeIndex", Target::New(index.clone()))
            }
            _ => tree,
        }
    }

    /// Adds the classes of the objects to `infos`.
    pub(super) fn describe(&self, infos: &mut StreamerInfos) {
        infos.add(&self.infos);
    }

    /// Returns the streamer infos that the file gets.
    pub(super) fn list(&self) -> &StreamerList {
        &self.list
    }
}
