//! Reads the parts of a tree beside its branches and entries in the form in which another tree can have them.

use std::collections::BTreeSet;

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::values::{EditedObject, Value, View};
use nyssa_root::streamer::{Draft, StreamerInfos};

use crate::model::{Alias, FriendElement, Index};

/// The base class of all objects in lists.
const OBJECT: &str = "TObject";
/// The mark of a class that is named for the first time, before its name.
const NEW_CLASS: [u8; 4] = [0xFF; 4];

/// Makes the form of a branch of a class: [`crate::write::form_of`].
pub type FormOf = fn(View<'_>) -> Result<PlainObject>;

/// The facts about a top-level branch, apart from its values.
#[derive(Debug, Default)]
pub struct BranchBeside {
    /// The size of its baskets in bytes.
    pub basket_size: i64,
    /// How deep its objects are split.
    pub split_level: i64,
    /// Whether the class streams its objects by code of its own (`fType` is -1).
    pub own_streamer: bool,
    /// The form of a branch of a class, or why it cannot be kept; see [`crate::write::KeptBranch`]. `None` for others.
    pub form: Option<Result<PlainObject>>,
}

/// The parts of a tree beside its branches and entries.
#[derive(Debug, Default)]
pub struct Beside {
    /// The weight of each entry (`TTree::SetWeight`).
    pub weight: f64,
    /// ROOT's `fAutoFlush`: entries of a cluster, or negative bytes.
    pub auto_flush: i64,
    /// The aliases.
    pub aliases: Vec<Alias>,
    /// The friends, each with its streamed `TFriendElement`.
    pub friends: Vec<(FriendElement, PlainObject)>,
    /// The objects of the user information.
    pub user_info: Vec<PlainObject>,
    /// The index of the entries.
    pub index: Option<(Index, PlainObject)>,
    /// Whether it has a table of the references between objects (`TBranchRef`).
    pub has_references: bool,
    /// The top-level branches, in the order of the tree.
    pub branches: Vec<BranchBeside>,
    /// The classes of the objects.
    pub classes: BTreeSet<String>,
    /// The parts that cannot be taken, with the reasons.
    pub refused: Vec<String>,
}

/// An object without its key: the bytes that `TClass::Streamer` writes into an empty buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainObject {
    /// The class.
    pub class: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Beside {
    /// Reads the parts of the tree of a key. `form_of` makes the forms of branches of classes.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported` or `OutOfSpecification` if the tree cannot be read.
    pub fn read(file: &RootFile, key: &KeyEntry, form_of: FormOf) -> Result<Self> {
        let infos = file.streamer_infos()?;
        let payload = file.metadata(key)?;
        let object = EditedObject::read_in_place(infos.complete(), &key.class, payload, key.keylen);
        object
            .and_then(|object| Self::of(&object, &infos, form_of))
            .in_file(file.name())
            .in_object(&key.path)
    }

    fn of(object: &EditedObject, infos: &StreamerInfos, form_of: FormOf) -> Result<Self> {
        let tree = object.object().root();
        let number = |name: &str| tree.get(name).and_then(Value::as_i64);
        let mut this = Self {
            weight: tree.f64("fWeight").unwrap_or(1.0),
            auto_flush: number("fAutoFlush").unwrap_or(0),
            has_references: matches!(tree.get("fBranchRef"), Some(Value::Object(_))),
            ..Self::default()
        };
        for alias in this.items(tree, "fAliases", "aliases") {
            this.aliases.push(Alias::of(alias)?);
        }
        for friend in this.items(tree, "fFriends", "friends") {
            let element = FriendElement::of(friend)?;
            if let Some(object) = this.object(friend, infos, "friend", &element.name) {
                this.friends.push((element, object));
            }
        }
        for object in this.items(tree, "fUserInfo", "user information") {
            let name = object.str_or_empty("fName").unwrap_or_default();
            if let Some(object) = this.object(object, infos, "object of the user information", name)
            {
                this.user_info.push(object);
            }
        }
        match index(object, tree) {
            Ok(index) => this.index = index,
            Err(error) => this.refuse("index", &error),
        }
        if this.index.is_some() {
            this.classes.insert("TTreeIndex".to_owned());
        }
        let branches = tree.list("fBranches")?.into_iter().flatten();
        let stated = |branch: View<'_>| -> Result<BranchBeside> {
            let number = |member| branch.get(member).and_then(Value::as_i64);
            Ok(BranchBeside {
                basket_size: branch.i64("fBasketSize")?,
                split_level: number("fSplitLevel").unwrap_or(0),
                own_streamer: number("fType") == Some(-1),
                form: is_of_class(branch)?.then(|| form_of(branch)),
            })
        };
        this.branches = branches.map(stated).collect::<Result<_>>()?;
        Ok(this)
    }

    fn refuse(&mut self, what: &str, error: &Error) {
        self.refused.push(format!("the {what} of the tree cannot be kept: {}", error.message()));
    }

    /// Returns the objects of a list of the tree. A list that cannot be read is refused.
    fn items<'a>(&mut self, tree: View<'a>, member: &str, what: &str) -> Vec<View<'a>> {
        if tree.get(member).is_none() {
            return Vec::new();
        }
        let items = tree.view(member).and_then(|list| match list {
            Some(list) => Ok(list.items()?.into_iter().flatten().collect()),
            None => Ok(Vec::new()),
        });
        items.unwrap_or_else(|error| {
            self.refuse(what, &error);
            Vec::new()
        })
    }

    /// Returns the bytes of an object. An object that cannot be written again is refused.
    fn object(
        &mut self,
        view: View<'_>,
        infos: &StreamerInfos,
        what: &str,
        name: &str,
    ) -> Option<PlainObject> {
        match Draft::of(view).and_then(|draft| draft.serialize(infos, 0)) {
            Ok(streamed) => {
                let class = view.class().to_owned();
                self.classes.extend(streamed.classes);
                self.classes.insert(class.clone());
                Some(PlainObject { class, bytes: streamed.bytes })
            }
            Err(error) => {
                self.refuse(&format!("{what} {name:?}"), &error);
                None
            }
        }
    }
}

/// Returns whether a branch is a branch of a class, whose form can be kept.
fn is_of_class(branch: View<'_>) -> Result<bool> {
    Ok(match branch.class() {
        "TBranchElement" => true,
        // The branches below an old branch of a class have leaves of numbers.
        "TBranchObject" => branch.list("fBranches")?.is_empty(),
        _ => false,
    })
}

/// Returns the index of a tree. Its bytes refer to nothing.
fn index(object: &EditedObject, tree: View<'_>) -> Result<Option<(Index, PlainObject)>> {
    if !matches!(tree.get("fTreeIndex"), Some(Value::Object(_))) {
        return Ok(None);
    }
    let Some(view) = tree.view("fTreeIndex")? else { return Ok(None) };
    let index = Index::of(view)?;
    let bytes = object.bytes(tree.id(), "fTreeIndex").and_then(behind_class);
    let bytes = bytes.ok_or_else(|| Error::unsupported("its bytes are not known"))?;
    Ok(Some((index, PlainObject { class: view.class().to_owned(), bytes: bytes.to_vec() })))
}

/// Returns the bytes of an object without the byte count and the class before it.
fn behind_class(pointer: &[u8]) -> Option<&[u8]> {
    let (class, rest) = pointer.get(4..)?.split_first_chunk::<4>()?;
    match *class {
        NEW_CLASS => rest.splitn(2, |&byte| byte == 0).nth(1),
        _ => Some(rest),
    }
}

/// Makes drafts of objects of the class `class`, or of classes derived from it, that were kept. `infos` describe their
/// classes.
///
/// # Errors
/// `OutOfSpecification` or `Unsupported` for bytes that are no such object.
pub(crate) fn drafts(
    class: &str,
    objects: &[PlainObject],
    infos: &StreamerInfos,
) -> Result<Vec<Draft>> {
    let draft = |object: &PlainObject| {
        let read = infos.object(&object.class, &object.bytes, 0)?;
        let view = read.root();
        // The base class of a collection is not a class that streamer infos describe.
        if view.is_a(class) || class == OBJECT && view.items().is_ok() {
            return Draft::of(view);
        }
        Err(Error::out_of_spec(format!("a {} is no {class}", object.class)))
    };
    objects.iter().map(|object| draft(object).in_object(&object.class)).collect()
}
