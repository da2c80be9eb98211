//! Makes the branches of a tree from the types of columns.
//!
//! | column | branches |
//! |---|---|
//! | numbers, booleans | `x/F` |
//! | fixed arrays of numbers | `x[2][3]/F` |
//! | strings | `x/C` |
//! | lists of numbers or of fixed arrays | `nx/I`, `x[nx]/F` |
//! | lists of strings, lists of lists | `vector<string>`, `vector<vector<float> >` |
//! | records | `x_a`, `x_b`; or one branch `a/F:b/I` |
//! | lists of records | `nx/I`, `x_a[nx]/F`, `x_b[nx]/I` |
//! | records of a class, or lists of them | branches of the class, see `unroll` |
//!
//! A column of integers with the name of a counter fills the counter.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use globset::GlobMatcher;
use nyssa_root::arrow::lists::{is_bytes, item_type};
use nyssa_root::arrow::{Number, STREAMER, brief};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::{ClassInfo, Declarations, ObjectLayout, StreamerInfos, StreamerList};

use super::class_members::check_streamed_by_infos;
use super::conform::{fits, misfit_in};
use super::declared::narrowed;
use super::existing;
use super::form::{BranchForm, Content};
use super::kept::KeptBranch;
use super::leaf_form::LeafForm;
use super::leaf_list::{LeafList, ListLeaf};
use super::leaf_types::{
    is_counting, is_text, join, leaf, list_names, no_leaf, no_vector, number, plain, refused,
    vector,
};
use super::names;
use super::options::{ColumnOptions, Globbed, LeafOptions, TreeWriteOptions};
use super::shape::{ClassColumn, Plan, Shape};
use super::unroll::{Unrolled, unroll};

impl Plan {
    /// Makes the branches for `schema`.
    ///
    /// # Errors
    /// `InvalidArgument` for names that cannot be written or occur twice, `Unsupported` for types that a tree cannot
    /// hold.
    pub(super) fn new(schema: &Schema, options: &TreeWriteOptions) -> Result<Self> {
        Self::default().extended(schema, options)
    }

    /// Makes more branches for `schema` behind the branches of a tree. Lists may have the counters of the tree. The plan
    /// has only the infos of the new branches.
    ///
    /// # Errors
    /// `InvalidArgument` for names that cannot be written, occur twice or are taken, `Unsupported` for types that a tree
    /// cannot hold.
    pub(super) fn extended(&self, schema: &Schema, options: &TreeWriteOptions) -> Result<Self> {
        let planner = Planner::planned(self, schema, options)?;
        planner.check_options()?;
        Ok(planner.plan)
    }
}

/// Returns the names of the branches that a column makes, or the error with which [`super::TreeWriter::create`] would
/// refuse it.
///
/// # Errors
/// `InvalidArgument` for names, `Unsupported` for types that a tree cannot hold.
pub fn branches_of(column: &Field, options: &TreeWriteOptions) -> Result<Vec<String>> {
    let (schema, none) = (Schema::new(vec![column.clone()]), Plan::default());
    let mut planner = Planner::new(&none, &schema, options);
    planner.column(column)?;
    Ok(planner.plan.branches.into_iter().map(|branch| branch.name).collect())
}

/// Checks that a tree of these columns and options can be made. Returns an error for each glob of the options
/// ([`TreeWriteOptions::retain_globs`]) that matches nothing in the tree, and `None` for others.
///
/// # Errors
/// `InvalidArgument` for options and names that cannot be written; `Unsupported` for types that a tree cannot hold.
pub fn check(schema: &Schema, options: &TreeWriteOptions) -> Result<Vec<Option<Error>>> {
    options.validate()?;
    Ok(Planner::planned(&Plan::default(), schema, options)?.unmatched())
}

struct Planner<'a> {
    schema: &'a Schema,
    options: &'a TreeWriteOptions,
    plan: Plan,
    /// The number of branches that the tree has already.
    first: usize,
    names: HashSet<String>,
    /// The columns of integers, which may be counters.
    integers: HashSet<&'a str>,
    /// The names of all counters.
    counters: HashSet<String>,
    /// The branch of each counter, if it already exists.
    counter_branches: HashMap<String, usize>,
    /// The names of the branches with a leaf for each member.
    leaf_lists: HashSet<String>,
}

impl<'a> Planner<'a> {
    /// Plans all columns behind the branches of `tree`.
    fn planned(tree: &'a Plan, schema: &'a Schema, options: &'a TreeWriteOptions) -> Result<Self> {
        let mut planner = Self::new(tree, schema, options);
        for field in schema.fields() {
            let shape = planner.column(field).in_field(field.name())?;
            planner.plan.columns.push((field.name().clone(), shape));
        }
        Ok(planner)
    }

    /// Starts with the branches of `tree`.
    fn new(tree: &'a Plan, schema: &'a Schema, options: &'a TreeWriteOptions) -> Self {
        let fields = schema.fields().iter();
        let counting = |field: &&Field| number(field.data_type()).is_some_and(is_counting);
        let integers =
            fields.map(AsRef::as_ref).filter(counting).map(|field| field.name().as_str());
        let old = tree.branches.iter().enumerate();
        let old = old.filter(|(_, branch)| branch.counts().is_some_and(is_counting));
        let counters = old.clone().map(|(at, branch)| (branch.name.clone(), at));
        let mut planner = Self {
            schema,
            options,
            plan: Plan {
                branches: tree.branches.clone(),
                columns: tree.columns.clone(),
                ..Plan::default()
            },
            first: tree.branches.len(),
            names: tree.branches.iter().map(|branch| branch.name.clone()).collect(),
            integers: integers.chain(old.clone().map(|(_, item)| item.name.as_str())).collect(),
            counters: HashSet::new(),
            counter_branches: counters.collect(),
            leaf_lists: HashSet::new(),
        };
        let mut lists = Vec::new();
        schema.fields().iter().for_each(|field| list_names(field.name(), field, &mut lists));
        lists.retain(|list| !options.is_vector(list));
        planner.counters = lists.iter().map(|list| planner.counter_name(list)).collect();
        planner
    }

    fn column(&mut self, field: &Field) -> Result<Shape> {
        if self.is_taken(field.name()) {
            return Err(taken(field.name()));
        }
        if let Some(type_name) = self.options.class_of(field)? {
            return self.declared(field.name(), &type_name);
        }
        let own = self.options.columns.get(field.name());
        if let Some(kept) = own.and_then(|own| own.kept.as_deref()) {
            return self.kept(field, kept);
        }
        if let Some(type_name) = own.and_then(|own| own.class.clone()) {
            return self.described(field, &type_name);
        }
        // A counter has its branch already, or gets it here if its lists come later.
        if let Some(&branch) = self.counter_branches.get(field.name()) {
            return Ok(Shape::Counter(branch));
        }
        let name = field.name().as_str();
        if self.integers.contains(name) && self.counters.contains(name) {
            return self.counter(name).map(Shape::Counter);
        }
        self.shape(name, field, None)
    }

    /// Adds the branches of a column of a class, or of a collection of a class, which the user defines.
    fn declared(&mut self, name: &str, type_name: &str) -> Result<Shape> {
        let mut declared = Declarations::new(&self.options.classes);
        let spelt = declared.declare(type_name)?;
        check_streamed_by_infos(&spelt)?;
        // The types of other columns decide how a pair is described.
        for other in self.schema.fields() {
            if let Some(type_name) = self.options.class_of(other)? {
                let _refused_at_its_own_column = declared.declare(&type_name);
            }
        }
        let infos = declared.infos();
        let (mut column, _) = self.class(name, &spelt, &infos)?;
        column.data_type = narrowed(&column.streamed, &spelt, &infos, &self.options.classes);
        let new: Vec<ClassInfo> = infos
            .classes()
            .iter()
            .filter(|item| !self.plan.infos.contains(item))
            .cloned()
            .collect();
        self.plan.infos.extend(new);
        Ok(Shape::Class(column))
    }

    /// Adds the branches of a column of a class that a file describes.
    fn described(&mut self, field: &Field, type_name: &str) -> Result<Shape> {
        let described = self.options.described.clone().unwrap_or_default();
        let (column, layout) = self.class(field.name(), type_name, &described.infos)?;
        if !fits(field.data_type(), &column.data_type) {
            return Err(Error::unsupported(format!(
                "values of type {} do not fit the class {type_name}",
                brief(field.data_type())
            )));
        }
        self.plan.lists.merge(&ObjectLayout::describe([&*layout], &described.list));
        Ok(Shape::Class(column))
    }

    /// Adds the branches that another tree had for the values of a column.
    fn kept(&mut self, field: &Field, kept: &KeptBranch) -> Result<Shape> {
        if !kept.is_at(field.name()) {
            return Err(Error::unsupported(format!(
                "it is the form of {:?}",
                kept.branch().0.name
            )));
        }
        let (forms, shape) =
            existing::plan_kept(kept, self.plan.branches.len(), self.options.process)?;
        let top = forms.first().map(|form| &form.content);
        let other = || Some(format!(": {}", brief(field.data_type())));
        let misfit = match (&shape, top) {
            (Shape::Class(class), _) => misfit_in(field.data_type(), &class.data_type),
            (Shape::Vector(_), Some(Content::Vector(form)))
                if vector(field.data_type()) == Some(*form) =>
            {
                None
            }
            (Shape::Text(_), _) if is_text(field) => None,
            _ => other(),
        };
        if let Some(misfit) = misfit {
            return Err(Error::unsupported(format!(
                "the values do not fit its branch: {}",
                misfit.trim_start_matches(": ")
            )));
        }
        let layouts = forms.iter().filter_map(|form| match &form.content {
            Content::Objects(layout) => Some(&**layout),
            _ => None,
        });
        let described = self.options.described.clone().unwrap_or_default();
        self.plan.lists.merge(&ObjectLayout::describe_all(layouts, &described.list));
        self.plan.lists.merge(&described.versions(kept.classes()));
        if kept.elements().iter().any(|element| element.names_class.is_some()) {
            self.plan.lists.merge(&StreamerList::of_object_branches()?);
        }
        // ROOT gives branches of members the names of other branches, too.
        self.names.extend(forms.iter().map(|form| form.name.clone()));
        self.plan.branches.extend(forms);
        Ok(shape)
    }

    /// Adds the branches of a column of a type that `infos` describe. Also returns the layout of the whole values.
    fn class(
        &mut self,
        name: &str,
        type_name: &str,
        infos: &StreamerInfos,
    ) -> Result<(ClassColumn, Arc<ObjectLayout>)> {
        self.check_name(name)?;
        let (level, first) = (self.options.split_level_of(name), self.plan.branches.len());
        let Unrolled { branches, shape, layout } = unroll(infos, (name, type_name), level, first)?;
        for branch in branches {
            if self.is_taken(&branch.name) {
                return Err(taken(&branch.name));
            }
            if !self.names.insert(branch.name.clone()) {
                return Err(Error::invalid_argument(format!(
                    "two branches would have the name {:?}: end the name of the column with a dot, as in \"{name}.\", \
                     which the names of its members then begin with",
                    branch.name
                )));
            }
            self.plan.branches.push(branch);
        }
        let streamed = layout.data_type();
        Ok((ClassColumn { data_type: streamed.clone(), streamed, shape }, layout))
    }

    /// Checks the name of a branch, which may be the counter of a column.
    fn check_name(&self, name: &str) -> Result<()> {
        let has_name = |(column, own): (&String, &ColumnOptions)| {
            own.has_old_name && (column == name || own.counter.as_deref() == Some(name))
        };
        match names::check("a branch", name) {
            Err(_) if names::is_old_name(name) && self.options.columns.iter().any(has_name) => {
                Ok(())
            }
            checked => checked,
        }
    }

    /// Returns whether the tree has a branch of this name already.
    fn is_taken(&self, name: &str) -> bool {
        self.plan.branches[..self.first].iter().any(|branch| branch.name == name)
    }

    fn shape(
        &mut self,
        name: &str,
        field: &Field,
        counter: Option<(usize, usize)>,
    ) -> Result<Shape> {
        if field.metadata().contains_key(STREAMER) {
            return Err(Error::unsupported("a tree cannot hold the bytes of streamed objects"));
        }
        let data_type = plain(field.data_type());
        if let Some((number, dimensions)) = leaf(data_type)? {
            let leaf = self.leaf(name, 0, LeafForm::new(name, number, dimensions))?;
            return self.branch(name, Content::Leaves(vec![leaf]), counter).map(Shape::Leaf);
        }
        match data_type {
            data_type if is_bytes(data_type) && counter.is_none() => {
                self.branch(name, Content::Text, None).map(Shape::Text)
            }
            DataType::Struct(members) if members.is_empty() => {
                Err(Error::unsupported("a tree cannot hold a record without members"))
            }
            DataType::Struct(members) if counter.is_none() && self.options.is_leaf_list(name) => {
                let leaf = |(at, member): (usize, &Arc<Field>)| self.list_leaf(name, at, member);
                let leaves = members.iter().enumerate().map(leaf).collect::<Result<Vec<_>>>()?;
                let fixed = |leaf: &ListLeaf| match leaf {
                    ListLeaf::Numbers(leaf, None) => Some(leaf.clone()),
                    _ => None,
                };
                let content = match leaves.iter().map(fixed).collect() {
                    Some(leaves) => Content::Leaves(leaves),
                    None => Content::LeafList(LeafList::new(leaves)?),
                };
                let names = members.iter().map(|member| member.name().clone()).collect();
                let branch = self.branch(name, content, None)?;
                self.leaf_lists.insert(name.to_owned());
                Ok(Shape::LeafList(branch, names))
            }
            DataType::Struct(members) => {
                let member = |member: &std::sync::Arc<Field>| {
                    let shape = self.shape(&join(name, member.name()), member, counter)?;
                    Ok((member.name().clone(), shape))
                };
                Ok(Shape::Record(members.iter().map(member).collect::<Result<_>>()?))
            }
            DataType::List(item) | DataType::LargeList(item)
                if counter.is_none() && self.is_vector(name, item) =>
            {
                let form = vector(data_type).ok_or_else(|| no_vector(data_type))?;
                self.branch(name, Content::Vector(form), None).map(Shape::Vector)
            }
            DataType::List(item) | DataType::LargeList(item) if counter.is_none() => {
                let counter = match self.options.counter_leaf_of(name) {
                    Some((list, leaf)) => self.counter_leaf(list, leaf)?,
                    None => (self.counter(&self.counter_name(name))?, 0),
                };
                let items = self.shape(name, item, Some(counter))?;
                Ok(Shape::List(counter, Box::new(items)))
            }
            other => Err(refused(other, counter.is_some())),
        }
    }

    /// Returns one of several leaves of a branch. Strings, and arrays of varying size, are leaves that another tree had.
    fn list_leaf(&self, branch: &str, at: usize, member: &Field) -> Result<ListLeaf> {
        let options = self.options.leaf_of(branch, at);
        let counter = options.and_then(|options| options.counter);
        let item = counter.and_then(|_| item_type(member.data_type()));
        match leaf(item.unwrap_or(member.data_type()))? {
            Some((number, dimensions)) => {
                let leaf = LeafForm::new(member.name(), number, dimensions);
                Ok(ListLeaf::Numbers(self.leaf(branch, at, leaf)?, counter))
            }
            None => match options {
                Some(options) if is_text(member) => Ok(ListLeaf::Text(options.name.clone())),
                _ => Err(no_leaf(member)),
            },
        }
    }

    /// Gives a leaf of a branch the name and the type of the options.
    fn leaf(&self, branch: &str, at: usize, leaf: LeafForm) -> Result<LeafForm> {
        let options = self.options.leaf_of(branch, at);
        let name = options.map_or(leaf.name, |options| options.name.clone());
        check_leaf(options, &name)?;
        let packed = options.and_then(|options| options.packed.clone());
        let packed = packed.filter(|packed| packed.number() == leaf.number);
        let number = options.and_then(|options| options.number).unwrap_or(leaf.number);
        let is_long = options.is_some_and(|options| options.is_long);
        Ok(LeafForm { name, number, packed, is_long, ..leaf })
    }

    /// Returns whether lists become vectors: because this is requested, or because of their items.
    fn is_vector(&self, name: &str, item: &Field) -> bool {
        self.options.is_vector(name)
            || matches!(plain(item.data_type()), DataType::List(_) | DataType::LargeList(_))
            || is_text(item)
    }

    /// Adds a branch.
    fn branch(
        &mut self,
        name: &str,
        content: Content,
        counter: Option<(usize, usize)>,
    ) -> Result<usize> {
        self.check_name(name)?;
        if self.is_taken(name) {
            return Err(taken(name));
        }
        if !self.names.insert(name.to_owned()) {
            return Err(Error::invalid_argument(format!(
                "two branches would have the name {name:?}"
            )));
        }
        let is_text = matches!(content, Content::Text);
        let leaf = self.options.leaf_of(name, 0).filter(|_| is_text);
        if let Some(own) = leaf {
            check_leaf(leaf, &own.name)?;
        }
        let leaf = leaf.map(|options| options.name.clone());
        let string_class = self.options.string_class(name).filter(|_| is_text);
        let name = name.to_owned();
        self.plan.branches.push(BranchForm {
            name,
            content,
            counter: counter.map(|(branch, _)| branch),
            counter_leaf: counter.map_or(0, |(_, leaf)| leaf),
            string_class,
            leaf,
            element: None,
            offsets: None,
            process: None,
        });
        Ok(self.plan.branches.len() - 1)
    }

    /// Returns the branch of a counter, and adds it if it does not exist.
    fn counter(&mut self, name: &str) -> Result<usize> {
        if let Some(&branch) = self.counter_branches.get(name) {
            self.count_with(branch);
            return Ok(branch);
        }
        let given = self.schema.field_with_name(name).ok();
        let number = match given.map(|field| (number(field.data_type()), field)) {
            None => Number::Int32,
            // ROOT stores the largest count in a signed number of this width.
            Some((Some(number), _)) if is_counting(number) => match number {
                Number::UInt8 | Number::UInt16 | Number::Int64 | Number::UInt64 => Number::Int32,
                other => other,
            },
            Some((_, field)) => {
                return Err(Error::invalid_argument(format!(
                    "the counter of the lists would be {name:?}, but the column of this name has type {}: \
                     rename it, or name another counter",
                    brief(field.data_type())
                )));
            }
        };
        let mut leaf = LeafForm::new(name, number, Vec::new());
        if let Some(own) = self.options.leaf_of(name, 0) {
            check_leaf(Some(own), &own.name)?;
            leaf.name.clone_from(&own.name);
            if let Some(number) = own.number.filter(|&number| is_counting(number)) {
                (leaf.number, leaf.is_long) = (number, own.is_long);
            }
        }
        let branch = self.branch(name, Content::Counter(leaf), None)?;
        self.counter_branches.insert(name.to_owned(), branch);
        Ok(branch)
    }

    /// Returns the leaf of a leaf list that is a counter. Without the leaf list, a branch of this name is the counter.
    fn counter_leaf(&mut self, list: &str, leaf: usize) -> Result<(usize, usize)> {
        let Some(at) = self.plan.branches.iter().position(|branch| branch.name == list) else {
            return Ok((self.counter(list)?, 0));
        };
        let own = match &mut self.plan.branches[at].content {
            Content::Leaves(leaves) => leaves.get_mut(leaf).filter(|leaf| {
                is_counting(leaf.number) && leaf.dimensions.is_empty() && leaf.packed.is_none()
            }),
            // Without the leaf list, an earlier column made a branch of this name.
            Content::Counter(_) => return Ok((at, 0)),
            _ => None,
        };
        let own = own.ok_or_else(|| {
            Error::unsupported(format!("the leaf {leaf} of {list:?} is no number of items"))
        })?;
        own.counts = true;
        Ok((at, leaf))
    }

    /// Makes a branch of integers that the tree has already a counter.
    fn count_with(&mut self, at: usize) {
        let branch = &mut self.plan.branches[at];
        if branch.counts().is_none() {
            return;
        }
        if let Content::Leaves(leaves) = &branch.content
            && let Some(leaf) = leaves.first()
        {
            branch.content = Content::Counter(leaf.clone());
        }
        for (_, shape) in &mut self.plan.columns {
            if matches!(shape, Shape::Leaf(leaf) if *leaf == at) {
                *shape = Shape::Counter(at);
            }
        }
    }

    /// Returns the name of the counter of the lists of a column: the requested counter, the counter of a NanoAOD
    /// collection if there is such a column (`nJet` of `Jet_pt`), or `n` and the name of the column.
    fn counter_name(&self, list: &str) -> String {
        if let Some(name) = self.options.counter_of(list) {
            return name.to_owned();
        }
        let own = format!("n{list}");
        let counter = |name: &str| self.integers.contains(name).then(|| name.to_owned());
        let places = list.char_indices().rev().filter(|(_, character)| *character == '_');
        let prefixes = places.filter_map(|(place, _)| counter(&format!("n{}", &list[..place])));
        counter(&own).into_iter().chain(prefixes).next().unwrap_or(own)
    }

    /// Returns the branches that the tree does not have already.
    fn new_branches(&self) -> &[BranchForm] {
        &self.plan.branches[self.first..]
    }

    /// Checks that every glob of the options matches something.
    fn check_options(&self) -> Result<()> {
        self.unmatched().into_iter().flatten().next().map_or(Ok(()), Err)
    }

    /// Returns an error for each glob of the options, in their order, or `None` if it matches something.
    fn unmatched(&self) -> Vec<Option<Error>> {
        let mut lists = Vec::new();
        self.schema.fields().iter().for_each(|field| list_names(field.name(), field, &mut lists));
        let name = |branch: &BranchForm| branch.name.clone();
        let is_vector = |branch: &&BranchForm| matches!(branch.content, Content::Vector(_));
        let branches: Vec<String> = self.new_branches().iter().map(name).collect();
        let vectors: Vec<String> = self.new_branches().iter().filter(is_vector).map(name).collect();
        let leaf_lists: Vec<String> = self.leaf_lists.iter().cloned().collect();
        let unmatched = |(what, glob): (Globbed, &GlobMatcher)| {
            let (what, known): (_, &Vec<String>) = match what {
                Globbed::Branches => ("branches", &branches),
                Globbed::Counters => ("counters", &lists),
                Globbed::Vectors => ("vectors", &vectors),
                Globbed::LeafLists => ("leaf lists", &leaf_lists),
            };
            let is_known = known.iter().any(|name| glob.is_match(name));
            let pattern = glob.glob().glob();
            let message = format!("the pattern of {what} {pattern:?} matches nothing in the tree");
            let names = branches.iter().map(String::as_str);
            (!is_known).then(|| Error::invalid_argument(message).suggest(pattern, names))
        };
        self.options.globs().map(unmatched).collect()
    }
}

/// Checks the name of a leaf that has options, or of a new leaf.
fn check_leaf(options: Option<&LeafOptions>, name: &str) -> Result<()> {
    match options.is_some_and(|own| names::is_old_leaf(&own.name)) {
        true => Ok(()),
        false => names::check("a leaf", name),
    }
}

fn taken(name: &str) -> Error {
    Error::invalid_argument(format!(
        "the tree already has a branch {name:?}: give the new branch another name"
    ))
}
