//! Maps branches to fields: makes the schema of the output, and the units of work that fill it.

use std::collections::{BTreeMap, HashMap, HashSet};

use arrow_schema::DataType;
use nyssa_data::dataset::Filter;
use nyssa_rntuple::schema::{
    BACKING_PREFIX, FieldId, FieldNames, FieldType, Schema, SchemaBuilder,
};
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result};
use nyssa_ttree::{Branch, CountSource};

use super::classes::Classes;
use super::failures::Failures;
use super::fields::{field_type, keeps_dimensions};
use super::model::{FieldMap, Input, OutputField, Source};
use super::streamer::StreamerBranches;
use crate::convert::options::Layout;
use crate::convert::report::{Renamed, Skipped};

/// The plan of a conversion.
#[derive(Clone, Debug, Default)]
pub struct ConversionPlan {
    /// The schema of the output.
    pub schema: Schema,
    /// The units that fill the schema, in the order of the columns.
    pub units: Vec<OutputField>,
    /// The branches and their fields, in the order of the tree.
    pub fields: Vec<FieldMap>,
    /// The branches that are left out.
    pub skipped: Vec<Skipped>,
    /// The branches whose field has another name.
    pub renamed: Vec<Renamed>,
    /// Notes on the mapping.
    pub notes: Vec<String>,
}

/// The options of the mapping.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The layout of jagged branches.
    pub layout: Layout,
    /// The compression of the output. It decides ROOT's default encodings.
    pub compression: Compression,
    /// The filter of the branches that are converted.
    pub filter: &'a Filter,
    /// Whether branches that cannot be converted are left out. Otherwise the conversion fails.
    pub skip_unsupported: bool,
    /// Whether branches whose data are not complete are left out.
    pub skip_unreadable: bool,
    /// The type as which each input reads, and the type of its field.
    pub checks: &'a [Checked],
    /// The branches that become streamer fields.
    pub streamed_branches: &'a StreamerBranches,
    /// The failures of the branches in earlier attempts.
    pub failures: &'a Failures,
}

/// The type as which a branch reads, and the type of its field (of its items if it has a counter), or the reason why
/// it has none.
pub type Checked = std::result::Result<(DataType, FieldType), String>;

/// Maps `inputs`, in the order of the tree, to a schema.
///
/// # Errors
/// `Unsupported` with a list of all branches that cannot be converted, unless they are skipped;
/// `InvalidArgument` if no branch is left.
pub fn map(inputs: &[Input<'_>], rules: Rules<'_>) -> Result<ConversionPlan> {
    let mut map = ConversionPlan::default();
    let taken = select(inputs, rules, &mut map)?;
    map.notes.extend(taken.iter().filter_map(|taken| {
        let Input { path, branch } = &inputs[taken.index];
        let numbered = !path.ends_with(&branch.name);
        numbered.then(|| format!("{path}: an earlier branch is also called {}", branch.name))
    }));
    let mut names = FieldNames::reserving(taken.iter().map(|taken| taken.path));
    // Names are given in the order of the tree, which may not be the order of the fields.
    let given = taken.iter().map(|taken| (taken.path, names.give(taken.path))).collect();
    let mut mapper = Mapper {
        inputs: inputs.iter().map(|input| (input.path.as_str(), input.branch)).collect(),
        given,
        names,
        builder: SchemaBuilder::new(rules.compression),
        map,
    };
    match rules.layout {
        Layout::Importer => mapper.importer(taken)?,
        Layout::Vectors => mapper.vectors(taken)?,
    }
    Ok(mapper.finish(inputs))
}

/// A branch that is converted.
struct SelectedBranch<'a> {
    index: usize,
    path: &'a str,
    counter: Option<&'a CountSource>,
    data_type: DataType,
    /// The type of the field, or of its items if there is a counter.
    item: FieldType,
}

/// One counter, and the jagged branches that it counts.
struct CountedBranches<'a> {
    counter: &'a CountSource,
    members: Vec<SelectedBranch<'a>>,
}

/// Returns the branches to convert, and adds unsupported branches to `map.skipped`.
fn select<'a>(
    inputs: &'a [Input<'_>],
    rules: Rules<'_>,
    map: &mut ConversionPlan,
) -> Result<Vec<SelectedBranch<'a>>> {
    let mut taken = Vec::new();
    let mut left_out = Vec::new();
    for (index, (Input { path, branch }, checked)) in inputs.iter().zip(rules.checks).enumerate() {
        if !rules.filter.takes(path) {
            continue;
        }
        if let Some(skipped) = rules.failures.left_out(index) {
            left_out.push(skipped.clone());
            continue;
        }
        if let Some(streamed) = rules.streamed_branches.get(index) {
            let item = FieldType::Streamed(streamed.class.clone());
            taken.push(SelectedBranch {
                index,
                path,
                counter: None,
                data_type: DataType::LargeBinary,
                item,
            });
            continue;
        }
        match checked {
            Ok((data_type, item)) => {
                let (counter, data_type) = (counter(branch), data_type.clone());
                taken.push(SelectedBranch { index, path, counter, data_type, item: item.clone() });
            }
            Err(reason) => {
                let also =
                    rules.streamed_branches.not_streamed(index).map_or(String::new(), |why| {
                        format!("; nor can its objects be streamed: {why}")
                    });
                let (unreadable, reason) = (!branch.complete, format!("{reason}{also}"));
                map.skipped.push(Skipped { branch: path.clone(), reason, unreadable });
            }
        }
    }
    let may_leave_out =
        |element: &Skipped| rules.skip_unsupported || element.unreadable && rules.skip_unreadable;
    if !map.skipped.iter().all(may_leave_out) {
        return Err(unsupported(&map.skipped));
    }
    map.skipped.extend(left_out);
    if taken.is_empty() {
        return Err(match map.skipped.as_slice() {
            [] => Error::invalid_argument(format!(
                "no branch is left to convert: the patterns match none of the {} in the tree",
                inputs.len()
            )),
            skipped => Error::invalid_argument(format!(
                "no branch is left to convert; these cannot be:\n  {}",
                Skipped::reasons(skipped)
            )),
        });
    }
    Ok(taken)
}

/// Returns the type as which the branch reads, and the type of its field (of its items if it has a counter).
pub fn check(branch: &Branch, layout: Layout, classes: &Classes<'_>) -> Checked {
    let data_type = branch.data_type()?;
    let item = match (classes.field_type(branch), &data_type, counter(branch)) {
        (Some(typed), ..) => typed,
        (_, DataType::LargeList(item), Some(_)) => field_type(item, layout)?,
        _ => field_type(&branch.arrow_field("")?, layout)?,
    };
    // RNTuple does not have a field for every combination of types.
    let field = SchemaBuilder::new(Compression::DEFAULT).field(None, "branch", &item);
    field.map_err(|error| error.message().to_owned())?;
    Ok((data_type, item))
}

/// Returns the counter of a jagged branch.
fn counter(branch: &Branch) -> Option<&CountSource> {
    branch.shape.as_ref().ok().filter(|_| branch.split.is_none())?.counter()
}

fn unsupported(skipped: &[Skipped]) -> Error {
    Error::unsupported(format!(
        "{} branch{} cannot be converted; exclude them, or skip what is unsupported:\n  {}",
        skipped.len(),
        if skipped.len() == 1 { "" } else { "es" },
        Skipped::reasons(skipped)
    ))
}

struct Mapper<'a> {
    inputs: HashMap<&'a str, &'a Branch>,
    /// The names of the fields of the branches that are converted.
    given: HashMap<&'a str, String>,
    names: FieldNames,
    builder: SchemaBuilder,
    map: ConversionPlan,
}

impl<'a> Mapper<'a> {
    /// Makes the fields that ROOT's importer makes: plain fields in the order of the tree, then one collection
    /// for each counter in the order of the counters' names, and after all physical fields their projections.
    fn importer(&mut self, taken: Vec<SelectedBranch<'a>>) -> Result<()> {
        // Fixed-size arrays cannot be projected (specification, "Field Description").
        let (members, others): (Vec<_>, Vec<_>) = taken.into_iter().partition(|taken| {
            taken.counter.is_some() && !matches!(taken.item, FieldType::Array(..))
        });
        let mut collections: BTreeMap<(&str, &str), CountedBranches<'_>> = BTreeMap::new();
        for member in members {
            let Some(counter) = member.counter else { continue };
            collections
                .entry((&counter.leaf, &counter.branch))
                .or_insert_with(|| CountedBranches { counter, members: Vec::new() })
                .members
                .push(member);
        }
        let counters: HashSet<&str> = collections
            .values()
            .map(|counted| counted.counter.branch.as_str())
            .filter(|path| self.only_counts(path))
            .collect();
        for branch in others.iter().filter(|branch| !counters.contains(branch.path)) {
            self.whole(branch, FieldType::rvec)?;
        }
        let mut physical = Vec::new();
        for counted in collections.values() {
            physical.push(self.collection(counted)?);
        }
        for (counted, (collection, members)) in collections.values().zip(physical) {
            self.projections(counted, collection, &members)?;
        }
        Ok(())
    }

    /// Makes a separate field for every branch, in the order of the tree.
    fn vectors(&mut self, taken: Vec<SelectedBranch<'a>>) -> Result<()> {
        taken.iter().try_for_each(|branch| self.whole(branch, FieldType::vector))
    }

    /// Returns the name of the field of a branch.
    fn name_of(&mut self, path: &str) -> String {
        self.given.get(path).cloned().unwrap_or_else(|| self.names.give(path))
    }

    /// Returns whether a branch contains only the count. The collection then contains the same numbers.
    fn only_counts(&self, path: &str) -> bool {
        self.inputs.get(path).is_some_and(|branch| branch.leaves.len() <= 1)
    }

    /// Makes a field for a whole branch. `list` makes the type of a jagged branch.
    fn whole(
        &mut self,
        branch: &SelectedBranch<'_>,
        list: fn(FieldType) -> FieldType,
    ) -> Result<()> {
        let name = self.name_of(branch.path);
        let item = branch.item.clone();
        let field_type = if branch.counter.is_some() { list(item) } else { item };
        let type_name = field_type.type_name()?;
        let field = self.builder.field(None, &name, &field_type)?;
        let source = match branch.item {
            FieldType::Streamed(_) => Source::Streamed(branch.index),
            _ => Source::Branch(branch.index),
        };
        self.map.units.push(OutputField { field, source });
        if keeps_dimensions(&branch.data_type, true) {
            self.map.notes.push(format!(
                "{}: all dimensions of the array are kept; ROOT's importer does not keep them",
                branch.path
            ));
        }
        self.mapped(branch.path, name, type_name, field, true);
        Ok(())
    }

    /// Makes the untyped collection of one counter: index column, record, members. Its name contains the counter, so
    /// that it does not depend on the other collections of the file.
    fn collection(&mut self, counted: &CountedBranches<'_>) -> Result<(FieldId, Vec<FieldId>)> {
        let name = self.names.invent(&format!("{BACKING_PREFIX}_{}", self.counter(counted)));
        let members = counted
            .members
            .iter()
            .map(|member| (self.name_of(member.path), member.item.clone()))
            .collect();
        let record = FieldType::Record(members);
        let collection = self.builder.field(None, &name, &FieldType::vector(record))?;
        let source = Source::Offsets(counted.counter.clone());
        self.map.units.push(OutputField { field: collection, source });
        let schema = self.builder.schema();
        let records = &schema.field(collection).children;
        let members: Vec<_> =
            records.iter().flat_map(|&record| schema.field(record).children.clone()).collect();
        for (member, &field) in counted.members.iter().zip(&members) {
            self.map.units.push(OutputField { field, source: Source::Items(member.index) });
        }
        Ok((collection, members))
    }

    /// Makes the fields that users see: a vector for each member, and the counter as a cardinality.
    fn projections(
        &mut self,
        counted: &CountedBranches<'_>,
        collection: FieldId,
        members: &[FieldId],
    ) -> Result<()> {
        for (member, &source) in counted.members.iter().zip(members) {
            let name = self.builder.schema().field(source).name.clone();
            let field_type = FieldType::rvec(member.item.clone());
            self.builder.project(&name, &field_type, &[collection, source])?;
            self.mapped(member.path, name, field_type.type_name()?, source, true);
        }
        let CountSource { branch, leaf } = counted.counter;
        let readable = self.only_counts(branch);
        // The path of one of several leaves must differ from the paths of all branches.
        let (path, name) = match readable {
            true => (branch.clone(), self.name_of(branch)),
            false => (format!("{branch}.{leaf}"), self.names.invent(leaf)),
        };
        let field_type = self.cardinality(branch);
        self.builder.project(&name, &field_type, &[collection])?;
        self.mapped(&path, name, field_type.type_name()?, collection, readable);
        Ok(())
    }

    /// Returns the name of the counter: the name of its branch, or of its leaf if the branch has several.
    fn counter<'c>(&self, counted: &'c CountedBranches<'_>) -> &'c str {
        let CountSource { branch, leaf } = counted.counter;
        if self.only_counts(branch) { branch } else { leaf }
    }

    /// Returns the type of a cardinality: 32 bits as in ROOT, unless the counter itself has more.
    fn cardinality(&self, counter: &str) -> FieldType {
        let data_type = self.inputs.get(counter).and_then(|branch| branch.data_type().ok());
        match data_type {
            Some(DataType::Int64 | DataType::UInt64) => FieldType::Cardinality64,
            _ => FieldType::Cardinality32,
        }
    }

    fn mapped(
        &mut self,
        branch: &str,
        field: String,
        type_name: String,
        physical: FieldId,
        readable: bool,
    ) {
        let branch = branch.to_owned();
        if branch != field {
            self.map.renamed.push(Renamed { branch: branch.clone(), field: field.clone() });
        }
        self.map.fields.push(FieldMap { branch, field, type_name, physical, readable });
    }

    fn finish(self, inputs: &[Input<'_>]) -> ConversionPlan {
        let mut map = self.map;
        let order: HashMap<&str, usize> =
            inputs.iter().enumerate().map(|(index, input)| (input.path.as_str(), index)).collect();
        let place = |path: &str| order.get(path).copied();
        let of_leaf = |path: &str| path.rsplit_once('.').and_then(|(branch, _)| place(branch));
        map.fields.sort_by_key(|field| place(&field.branch).or_else(|| of_leaf(&field.branch)));
        let described = map.fields.iter().filter_map(|field| {
            let title = self.inputs.get(field.branch.as_str())?.written_title()?;
            Some((field.field.as_str(), title.to_owned()))
        });
        let mut titles: HashMap<&str, String> = described.collect();
        map.schema = self.builder.finish();
        for field in map.schema.fields.iter_mut().filter(|field| field.parent.is_none()) {
            if let Some(title) = titles.remove(field.name.as_str()) {
                field.description = title;
            }
        }
        map
    }
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
