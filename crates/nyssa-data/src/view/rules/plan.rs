//! Finds the places in a field to which rules apply.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, StructArray, UInt64Array, new_empty_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use nyssa_root::arrow::{children, with_children};
use nyssa_root::error::{Error, Result, ResultExt};

use super::ReadRule;
use crate::dataset::CppType;
use crate::view::evolve::{EvolutionOptions, Missing, evolve};

/// The largest depth of nested fields that is searched.
const MAX_DEPTH: usize = 200;

/// The changes that rules make to a field.
pub(super) enum Plan {
    Keep,
    /// The plans of the items of lists, or of the alternatives of variants, and the type that they make.
    Below(DataType, Vec<Plan>),
    Record {
        members: Fields,
        plans: Vec<Plan>,
        rules: Vec<Applied>,
    },
}

/// A rule for the objects of one record.
pub(super) struct Applied {
    rule: ReadRule,
    /// The sources. Each has the indices of the members that lead to it, outermost first, and its field.
    sources: Vec<(Vec<usize>, Field)>,
    /// The index of each target among the members of the result.
    targets: Vec<usize>,
}

/// The reason why there is no plan.
pub(super) enum Failure {
    /// The rules do not fit this field.
    Reason(String),
    /// A function failed.
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

type PlanResult<T> = std::result::Result<T, Failure>;

/// Returns how `rules` change a field of this C++ type.
pub(super) fn plan(cpp_type: &CppType, field: &Field, rules: &[ReadRule]) -> PlanResult<Plan> {
    let child = |index: usize, field: &Field| plan(cpp_type.member(index), field, rules);
    let keeps = |plan: &Plan| matches!(plan, Plan::Keep);
    Ok(match field.data_type() {
        DataType::Struct(members) => {
            let plans = members.iter().enumerate().map(|(index, member)| child(index, member));
            let plans = plans.collect::<PlanResult<Vec<_>>>()?;
            let class = cpp_type.class.as_ref();
            let fits = |rule: &&ReadRule| class.is_some_and(|(name, of)| rule.applies(name, *of));
            let fitting = rules.iter().filter(fits).collect::<Vec<_>>();
            if fitting.is_empty() && plans.iter().all(keeps) {
                return Ok(Plan::Keep);
            }
            record(members, plans, &fitting)?
        }
        DataType::LargeList(item) => {
            let plan = child(0, item)?;
            below(DataType::LargeList(Arc::new(plan.field(item))), vec![plan])
        }
        DataType::FixedSizeList(item, size) => {
            let plan = child(0, item)?;
            below(DataType::FixedSizeList(Arc::new(plan.field(item)), *size), vec![plan])
        }
        DataType::Union(members, mode) => {
            // The first child of the union means that there is no value.
            let plans = members.iter().enumerate().map(|(index, (_, member))| {
                index.checked_sub(1).map_or(Ok(Plan::Keep), |index| child(index, member))
            });
            let plans = plans.collect::<PlanResult<Vec<_>>>()?;
            let fields = members.iter().zip(&plans);
            let fields = fields.map(|((id, field), plan)| (id, Arc::new(plan.field(field))));
            below(DataType::Union(fields.collect(), *mode), plans)
        }
        _ => Plan::Keep,
    })
}

/// Returns the plan of lists or variants of the type `to`, whose items or alternatives have these plans.
fn below(to: DataType, plans: Vec<Plan>) -> Plan {
    match plans.iter().all(|plan| matches!(plan, Plan::Keep)) {
        true => Plan::Keep,
        false => Plan::Below(to, plans),
    }
}

fn record(members: &Fields, plans: Vec<Plan>, rules: &[&ReadRule]) -> PlanResult<Plan> {
    let fields = members.iter().zip(&plans);
    let mut fields = fields.map(|(field, plan)| Arc::new(plan.field(field))).collect::<Vec<_>>();
    let stored = Fields::from(fields.clone());
    let mut made: Vec<&str> = Vec::new();
    let mut applied = Vec::with_capacity(rules.len());
    for rule in rules {
        let sources = rule.sources.iter().map(|name| {
            source(&stored, name, 0).ok_or_else(|| {
                Failure::Reason(format!(
                    "the rule for {} needs the member {name:?}, which is missing",
                    rule.class
                ))
            })
        });
        let sources = sources.collect::<PlanResult<Vec<_>>>()?;
        let types = types(rule, &sources)?;
        let mut targets = Vec::with_capacity(types.len());
        for (target, field) in rule.targets.iter().zip(types) {
            if made.contains(&target.name.as_str()) {
                let message = format!("two rules for {} compute {:?}", rule.class, target.name);
                return Err(Failure::Reason(message));
            }
            made.push(&target.name);
            let field = Arc::new(field.with_name(&target.name));
            match fields.iter().position(|other| *other.name() == target.name) {
                Some(index) => {
                    fields[index] = field;
                    targets.push(index);
                }
                None => {
                    targets.push(fields.len());
                    fields.push(field);
                }
            }
        }
        applied.push(Applied { rule: (*rule).clone(), sources, targets });
    }
    Ok(Plan::Record { members: fields.into(), plans, rules: applied })
}

/// Finds a member of a record or of its base classes.
fn source(members: &Fields, name: &str, depth: usize) -> Option<(Vec<usize>, Field)> {
    if let Some((index, field)) = members.find(name) {
        return Some((vec![index], field.as_ref().clone()));
    }
    let bases = members.iter().enumerate().filter(|(_, member)| member.name().starts_with(":_"));
    for (index, base) in bases {
        let DataType::Struct(inherited) = base.data_type() else { continue };
        if depth < MAX_DEPTH
            && let Some((mut path, field)) = source(inherited, name, depth + 1)
        {
            path.insert(0, index);
            return Some((path, field));
        }
    }
    None
}

/// Returns the types of the targets. If a type is not given, the function is called without objects to find
/// it.
fn types(rule: &ReadRule, sources: &[(Vec<usize>, Field)]) -> Result<Vec<Field>> {
    let stated = rule.targets.iter().map(|target| target.field.clone()).collect::<Option<Vec<_>>>();
    if let Some(stated) = stated {
        return Ok(stated);
    }
    let empty =
        sources.iter().map(|(_, field)| (new_empty_array(field.data_type()), field.clone()));
    let made = rule.run(&empty.collect::<Vec<_>>(), 0)?;
    let field = |(target, array): (&super::TargetMember, ArrayRef)| {
        let made = nyssa_root::arrow::field(&target.name, array.data_type().clone());
        target.field.clone().unwrap_or(made)
    };
    Ok(rule.targets.iter().zip(made).map(field).collect())
}

impl Plan {
    /// Returns the field after the rules.
    pub(super) fn field(&self, field: &Field) -> Field {
        let data_type = match self {
            Self::Keep => return field.clone(),
            Self::Below(data_type, _) => data_type.clone(),
            Self::Record { members, .. } => DataType::Struct(members.clone()),
        };
        field.clone().with_data_type(data_type)
    }

    /// Applies the rules to an array. Unchanged parts share the memory of the original.
    pub(super) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let rebuilt: std::result::Result<ArrayRef, ArrowError> = match self {
            Self::Keep => return Ok(Arc::clone(array)),
            Self::Below(data_type, plans) => {
                let children = children(array);
                let children = children.iter().zip(plans).map(|(child, plan)| plan.apply(child));
                with_children(array, data_type, &children.collect::<Result<Vec<_>>>()?)
            }
            Self::Record { members, plans, rules } => {
                let record = array.as_struct();
                let columns = record.columns().iter().zip(plans);
                let mut columns =
                    columns.map(|(column, plan)| plan.apply(column)).collect::<Result<Vec<_>>>()?;
                // Functions get only objects. Null objects are removed first.
                let objects = Objects::new(record);
                let stored = objects.pack(&columns)?;
                for applied in rules {
                    let made = applied.run(&stored, members, objects.count)?;
                    for (&place, array) in applied.targets.iter().zip(made) {
                        let array = objects.spread(array)?;
                        match columns.get_mut(place) {
                            Some(column) => *column = array,
                            None => columns.push(array),
                        }
                    }
                }
                with_children(array, &DataType::Struct(members.clone()), &columns)
            }
        };
        rebuilt.map_err(unfit)
    }
}

impl Applied {
    /// Computes the targets, in their types, of the objects whose members are `stored`.
    fn run(&self, stored: &[ArrayRef], members: &Fields, objects: usize) -> Result<Vec<ArrayRef>> {
        let source = |(path, field): &(Vec<usize>, Field)| {
            let mut path = path.iter();
            let first = path.next().and_then(|&index| stored.get(index)).cloned();
            let inner = |array: Option<ArrayRef>, index: &usize| {
                array.and_then(|array| array.as_struct_opt()?.columns().get(*index).cloned())
            };
            path.fold(first, inner).map(|array| (array, field.clone()))
        };
        let sources = self.sources.iter().map(source).collect::<Option<Vec<_>>>();
        let sources = sources
            .ok_or_else(|| Error::invalid_argument("a record lacks a member of its type"))?;
        let made = self.rule.run(&sources, objects)?;
        let targets = self.targets.iter().zip(&self.rule.targets).zip(made);
        let convert = |((&place, target), array): ((&usize, &super::TargetMember), ArrayRef)| {
            let nullable = array.null_count() > 0;
            let from = Field::new(&target.name, array.data_type().clone(), nullable);
            let options = EvolutionOptions { missing: Missing::Error, narrowing: true };
            let conversion = evolve(&from, &members[place], options);
            conversion.and_then(|conversion| conversion.apply(&array)).in_field(&target.name)
        };
        targets.map(convert).collect()
    }
}

/// The rows of a record that hold objects, and not null.
struct Objects {
    count: usize,
    valid: Option<NullBuffer>,
}

impl Objects {
    fn new(record: &StructArray) -> Self {
        let valid = record.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        Self { count: record.len() - record.null_count(), valid }
    }

    /// Removes the rows without objects.
    fn pack(&self, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let Some(valid) = &self.valid else { return Ok(columns.to_vec()) };
        let mask = BooleanArray::new(valid.inner().clone(), None);
        let pack = |column: &ArrayRef| arrow_select::filter::filter(column, &mask);
        columns.iter().map(pack).collect::<std::result::Result<_, _>>().map_err(unfit)
    }

    /// Puts the values of the objects back in their rows. The other rows become null.
    fn spread(&self, array: ArrayRef) -> Result<ArrayRef> {
        let Some(valid) = &self.valid else { return Ok(array) };
        let mut next = 0..;
        let rows = valid.iter().map(|valid| if valid { next.next() } else { None });
        arrow_select::take::take(&array, &UInt64Array::from_iter(rows), None).map_err(unfit)
    }
}

fn unfit(error: ArrowError) -> Error {
    Error::invalid_argument("the result of a read rule does not fit the type of its field")
        .with_source(error)
}
