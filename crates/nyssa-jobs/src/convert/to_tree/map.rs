//! Maps the fields of an RNTuple to the columns of a tree, and finds the fields that a tree cannot hold.
//!
//! | field | branches |
//! |---|---|
//! | numbers, enums, bitsets, arrays, strings | one branch `x` |
//! | collections of numbers, strings or collections | `vector<T>` |
//! | collections of records `Jet` | `nJet`, `Jet_pt[nJet]`, ...; members that are collections become `vector<vector<T> >` |
//! | projected fields `Jet_pt` of a hidden collection, and its cardinality `nJet` | `Jet_pt[nJet]`, `nJet` |
//! | projected fields of a field that has branches | an alias of the tree |
//! | records | the branches of their members |
//! | objects of a class that the file describes, and collections of them | branches of the class |

use std::collections::{HashMap, HashSet};

use arrow_schema::{Field, Schema};
use nyssa_data::dataset::{Dataset, Filter, check_patterns};
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{self, FieldId, Structure, is_cardinality};
use nyssa_root::arrow::lists::item_type;
use nyssa_root::error::{Error, Result};
use nyssa_ttree::write::{ColumnOptions, TreeWriteOptions, branches_of};

use super::fields::{FieldChain, Fields, is_backing, is_base};
use super::restored::RestoredClasses;
use crate::convert::options::InputOptions;
use crate::convert::report::Skipped;
use crate::kept_tree::KeptTree;

/// A field that fills a branch.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The name of the branch.
    pub branch: String,
    /// The path by which the field is read.
    pub path: String,
    /// The fields from the top-level field down to this field.
    pub ids: Vec<FieldId>,
    /// The C++ type as which the path is read.
    pub type_name: String,
    /// The Arrow field as which the path is read, with the name of the branch.
    pub arrow: Field,
    /// Whether it has objects of a class, which fill several branches.
    pub is_class: bool,
}

/// The plan of a conversion.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeMap {
    /// The columns, in the order of the fields.
    pub columns: Vec<Column>,
    /// The options of the columns, by the names of their branches.
    pub options: HashMap<String, ColumnOptions>,
    /// The aliases: names and branches.
    pub aliases: Vec<(String, String)>,
    /// The fields that are left out, with the reasons.
    pub skipped: Vec<Skipped>,
    /// Notes on the differences from the tree from which the fields come.
    pub notes: Vec<String>,
}

impl TreeMap {
    /// Returns the columns in the form of a table.
    pub(super) fn schema(&self) -> Schema {
        Schema::new(self.columns.iter().map(|column| column.arrow.clone()).collect::<Vec<_>>())
    }
}

/// Maps the fields of `reader`. `tree` are the options of the tree that do not depend on it, `kept` is the tree from
/// which the fields come, and `damaged` are fields that cannot be read.
///
/// # Errors
/// `NotFound` for patterns that match nothing; `Unsupported` with a list of all fields that a tree cannot hold, unless
/// they are skipped; `InvalidArgument` if no field is left.
pub(super) fn map(
    reader: &Reader,
    options: &InputOptions,
    tree: &TreeWriteOptions,
    kept: Option<&KeptTree>,
    damaged: &[Skipped],
) -> Result<TreeMap> {
    let schema = reader.schema();
    let branches = kept.map(KeptTree::by_field).unwrap_or_default();
    let (classes, split) = (tree.described.as_deref(), tree.split_level > 0);
    let restored = kept.map(|kept| RestoredClasses::new(reader, kept, tree));
    let RestoredClasses { by_field: restored, notes } = restored.unwrap_or_default();
    let leaf_lists = &tree.leaf_lists;
    let fields = Fields { schema, leaf_lists, kept: branches, classes, restored, split };
    let shown: HashSet<&str> = reader.columns().iter().map(|item| item.name.as_str()).collect();
    let top = schema.top_level().filter(|(_, field)| shown.contains(field.name.as_str()));
    let chains: Vec<_> = top.flat_map(|(id, _)| fields.below(id)).collect();
    let selected = select(&fields, &chains, options)?;
    let (map, taken, order) =
        (TreeMap { notes, ..TreeMap::default() }, HashMap::new(), HashMap::new());
    let mut mapper = Mapper { reader, fields, tree, kept, map, taken, order };
    mapper.take(selected, damaged);
    let map = mapper.map;
    let may_leave_out = |element: &Skipped| {
        options.skip_unsupported || element.unreadable && options.skip_unreadable
    };
    if !map.skipped.iter().all(may_leave_out) {
        let count = map.skipped.len();
        return Err(Error::unsupported(format!(
            "a TTree cannot hold {count} field{}; exclude them, or skip what is unsupported:\n  {}",
            if count == 1 { "" } else { "s" },
            Skipped::reasons(&map.skipped)
        )));
    }
    if map.columns.is_empty() {
        return Err(Error::invalid_argument(match map.skipped.is_empty() {
            true => "no field is left to convert".to_owned(),
            false => format!(
                "no field is left to convert; these cannot be:\n  {}",
                Skipped::reasons(&map.skipped)
            ),
        }));
    }
    Ok(map)
}

/// Returns the columns that the options request, and their counters.
fn select(
    fields: &Fields<'_>,
    chains: &[FieldChain],
    options: &InputOptions,
) -> Result<Vec<FieldChain>> {
    let schema = fields.schema;
    let names = |chain: &FieldChain| {
        let above = (1..=chain.ids.len()).map(|length| fields.path(&chain.ids[..length]));
        above.chain([chain.branch.clone()]).collect::<Vec<_>>()
    };
    let all: Vec<_> = chains.iter().map(names).collect();
    let known: Vec<&str> = all.iter().flatten().map(String::as_str).collect();
    check_patterns(&options.include, &known)?;
    check_patterns(&options.exclude, &known)?;
    let included = Filter::new(&options.include, &[])?;
    let excluded = Filter::new(&options.exclude, &[])?;
    let excludes = |names: &[String]| {
        !options.exclude.is_empty() && names.iter().any(|name| excluded.takes(name))
    };
    let takes = |names: &[String]| names.iter().any(|name| included.takes(name));
    let source = |id: FieldId| schema.field(id).source.unwrap_or(id);
    let chosen = |names: &[String]| takes(names) && !excludes(names);
    let pairs = || chains.iter().zip(&all);
    let taken = pairs().filter(|(_, names)| chosen(names));
    let counted: HashSet<_> =
        taken.filter_map(|(chain, _)| fields.collection(chain)).map(source).collect();
    let counts = |chain: &FieldChain| {
        let field = chain.ids.last().map(|&id| schema.field(id));
        let sizes = field.filter(|field| is_cardinality(&field.type_name));
        sizes.and_then(|field| field.source).is_some_and(|source| counted.contains(&source))
    };
    let stays = |(chain, names): &(&FieldChain, &Vec<String>)| {
        !excludes(names) && (takes(names) || counts(chain))
    };
    Ok(pairs().filter(stays).map(|(chain, _)| chain.clone()).collect())
}

struct Mapper<'a> {
    reader: &'a Reader,
    fields: Fields<'a>,
    tree: &'a TreeWriteOptions,
    kept: Option<&'a KeptTree>,
    map: TreeMap,
    /// The field of each branch.
    taken: HashMap<String, FieldId>,
    /// The place of each branch.
    order: HashMap<String, (usize, usize)>,
}

impl Mapper<'_> {
    fn take(&mut self, chains: Vec<FieldChain>, damaged: &[Skipped]) {
        // Fields with their own data come first, so that projections of them become aliases.
        let sizes = self.sizes(&chains);
        // Branches of a tree come in its order, and other fields after them in their own.
        let place = |chain: &FieldChain| {
            let branch = chain.ids.get(..1).and_then(|top| self.fields.kept(top));
            branch.map_or(usize::MAX, |(place, ..)| place)
        };
        let places = chains.iter().enumerate();
        self.order = places.map(|(at, chain)| (chain.branch.clone(), (place(chain), at))).collect();
        let (own, projected): (Vec<_>, Vec<_>) =
            chains.into_iter().partition(|chain| self.top(chain).source.is_none());
        let branches = own.iter().flat_map(|chain| self.named(chain)).collect();
        for chain in own.iter().chain(&projected) {
            if let Some(skipped) = damaged.iter().find(|item| item.branch == chain.path) {
                self.map.skipped.push(skipped.clone());
            } else if let Some(reason) = self.add(chain, &sizes, &branches) {
                self.skip(&chain.path, reason);
            }
        }
        for chain in &projected {
            self.drop_counted_by_leaf(chain, &own, &projected);
        }
        self.map.columns.sort_by_key(|column| self.order.get(&column.branch));
    }

    /// Returns the cardinality of each collection with a cardinality.
    fn sizes(&self, chains: &[FieldChain]) -> HashMap<FieldId, String> {
        let mut sizes = HashMap::new();
        for chain in chains {
            let field = self.top(chain);
            if let (true, Some(source)) = (is_cardinality(&field.type_name), field.source) {
                sizes.entry(source).or_insert_with(|| chain.branch.clone());
            }
        }
        sizes
    }

    fn top(&self, chain: &FieldChain) -> &schema::Field {
        self.fields.schema.field(chain.ids[0])
    }

    fn skip(&mut self, path: &str, reason: String) {
        self.map.skipped.push(Skipped { branch: path.to_owned(), reason, unreadable: false });
    }

    /// Adds a column. Returns the reason why a tree cannot hold it.
    fn add(
        &mut self,
        chain: &FieldChain,
        sizes: &HashMap<FieldId, String>,
        branches: &HashMap<FieldId, (String, String)>,
    ) -> Option<String> {
        if let Some(reason) = &chain.refused {
            return Some(reason.clone());
        }
        let id = *chain.ids.last()?;
        // The innermost field is the member that a projection shows.
        let shown = self.shown(chain);
        if let Some((branch, name)) = shown.iter().rev().find_map(|source| branches.get(source))
            && self.taken.contains_key(branch)
        {
            if *name != chain.branch {
                self.map.aliases.push((chain.branch.clone(), name.clone()));
            }
            return None;
        }
        if let Some(other) = self.taken.get(&chain.branch) {
            let other = self.fields.schema.path(*other);
            return Some(format!("the branch of {other} has the name {:?}, too", chain.branch));
        }
        let item = self.reader.find_column(&chain.path)?;
        let arrow = match &item.field {
            Ok(arrow) => arrow.clone().with_name(&chain.branch),
            Err(reason) => return Some(reason.clone()),
        };
        let own = ColumnOptions {
            title: Some(self.reader.title(&chain.path)).filter(|title| !title.is_empty()),
            class: chain.class.clone(),
            ..match chain.class {
                Some(_) => ColumnOptions::default(),
                None => self.lists(chain, &arrow, sizes),
            }
        };
        let mut options = self.as_it_was(chain, own);
        let was = self.fields.kept(&chain.ids);
        options.has_old_name = was.is_some();
        if let Some((_, path, facts)) = was {
            self.map.notes.extend(facts.renamed(path, &chain.branch));
        }
        if let Some(restored) = self.fields.restored(&chain.ids) {
            options.split_level = restored.split_level;
            if !self.is_requested(chain) {
                options.kept.clone_from(&restored.kept);
            }
        }
        let name = chain.branch.clone();
        let alone = TreeWriteOptions {
            leaf_lists: self.tree.leaf_lists.clone(),
            columns: HashMap::from([(name.clone(), options.clone())]),
            described: self.tree.described.clone(),
            split_level: self.tree.split_level,
            process: self.tree.process,
            ..TreeWriteOptions::default()
        };
        if let Err(error) = branches_of(&arrow, &alone) {
            return Some(error.message().to_owned());
        }
        self.taken.insert(name.clone(), id);
        self.map.options.insert(name.clone(), options);
        let (path, ids) = (chain.path.clone(), chain.ids.clone());
        let type_name = item.type_name.clone();
        let is_class = chain.class.is_some();
        self.map.columns.push(Column { branch: name, path, ids, type_name, arrow, is_class });
        None
    }

    /// Returns whether the user says how a column is written.
    fn is_requested(&self, chain: &FieldChain) -> bool {
        let TreeWriteOptions { counters, leaf_lists, vectors, .. } = self.tree;
        let mut requests = counters.iter().map(|(glob, _)| glob).chain(leaf_lists).chain(vectors);
        requests.any(|glob| glob.is_match(&chain.branch))
    }

    /// Returns the options of a column, as its branch was in the tree from which the field comes. A user's request for
    /// the column takes precedence.
    fn as_it_was(&self, chain: &FieldChain, own: ColumnOptions) -> ColumnOptions {
        let (Some((.., branch)), Some(kept), false) =
            (self.fields.kept(&chain.ids), self.kept, self.is_requested(chain))
        else {
            return own;
        };
        let mut options = kept.column(branch);
        // A leaf list can be a counter if it is there, and comes first.
        let counter = options.counter.take().filter(|counter| {
            let (counter, own) = (self.order.get(counter), self.order.get(&chain.branch));
            options.counter_leaf.is_none() || counter.is_some() && counter < own
        });
        if counter.is_none() {
            options.counter_leaf = None;
        }
        let vector = own.vector && counter.is_none();
        let (counter, title) = (counter.or(own.counter), options.title.or(own.title));
        ColumnOptions { counter, vector, title, class: own.class, ..options }
    }

    /// Drops the column of a cardinality that was no branch of the tree, if a leaf list has the numbers again.
    fn drop_counted_by_leaf(
        &mut self,
        chain: &FieldChain,
        own: &[FieldChain],
        projected: &[FieldChain],
    ) {
        let field = self.top(chain);
        let is_new = self.kept.is_some() && self.fields.kept(&chain.ids).is_none();
        let Some(source) = field.source.filter(|_| is_new && is_cardinality(&field.type_name))
        else {
            return;
        };
        let counted = own.iter().chain(projected).filter(|other| {
            let collection = self.fields.collection(other);
            collection.map(|id| self.fields.schema.field(id).source.unwrap_or(id)) == Some(source)
        });
        let mut counted =
            counted.filter_map(|other| self.map.options.get(&other.branch)).peekable();
        if counted.peek().is_some() && counted.all(|options| options.counter_leaf.is_some()) {
            self.map.options.remove(&chain.branch);
            self.map.columns.retain(|column| column.branch != chain.branch);
        }
    }

    /// Returns the branch of each field of a column, and the name of the values in an expression.
    fn named(&self, chain: &FieldChain) -> Vec<(FieldId, (String, String))> {
        let schema = self.fields.schema;
        let mut open: Vec<(FieldId, String)> =
            chain.ids.last().map(|&id| (id, chain.branch.clone())).into_iter().collect();
        let mut sizes = Vec::new();
        while let Some((id, name)) = open.pop() {
            let field = schema.field(id);
            let is_record = field.structure == Structure::Record;
            let below = |&child: &FieldId| {
                let own = &schema.field(child).name;
                let dot = if name.ends_with('.') { "" } else { "." };
                match is_record && !is_base(own) {
                    true => (child, format!("{name}{dot}{own}")),
                    false => (child, name.clone()),
                }
            };
            if chain.class.is_some() {
                open.extend(field.children.iter().map(below));
            }
            sizes.push((id, (chain.branch.clone(), name)));
        }
        sizes
    }

    /// Returns the fields that a projected field and its items show.
    fn shown(&self, chain: &FieldChain) -> Vec<FieldId> {
        let schema = self.fields.schema;
        let mut field = self.top(chain);
        if chain.ids.len() != 1 || is_cardinality(&field.type_name) {
            return Vec::new();
        }
        let mut sources: Vec<_> = field.source.into_iter().collect();
        while let (false, &[child]) = (field.structure == Structure::Record, &field.children[..]) {
            field = schema.field(child);
            sources.extend(field.source);
        }
        sources
    }

    /// Returns how the lists of a column are written: with a counter, or as vectors.
    fn lists(
        &self,
        chain: &FieldChain,
        arrow: &Field,
        sizes: &HashMap<FieldId, String>,
    ) -> ColumnOptions {
        let schema = self.fields.schema;
        let counted = self.fields.depth(chain) == 1 && arrow.data_type().is_nested();
        let Some(collection) = self.fields.collection(chain).filter(|_| counted) else {
            return ColumnOptions::default();
        };
        let source = schema.field(collection).source.unwrap_or(collection);
        let is_member = chain.ids.last() != Some(&collection) || source != collection;
        let is_array = item_type(arrow.data_type()).is_some_and(|item| item.is_nested());
        if !is_member && !is_array && !sizes.contains_key(&source) {
            let requested = self.tree.counters.iter().any(|(glob, _)| glob.is_match(&chain.branch));
            return ColumnOptions { vector: !requested, ..ColumnOptions::default() };
        }
        let counter = sizes.get(&source).cloned().unwrap_or_else(|| self.counter(chain, source));
        ColumnOptions { counter: Some(counter), ..ColumnOptions::default() }
    }

    /// Returns the name for the counter of a collection that has no cardinality.
    fn counter(&self, chain: &FieldChain, collection: FieldId) -> String {
        let field = self.fields.schema.field(collection);
        let own = field.name.strip_prefix(&format!("{}_", schema::BACKING_PREFIX));
        if let Some(own) = own.filter(|own| is_backing(field) && own.starts_with('n')) {
            return own.to_owned();
        }
        let length = chain.ids.iter().position(|&id| id == collection).map(|at| at + 1);
        match length {
            Some(length) => format!("n{}", self.fields.branch(&chain.ids[..length])),
            None => format!("n{}", field.name),
        }
    }
}
