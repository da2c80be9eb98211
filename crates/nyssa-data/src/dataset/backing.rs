//! Finds collections that exist only to hold the data of projected fields: collections of ROOT's importer
//! (`_collection0`) and of conversions (`_collection_nJet`).
//!
//! ```text
//! _collection0                       nJet    shows its size
//!   _0
//!     Jet_pt                         Jet_pt  shows it and this member of it
//! ```
//!
//! Their names have no meaning. The importer numbers them in order, so that the same branches have another collection
//! name in a file with an additional counter. Collections of several files are therefore matched by the projected
//! fields that show them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The prefix of the names of these collections.
pub const BACKING_PREFIX: &str = "_collection";

/// The names of the projected fields that show a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The fields that show its size.
    pub sizes: BTreeSet<String>,
    /// The fields that show one of its members.
    pub members: BTreeSet<String>,
}

/// The collections of one schema that projected fields show, by name.
pub type Backing = Vec<(String, Shown)>;

/// A collection: the index of its schema, and its index in this schema.
type Place = (usize, usize);

/// Finds names for the collections of several schemas. Collections get the same name if the fields that show their
/// sizes have the same name. If there is no such field, they get the same name if a field that shows a member has the
/// same name. The first schema keeps its names. Names in `taken` belong to other fields and are not used.
pub fn common_names(schemas: &[Backing], mut taken: HashSet<String>) -> Vec<Vec<String>> {
    let mut groups = Groups::new(schemas);
    groups.join(schemas, |shown| &shown.sizes);
    groups.join(schemas, |shown| &shown.members);
    let mut names: HashMap<usize, String> = HashMap::new();
    let mut common = Vec::with_capacity(schemas.len());
    for (number, collections) in schemas.iter().enumerate() {
        let named = collections.iter().enumerate().map(|(index, (own, _))| {
            let name = names.entry(groups.of[&(number, index)]).or_insert_with(|| {
                let others = (0u64..).map(|number| format!("{BACKING_PREFIX}{number}"));
                let mut names = std::iter::once(own.clone()).chain(others);
                names.find(|name| taken.insert(name.clone())).unwrap_or_default()
            });
            name.clone()
        });
        common.push(named.collect());
    }
    common
}

/// The groups of equal collections.
struct Groups {
    of: HashMap<Place, usize>,
    /// The collections of each group. A group has at most one collection of each schema.
    members: HashMap<usize, BTreeMap<usize, usize>>,
    sizes: HashMap<usize, BTreeSet<String>>,
}

impl Groups {
    /// Puts every collection in a group of its own.
    fn new(schemas: &[Backing]) -> Self {
        let places = schemas.iter().enumerate().flat_map(|(schema, collections)| {
            collections.iter().enumerate().map(move |(index, (_, shown))| ((schema, index), shown))
        });
        let mut groups =
            Self { of: HashMap::new(), members: HashMap::new(), sizes: HashMap::new() };
        for (group, (place, shown)) in places.enumerate() {
            groups.of.insert(place, group);
            groups.members.insert(group, BTreeMap::from([place]));
            groups.sizes.insert(group, shown.sizes.clone());
        }
        groups
    }

    /// Joins the groups of collections that are shown by fields of the same name.
    fn join(&mut self, schemas: &[Backing], names: impl Fn(&Shown) -> &BTreeSet<String>) {
        let mut known: HashMap<&str, Place> = HashMap::new();
        for (schema, collections) in schemas.iter().enumerate() {
            for (index, (_, shown)) in collections.iter().enumerate() {
                for name in names(shown) {
                    let place = (schema, index);
                    match known.get(name.as_str()) {
                        Some(&before) => self.same(before, place),
                        None => _ = known.insert(name, place),
                    }
                }
            }
        }
    }

    /// Joins the groups of two collections, unless the result would have two collections of one schema, or
    /// two different sizes.
    fn same(&mut self, a: Place, b: Place) {
        let (Some(&into), Some(&from)) = (self.of.get(&a), self.of.get(&b)) else { return };
        let (ours, theirs) = (&self.members[&into], &self.members[&from]);
        let other_sizes = !self.sizes[&into].is_empty()
            && !self.sizes[&from].is_empty()
            && self.sizes[&into].is_disjoint(&self.sizes[&from]);
        if into == from || other_sizes || theirs.keys().any(|schema| ours.contains_key(schema)) {
            return;
        }
        let moved = self.members.remove(&from).unwrap_or_default();
        self.of.extend(moved.iter().map(|(&schema, &index)| ((schema, index), into)));
        self.members.entry(into).or_default().extend(moved);
        let sizes = self.sizes.remove(&from).unwrap_or_default();
        self.sizes.entry(into).or_default().extend(sizes);
    }
}
