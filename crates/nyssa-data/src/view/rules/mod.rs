//! Read rules: members that are computed from other members while objects of a class are read.
//!
//! ROOT calls them I/O customisation rules. A rule belongs to a class in a range of versions. Its function
//! computes target members from source members, wherever the class appears in the fields. One call gets flat
//! arrays with the objects of all entries that are read together, and returns flat arrays.

mod plan;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::Field;
use globset::GlobMatcher;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};

use self::plan::Plan;
use crate::dataset::{AnyDataset, Arrays, ColumnBytes, ColumnInfo, CppType, Dataset, Format, glob};

/// A function that computes the target members from the source members. Each array has one value for each
/// object.
pub type RuleFunction = Arc<dyn Fn(&[(ArrayRef, Field)]) -> Result<Vec<ArrayRef>> + Send + Sync>;

/// A rule that computes members of the objects of a class.
#[derive(Clone)]
pub struct ReadRule {
    class: String,
    glob: GlobMatcher,
    versions: RangeInclusive<u32>,
    sources: Vec<String>,
    targets: Vec<TargetMember>,
    target_version: Option<u32>,
    function: RuleFunction,
}

impl std::fmt::Debug for ReadRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReadRule({} {:?}: {:?})", self.class, self.versions, self.targets)
    }
}

/// A member that a rule computes.
#[derive(Clone, Debug)]
pub struct TargetMember {
    /// The name.
    pub name: String,
    /// The type. If it is `None`, the array that the function returns for no objects gives the type.
    pub field: Option<Field>,
}

impl ReadRule {
    /// Makes a rule for the classes that match a name or glob, in some versions. `function` computes
    /// `targets` from `sources`, which are members of the class or of its base classes. A target with the
    /// name of a member replaces this member.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse, and for a rule without a target.
    pub fn new(
        class: &str,
        versions: RangeInclusive<u32>,
        sources: Vec<String>,
        targets: Vec<TargetMember>,
        function: RuleFunction,
    ) -> Result<Self> {
        let glob = glob(class)?;
        if targets.is_empty() {
            return Err(Error::invalid_argument(format!("the rule for {class} has no target")));
        }
        let (class, glob) = (class.to_owned(), glob.compile_matcher());
        Ok(Self { class, glob, versions, sources, targets, target_version: None, function })
    }

    /// Sets the version that the class has when it is written with the targets.
    #[must_use]
    pub fn with_target_version(mut self, version: Option<u32>) -> Self {
        self.target_version = version;
        self
    }

    /// Returns the version of the class with the targets. `None` means that the version does not change.
    pub fn target_version(&self) -> Option<u32> {
        self.target_version
    }

    /// Returns whether the rule applies to a class with this name and version.
    pub fn applies(&self, class: &str, version: u32) -> bool {
        let named = self.class == class || self.glob.is_match(class);
        !class.is_empty() && named && self.versions.contains(&version)
    }

    /// Calls the function and checks its result.
    fn run(&self, sources: &[(ArrayRef, Field)], objects: usize) -> Result<Vec<ArrayRef>> {
        let made = (self.function)(sources)?;
        if made.len() != self.targets.len() {
            return Err(Error::invalid_argument(format!(
                "the rule for {} returns {} members instead of {}",
                self.class,
                made.len(),
                self.targets.len()
            )));
        }
        match made.iter().find(|array| array.len() != objects) {
            None => Ok(made),
            Some(array) => Err(Error::invalid_argument(format!(
                "the rule for {} returns {} values for {objects} objects",
                self.class,
                array.len()
            ))),
        }
    }
}

/// A dataset read with rules.
pub struct WithRules {
    inner: AnyDataset,
    items: Vec<ColumnInfo>,
    /// The plan of each column that a rule changes.
    plans: Vec<Option<Plan>>,
}

impl WithRules {
    /// Applies `rules` to the classes of the fields of an RNTuple `inner`. A column is unreadable, with the
    /// reason, if its rule needs a member that is missing, or if two rules compute the same target.
    ///
    /// # Errors
    /// `Unsupported` for rules on a TTree. An error if a function fails: a function is called without objects if the
    /// type of a target is not known.
    pub fn new(inner: AnyDataset, rules: &[ReadRule]) -> Result<Self> {
        if inner.format() == Format::TTree && !rules.is_empty() {
            return Err(Error::unsupported(
                "rules apply to the classes of RNTuples, and not to branches of a TTree: convert it, \
                 and give the rules to the RNTuple",
            ))
            .in_file(inner.file())
            .in_object(inner.name());
        }
        let mut types = inner.columns().iter().map(|item| inner.cpp_type(item)).peekable();
        let unknown = types.peek().is_some() && types.all(|cpp_type| cpp_type.is_none());
        if unknown && inner.format() == Format::RNTuple {
            return Err(Error::invalid_argument(
                "rules apply to the classes of files: give them to the chain, or to the datasets \
                 that are joined",
            ));
        }
        let mut items = inner.columns().to_vec();
        let mut plans = Vec::with_capacity(items.len());
        for item in &mut items {
            let plan = match (&item.field, inner.cpp_type(item)) {
                (Ok(field), Some(cpp_type)) => plan_of(&cpp_type, field, rules),
                _ => Ok(None),
            };
            plans.push(match plan.in_field(&item.name).in_file(inner.file())? {
                Some(plan) => {
                    item.field = plan.field.clone();
                    Some(plan)
                }
                None => None,
            });
        }
        let plans = plans.into_iter().map(|plan| plan.map(|plan| plan.plan)).collect();
        Ok(Self { inner, items, plans })
    }
}

/// A plan and the resulting field, or the reason why there is no plan.
struct ColumnPlan {
    plan: Plan,
    field: std::result::Result<Field, String>,
}

fn plan_of(cpp_type: &CppType, field: &Field, rules: &[ReadRule]) -> Result<Option<ColumnPlan>> {
    match plan::plan(cpp_type, field, rules) {
        Ok(Plan::Keep) => Ok(None),
        Ok(plan) => {
            let field = Ok(plan.field(field));
            Ok(Some(ColumnPlan { plan, field }))
        }
        Err(plan::Failure::Reason(reason)) => {
            Ok(Some(ColumnPlan { plan: Plan::Keep, field: Err(reason) }))
        }
        Err(plan::Failure::Error(error)) => Err(error),
    }
}

impl Dataset for WithRules {
    same_object!(inner);
    same_entries!(inner);
    same_relations!(inner);

    fn columns(&self) -> &[ColumnInfo] {
        &self.items
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        self.inner.column_bytes(column)
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        let arrays = self.inner.read(names, entries, context)?;
        // Columns are converted one after the other, because only one Python function can run at a time.
        let apply = |(array, name): (ArrayRef, &&str)| {
            context.check()?;
            let index = self.items.iter().position(|item| item.name == **name);
            let Some(index) = index else { return Ok(array) };
            if let Err(reason) = &self.items[index].field {
                return Err(Error::unsupported(reason.clone()));
            }
            match &self.plans[index] {
                Some(plan) => plan.apply(&array),
                None => Ok(array),
            }
        };
        let ruled = arrays.into_iter().zip(names);
        let ruled = ruled.map(|(array, name)| apply((array, name)).in_field(name));
        ruled.collect::<Result<_>>().in_file(self.file()).in_object(self.name())
    }
}
