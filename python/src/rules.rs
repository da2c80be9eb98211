//! Makes read rules of Python functions.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::Field;
use nyssa_data::view::{ReadRule, RuleFunction, TargetMember, WithRules};
use nyssa_root::Error;
use pyo3::prelude::*;

use crate::array::Array;
use crate::dataset::Dataset;
use crate::errors;
use crate::job::Job;

/// A read rule, from a `nyssa.read.rules.CoreRule`.
#[derive(FromPyObject)]
struct Given<'py> {
    class_name: String,
    versions: (u32, u32),
    target_version: Option<u32>,
    sources: Vec<String>,
    /// The target members, each with an empty column of its type if that is stated.
    targets: Vec<(String, Option<PyRef<'py, Array>>)>,
    /// The function, which computes the target members from the sources.
    function: Py<PyAny>,
}

/// Returns the rules that Python describes.
pub(crate) fn rules(given: Option<Bound<'_, PyAny>>) -> PyResult<Vec<ReadRule>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(Vec::new()) };
    let py = given.py();
    let given: Vec<Given<'_>> = given.extract()?;
    let rule =
        |Given { class_name, versions, target_version, sources, targets, function }: Given<'_>| {
            let target = |(name, of): (String, Option<PyRef<'_, Array>>)| TargetMember {
                name,
                field: of.map(|of| of.field().as_ref().clone()),
            };
            let targets = targets.into_iter().map(target).collect();
            let function = call(class_name.clone(), function);
            ReadRule::new(&class_name, versions.0..=versions.1, sources, targets, function)
                .map(|rule| rule.with_target_version(target_version))
                .map_err(|error| errors::to_python(py, &error))
        };
    given.into_iter().map(rule).collect()
}

/// Wraps a Python function so that the core can call it on any thread.
fn call(class: String, function: Py<PyAny>) -> RuleFunction {
    Arc::new(move |sources: &[(ArrayRef, Field)]| {
        Python::attach(|py| -> PyResult<Vec<ArrayRef>> {
            let column = |(array, field): &(ArrayRef, Field)| {
                Array::new(Arc::clone(array), Arc::new(field.clone()))
            };
            let columns: Vec<Array> = sources.iter().map(column).collect();
            let made: Vec<PyRef<'_, Array>> = function.bind(py).call1((columns,))?.extract()?;
            Ok(made.iter().map(|array| array.array()).collect())
        })
        .map_err(|error| {
            Error::invalid_argument(format!("the rule for {class} failed with {error}"))
        })
    })
}

/// Returns `dataset` read with rules.
#[pyfunction]
pub(crate) fn with_rules(
    py: Python<'_>,
    dataset: &Dataset,
    rules: Option<Bound<'_, PyAny>>,
) -> PyResult<Dataset> {
    let rules = self::rules(rules)?;
    let inner = dataset.inner();
    Job::new(None)
        .abandonable()
        .run(py, move |_| Ok(Dataset::new(Arc::new(WithRules::new(inner, &rules)?))))
}
