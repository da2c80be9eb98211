//! Adds one object to another object of its class, like the `Merge` functions of ROOT. The first object is read with
//! the places of its members. The sums are written at these places, so that all other bytes stay unchanged.

mod axis;
mod graph;
mod histogram;
mod many;
mod numbers;
mod pair;
mod parameter;
mod stats;

use std::collections::HashSet;

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::info::StreamerInfos;
use nyssa_root::streamer::values::{EditedObject, Value, View};

use pair::{Pair, refused};

pub(super) use pair::Total;

type Add = fn(&mut Pair<'_>) -> Result<()>;

/// The classes that have a `Merge` function in ROOT, and the classes whose derived classes have it. A name that ends
/// in `<` stands for all instances of a template. `hadd` copies objects of other classes, each with a separate cycle.
const MERGED_BY_ROOT: [&str; 29] = [
    "TH1",
    "TGraph",
    "TEfficiency",
    "THnBase",
    "THnT<",
    "THnSparseT<",
    "THStack",
    "TSeqCollection",
    "TList",
    "TObjArray",
    "TOrdCollection",
    "TSortedList",
    "TClonesArray",
    "TRefArray",
    "RooRefArray",
    "TEntryList",
    "TEventList",
    "TParameter<",
    "TStatistic",
    "TTree",
    "TFileMerger",
    "TFileCollection",
    "TLinearFitter",
    "TPolyLine",
    "TPolyLine3D",
    "TPolyMarker",
    "TPolyMarker3D",
    "TSelectorScalar",
    "TBtree",
];

/// The treatment of objects of one class that several inputs have.
pub(super) enum Fate {
    /// nyssa merges them.
    Added,
    /// ROOT merges them, and nyssa does not.
    Refused,
    /// ROOT does not merge them: each object is copied.
    Copied,
}

/// Returns the treatment of objects of a class, which may be described by `infos` only.
pub(super) fn fate(class: &str, infos: &StreamerInfos) -> Fate {
    match adder(class) {
        Some(_) => Fate::Added,
        None if is_merged_by_root(class, infos, &mut HashSet::new()) => Fate::Refused,
        None => Fate::Copied,
    }
}

fn is_merged_by_root<'i>(
    class: &'i str,
    infos: &'i StreamerInfos,
    seen: &mut HashSet<&'i str>,
) -> bool {
    let named = |name: &&str| class == *name || name.ends_with('<') && class.starts_with(*name);
    if MERGED_BY_ROOT.iter().any(named) || adder(class).is_some() {
        return true;
    }
    if !seen.insert(class) {
        return false;
    }
    let elements = infos.class(class, None).into_iter().flat_map(|info| &info.elements);
    let mut bases = elements.filter(|element| element.class == "TStreamerBase");
    bases.any(|base| is_merged_by_root(&base.name, infos, seen))
}

/// Returns the function that adds objects of a class.
fn adder(class: &str) -> Option<Add> {
    Some(match class {
        _ if histogram::is_histogram(class) => histogram::add,
        _ if graph::arrays(class).is_some() => graph::add,
        _ if parameter::CLASSES.contains(&class) => parameter::add,
        _ if class.starts_with("THnT<") => many::add_dense,
        "TH2Poly" => many::add_polygons,
        "TEfficiency" => many::add_efficiency,
        "TEventList" => graph::add_entries,
        "TList" | "THashList" | "TObjArray" => add_items,
        "THStack" => add_stack,
        _ => return None,
    })
}

impl Total {
    /// Starts with the object of a key.
    ///
    /// # Errors
    /// `Unsupported` for an object that cannot be read; an error if the object is damaged.
    pub(super) fn of(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let object = read(file, key)?;
        Ok(Self { object, summed: HashSet::new(), title: None })
    }

    /// Adds the object of another key, which is of this class.
    ///
    /// # Errors
    /// `InvalidArgument` and `Unsupported` for objects that cannot be added; an error if the object is damaged or
    /// cannot be read.
    pub(super) fn add(&mut self, file: &RootFile, key: &KeyEntry) -> Result<()> {
        let other = read(file, key)?;
        let id = self.object.object().root().id();
        let mut done = HashSet::new();
        add(&mut Pair::new(self, id, other.object().root(), &mut done))
    }
}

fn read(file: &RootFile, key: &KeyEntry) -> Result<EditedObject> {
    let infos = file.streamer_infos()?;
    let payload = file.payload(key)?;
    let read = EditedObject::read_in_place(infos.complete(), &key.class, payload, key.keylen)?;
    match read.object().value() {
        Value::Object(_) => Ok(read),
        _ => Err(Error::unsupported("it cannot be read")),
    }
}

/// Adds the objects of a pair.
fn add(pair: &mut Pair<'_>) -> Result<()> {
    let class = pair.own().class().to_owned();
    if pair.other.class() != class {
        return Err(refused(&format!("it is a {}, not a {class}", pair.other.class())));
    }
    let adder = adder(&class);
    let adder = adder.ok_or_else(|| Error::unsupported(format!("nyssa cannot merge a {class}")))?;
    if !pair.begin() {
        return Err(refused(&format!("its {class} {} is in it twice", name(pair.own()))));
    }
    adder(pair)
}

fn add_stack(pair: &mut Pair<'_>) -> Result<()> {
    match pair.inner("fHists")? {
        Some(mut lists) => add(&mut lists),
        None => Ok(()),
    }
}

/// Adds the items of a list to the items at the same places of the other list.
fn add_items(pair: &mut Pair<'_>) -> Result<()> {
    let (own, other) = (pair.own().items()?, pair.other.items()?);
    if own.len() != other.len() {
        return Err(refused(&format!("it has {} items, not {}", other.len(), own.len())));
    }
    let own: Vec<_> = own.into_iter().map(|item| item.map(|item| item.id())).collect();
    for (number, (own, other)) in own.into_iter().zip(other).enumerate() {
        let (own, other) = match (own, other) {
            (None, None) => continue,
            (Some(own), Some(other)) => (own, other),
            _ => return Err(refused(&format!("item {number} is a null pointer in some inputs"))),
        };
        let mut item = pair.with(own, other);
        let (class, known) = (item.other.class().to_owned(), name(item.own()));
        let shown = name(item.other);
        if item.own().class() != class || known != shown {
            let own = item.own().class().to_owned();
            return Err(refused(&format!(
                "item {number} is a {class} {shown}, not a {own} {known}"
            )));
        }
        let added = match adder(&class) {
            Some(_) => add(&mut item),
            None if pair::equal(item.own(), item.other) && !is_total(item.own()) => Ok(()),
            None => Err(Error::unsupported(format!("nyssa cannot merge a {class}"))),
        };
        added.map_err(|error| error.map_message(|it| format!("item {number}, {shown}: {it}")))?;
    }
    Ok(())
}

/// Returns whether ROOT merges objects of this class, so that equal objects must all be added.
fn is_total(view: View<'_>) -> bool {
    MERGED_BY_ROOT
        .iter()
        .any(|name| view.is_a(name) || name.ends_with('<') && view.class().starts_with(name))
}

/// Returns the name of an object, or the text of a string. It is empty for other objects.
fn name(view: View<'_>) -> String {
    let found = ["fName", "fString"].into_iter().find_map(|member| view.str(member).ok());
    found.unwrap_or_default().to_owned()
}
