//! Makes the plan of a tree that is in the file: its branches, and the columns that fill them. A branch that cannot be
//! filled is refused by its name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::Number;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::streamer::ObjectLayout;

use super::element::ElementForm;
use super::form::{BranchForm, Content};
use super::kept::KeptBranch;
use super::leaf_form::LeafForm;
use super::options::BranchSettings;
use super::shape::{ClassColumn, Plan, Shape};
use super::tree_columns::leaf_type;
use super::unroll::ClassShape;
use super::vector::VectorForm;
use crate::model::{
    Branch, CountSource, Element, Leaf, Shape as Stored, Split, SplitMember, Streamed, Tree,
};
use crate::stored::{StoredBranch, StoredTree};

/// Returns the plan of a tree, how its branches are stored, and the reason why it takes no entries, if there is one. Its
/// plan then has no columns. `default` is the compression of branches that do not state their own.
///
/// # Errors
/// `OutOfSpecification` for a damaged tree.
pub(super) fn plan(
    tree: &Tree,
    stored: &StoredTree,
    default: Compression,
) -> Result<(Plan, Vec<BranchSettings>, Option<Error>)> {
    let setting =
        |own: &StoredBranch| BranchSettings::stored(compression(own, default), own.basket_size);
    let settings = stored.branches.iter().map(setting).collect();
    let mut planner = Planner::new(&tree.branches, &stored.branches)?;
    let (mut plan, mut refused) = (Plan::default(), None);
    for branch in &tree.branches {
        match planner.top(branch).in_field(&branch.path) {
            Ok(shape) => plan.columns.push((branch.path.clone(), shape)),
            Err(error) => refused = refused.or(Some(cannot_add(error))),
        }
    }
    plan.branches = planner.finish().unwrap_or_else(|(forms, error)| {
        refused.get_or_insert_with(|| cannot_add(error));
        forms
    });
    if refused.is_some() {
        plan.columns.clear();
    }
    Ok((plan, settings, refused))
}

/// Returns the forms of a branch that another tree had and of the branches below it, numbered from `first`, and how a column
/// fills them. `process` is the number of the process of the objects that others refer to.
///
/// # Errors
/// `Unsupported` with the branch that cannot be filled.
pub(super) fn plan_kept(
    kept: &KeptBranch,
    first: usize,
    process: Option<u16>,
) -> Result<(Vec<BranchForm>, Shape)> {
    let (branch, stored) = kept.branch();
    let planner = Planner::new(std::slice::from_ref(branch), stored)?;
    let mut planner = Planner { is_kept: true, process, ..planner };
    let shape = planner.top(branch).in_field(&branch.path)?;
    let forms = planner.finish().map_err(|(_, error)| error)?;
    let form = |(form, element): (BranchForm, &ElementForm)| {
        let moved = |at: Option<usize>| at.map(|at| at + first);
        let (mother, length) = (moved(element.mother), moved(element.length));
        BranchForm {
            counter: moved(form.counter),
            process,
            element: Some(Box::new(ElementForm { mother, length, ..element.clone() })),
            ..form
        }
    };
    let forms = forms.into_iter().zip(kept.elements()).map(form).collect();
    Ok((forms, shape.moved(first)))
}

/// Returns the compression of the new baskets of a branch.
fn compression(branch: &StoredBranch, default: Compression) -> Compression {
    match Compression::of_setting(branch.compression) {
        // uproot states no compression, whatever its baskets have.
        Some(Compression { level: 0, .. }) if branch.bytes.1 < branch.bytes.0 => default,
        Some(compression) => compression,
        None => default,
    }
}

struct Planner<'t> {
    /// All branches. A branch comes before the branches below it.
    branches: Vec<&'t Branch>,
    stored: &'t [StoredBranch],
    /// The numbers of branches by their paths.
    numbers: HashMap<&'t str, usize>,
    /// The branches that count the items of others.
    counters: HashSet<&'t str>,
    /// The forms of the branches that can be filled.
    forms: Vec<Option<BranchForm>>,
    /// Whether the branches are of another tree, so that their elements are known: arrays are compared with the branch that has
    /// their length, and entries may begin with the name of a class.
    is_kept: bool,
    /// The number of the process of the objects that others refer to.
    process: Option<u16>,
}

impl<'t> Planner<'t> {
    fn new(top: &'t [Branch], stored: &'t [StoredBranch]) -> Result<Self> {
        let mut branches = Vec::new();
        flatten(top, &mut branches);
        if branches.len() != stored.len() {
            return Err(Error::out_of_spec("its branches are not read in one way"));
        }
        let numbers = branches.iter().enumerate().map(|(at, item)| (item.path.as_str(), at));
        let counters = branches.iter().filter_map(|branch| counter_of(branch));
        Ok(Self {
            stored,
            numbers: numbers.collect(),
            counters: counters.map(|source| source.branch.as_str()).collect(),
            forms: vec![None; branches.len()],
            branches,
            is_kept: false,
            process: None,
        })
    }

    /// Returns the forms of all branches, or an error with a branch that no column fills.
    fn finish(self) -> std::result::Result<Vec<BranchForm>, (Vec<BranchForm>, Error)> {
        let mut refused = None;
        let each = self.branches.iter().zip(self.forms);
        let forms = each.map(|(branch, form)| {
            let has_data = !branch.baskets.is_empty() || !branch.leaves.is_empty();
            if form.is_none() && has_data {
                let error: Result<()> = Err(refused_as("it is no member of its class"));
                refused = refused.take().or(error.in_field(&branch.path).err());
            }
            form.unwrap_or_else(|| self::form(branch, Content::Nothing, None, None))
        });
        let forms = forms.collect();
        match refused {
            None => Ok(forms),
            Some(error) => Err((forms, error)),
        }
    }

    fn number(&self, path: &str) -> Result<usize> {
        let number = self.numbers.get(path).copied();
        number.ok_or_else(|| refused_as(&format!("the branch {path} is missing")))
    }

    /// Returns the shape of the column of a top branch.
    fn top(&mut self, branch: &'t Branch) -> Result<Shape> {
        let at = self.number(&branch.path)?;
        match (&branch.split, &branch.shape) {
            (None, _) if !branch.branches.is_empty() => Err(refused_as("it has sub-branches")),
            (None, Ok(Stored::Streamed(streamed))) if !is_plain_class(streamed) => self.class(at),
            (None, _) => {
                let (form, shape) = self.plain(branch, at)?;
                self.forms[at] = Some(form);
                Ok(shape)
            }
            (Some(_), _) => self.class(at),
        }
    }

    /// Returns the shape of a branch of a class.
    fn class(&mut self, at: usize) -> Result<Shape> {
        let shape = self.value(at)?;
        let data_type = self.data_type(&shape);
        Ok(Shape::Class(ClassColumn { streamed: data_type.clone(), data_type, shape }))
    }

    /// Returns how a branch of a class is filled, with the branches below it.
    fn value(&mut self, at: usize) -> Result<ClassShape> {
        let (branch, stored) = (self.branches[at], &self.stored[at]);
        let Some(split) = &branch.split else {
            self.forms[at] = Some(self.member(branch, stored)?);
            return Ok(ClassShape::Value(at));
        };
        let content = if split.collection.is_some() { Content::Items } else { Content::Nothing };
        self.forms[at] = Some(form(branch, content, None, Some(stored.has_offsets)));
        self.split(split)
    }

    fn split(&mut self, split: &'t Split) -> Result<ClassShape> {
        let mut members = Vec::new();
        for (name, member) in &split.members {
            let shape = match member {
                SplitMember::Inside(inner) => self.split(inner)?,
                SplitMember::Branch(path) => {
                    let at = self.number(path)?;
                    self.value(at).in_field(path)?
                }
            };
            members.push((name.clone(), shape));
        }
        let record = ClassShape::Record(members);
        Ok(match &split.collection {
            None => record,
            Some((_, counter)) => {
                ClassShape::Items(self.number(&counter.branch)?, Box::new(record))
            }
        })
    }

    /// Returns the form of a branch with whole objects, or with one member of objects.
    fn member(&self, branch: &Branch, stored: &StoredBranch) -> Result<BranchForm> {
        let shape = branch.shape.as_ref().map_err(|reason| refused_as(reason))?;
        let counter = shape.counter().map(|source| self.number(&source.branch)).transpose()?;
        let (content, is_fixed) = match shape {
            Stored::Plain(plain) => {
                let number = plain.element.number();
                let number = number.ok_or_else(|| refused_as("its type cannot be written"))?;
                let leaf = leaf_form(&branch.name, number, &plain.dimensions);
                (Content::Leaves(vec![leaf]), counter.is_none())
            }
            Stored::Streamed(Streamed { named: true, .. }) if !self.is_kept => {
                return Err(refused_as("its objects are of several classes"));
            }
            Stored::Streamed(Streamed { lengths: Some(_), .. })
                if counter.is_some() || !self.is_kept =>
            {
                return Err(refused_as("it is an array whose length is in another branch"));
            }
            Stored::Streamed(streamed) => {
                if let Some(reason) = streamed.layout.not_in_baskets(self.process) {
                    return Err(refused_as(&reason));
                }
                let is_fixed = streamed.layout.fixed_size().is_some() && counter.is_none();
                (Content::Objects(Arc::clone(&streamed.layout)), is_fixed)
            }
            Stored::LeafList => return Err(refused_as("it is a leaf list in an object")),
        };
        if !is_fixed && !stored.has_offsets {
            return Err(refused_as("its baskets lack offsets of their entries"));
        }
        Ok(form(branch, content, counter, Some(stored.has_offsets)))
    }

    /// Returns the type of the values of a branch of a class.
    fn data_type(&self, shape: &ClassShape) -> DataType {
        match shape {
            ClassShape::Value(at) => match self.forms[*at].as_ref().map(|form| &form.content) {
                Some(Content::Leaves(leaves)) => leaves.first().map_or(DataType::Null, leaf_type),
                Some(Content::Objects(layout)) => layout.data_type(),
                _ => DataType::Null,
            },
            ClassShape::Record(members) => {
                let field = |(name, shape): &(String, ClassShape)| match self.layout(shape) {
                    // An object behind a pointer may be missing.
                    Some(layout) => layout.arrow_field(name),
                    None => Field::new(name, self.data_type(shape), false),
                };
                DataType::Struct(members.iter().map(field).collect())
            }
            ClassShape::Items(_, item) => {
                DataType::LargeList(Arc::new(Field::new("item", self.data_type(item), false)))
            }
        }
    }

    /// Returns the layout of the values of a branch that ROOT's streamer writes.
    fn layout(&self, shape: &ClassShape) -> Option<&ObjectLayout> {
        let ClassShape::Value(at) = shape else { return None };
        match &self.forms.get(*at)?.as_ref()?.content {
            Content::Objects(layout) => Some(layout),
            _ => None,
        }
    }

    /// Returns the number of the branch that counts the items of a branch.
    fn counter(&self, branch: &Branch) -> Result<Option<usize>> {
        let Some(source) = counter_of(branch) else { return Ok(None) };
        let number = self.number(&source.branch)?;
        match self.branches[number].leaves.len() {
            1 => Ok(Some(number)),
            _ => Err(refused_as(&format!("its counter {} is one of several leaves", source.leaf))),
        }
    }

    /// Returns the form of a branch of numbers, strings or vectors, and the shape of its column.
    fn plain(&self, branch: &Branch, at: usize) -> Result<(BranchForm, Shape)> {
        let counter = self.counter(branch)?;
        let stored = &self.stored[at];
        let (content, shape) = match &branch.shape {
            Ok(Stored::Plain(plain)) => match (plain.element, plain.element.number()) {
                (Element::CString, _) => (Content::Text, Shape::Text(at)),
                (_, Some(number)) if self.counters.contains(branch.path.as_str()) => {
                    if number.is_float() || !plain.dimensions.is_empty() || counter.is_some() {
                        return Err(refused_as(
                            "it counts the items of another branch, and is no integer",
                        ));
                    }
                    let leaf = branch.leaves.first().map_or(&branch.name, |leaf| &leaf.name);
                    (Content::Counter(leaf_form(leaf, number, &[])), Shape::Counter(at))
                }
                (_, Some(number)) => {
                    let leaf = branch.leaves.first().map_or(&branch.name, |leaf| &leaf.name);
                    let leaf = leaf_form(leaf, number, &plain.dimensions);
                    let shape = Shape::Leaf(at);
                    let shape = match counter {
                        Some(counter) => Shape::List((counter, 0), Box::new(shape)),
                        None => shape,
                    };
                    (Content::Leaves(vec![leaf]), shape)
                }
                (_, None) => return Err(refused_as("its type cannot be written")),
            },
            Ok(Stored::LeafList) => {
                let leaf = |leaf: &Leaf| {
                    let number = leaf.element.and_then(Element::number);
                    let number =
                        number.ok_or_else(|| refused_as("one of its leaves is no number"))?;
                    Ok(leaf_form(&leaf.name, number, &leaf.dimensions))
                };
                let leaves = branch.leaves.iter().map(leaf).collect::<Result<Vec<_>>>()?;
                let names = leaves.iter().map(|leaf| leaf.name.clone()).collect();
                (Content::Leaves(leaves), Shape::LeafList(at, names))
            }
            Ok(Stored::Streamed(streamed)) => {
                let whole = stored.property("fID") == Some("-1")
                    && matches!(stored.property("fType"), Some("0" | "-1"));
                match VectorForm::of_class(&streamed.type_name) {
                    Some(form) if whole => (Content::Vector(form), Shape::Vector(at)),
                    // The branch is stored like the strings of a leaf.
                    None if whole => (Content::Text, Shape::Text(at)),
                    _ => return Err(refused_as(&format!("its type is {}", streamed.type_name))),
                }
            }
            Err(reason) => return Err(refused_as(reason)),
        };
        let mut form = form(branch, content, counter, None);
        if matches!(form.content, Content::Text) {
            let leaf = branch.leaves.first().map(|leaf| leaf.name.clone());
            form.leaf = leaf.filter(|leaf| *leaf != branch.name);
        }
        if form.is_variable() != stored.has_offsets {
            let has = if stored.has_offsets { "have" } else { "lack" };
            return Err(refused_as(&format!("its baskets {has} offsets of their entries")));
        }
        Ok((form, shape))
    }
}

/// Adds branches, and those below each of them behind it.
fn flatten<'t>(branches: &'t [Branch], out: &mut Vec<&'t Branch>) {
    for branch in branches {
        out.push(branch);
        flatten(&branch.branches, out);
    }
}

/// Returns whether a branch of objects has strings or vectors of numbers, which are filled like branches of a new tree.
fn is_plain_class(streamed: &Streamed) -> bool {
    VectorForm::of_class(&streamed.type_name).is_some() || streamed.type_name == "string"
}

fn counter_of(branch: &Branch) -> Option<&CountSource> {
    branch.shape.as_ref().ok().and_then(Stored::counter)
}

fn form(
    branch: &Branch,
    content: Content,
    counter: Option<usize>,
    offsets: Option<bool>,
) -> BranchForm {
    let name = branch.name.clone();
    BranchForm {
        name,
        content,
        counter,
        counter_leaf: 0,
        string_class: None,
        leaf: None,
        element: None,
        offsets,
        process: None,
    }
}

fn leaf_form(name: &str, number: Number, dimensions: &[u64]) -> LeafForm {
    let dimensions = dimensions.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX));
    LeafForm::new(name, number, dimensions.collect())
}

fn refused_as(reason: &str) -> Error {
    Error::unsupported(reason)
}

/// Returns the error for a tree with a branch that cannot be filled.
fn cannot_add(error: Error) -> Error {
    if error.kind() != Kind::Unsupported {
        return error;
    }
    error.map_message(|reason| {
        format!(
            "no entries can be added to this branch: {reason}. All branches of the tree must be numbers, fixed or jagged \
             arrays of numbers, leaf lists, strings, std::vector, or objects whose members and pointers nyssa writes; \
             branches can be added to the tree all the same"
        )
    })
}
