//! Fills histograms of expressions for Python.

use arrow_buffer::Buffer as ArrowBuffer;
use arrow_schema::DataType;
use nyssa_data::histogram::{Axis, Histogram, HistogramPlan, Transform, fill, types};
use nyssa_data::view::Aliases;
use nyssa_jobs::open::stored_aliases;
use nyssa_root::{Error, Result};
use pyo3::prelude::*;

use crate::buffer::Buffer;
use crate::dataset::Dataset;
use crate::job::Job;

/// An axis, from a `nyssa.plotting.axes.FillAxis`.
#[derive(FromPyObject)]
pub(crate) struct FillAxis {
    kind: String,
    bins: usize,
    low: f64,
    high: f64,
    edges: Vec<f64>,
    integers: Vec<i64>,
    texts: Vec<String>,
    transform: String,
    power: f64,
    closed: bool,
}

impl FillAxis {
    fn parse(self) -> Result<Axis> {
        let Self { bins, low, high, edges, integers, texts, power, closed, .. } = self;
        let transform = match self.transform.as_str() {
            "" => Transform::None,
            "log" => Transform::Log,
            "sqrt" => Transform::Sqrt,
            "power" => Transform::Power(power),
            other => return Err(Error::invalid_argument(format!("{other:?} is no transform"))),
        };
        Ok(match self.kind.as_str() {
            "regular" => Axis::Regular { bins, low, high, transform, closed },
            "variable" => Axis::Variable { edges, closed },
            "integer" => Axis::Integer { low: integers.first().copied().unwrap_or(0), bins },
            "integers" => Axis::Integers(integers),
            "texts" => Axis::Texts(texts),
            "all texts" => Axis::AllTexts(texts),
            other => return Err(Error::invalid_argument(format!("{other:?} is no axis"))),
        })
    }
}

/// A histogram that is requested, from a `nyssa.plotting.axes.FillPlan`.
#[derive(FromPyObject)]
pub(crate) struct FillPlan {
    expressions: Vec<String>,
    axes: Vec<FillAxis>,
    weight: Option<String>,
    cut: Option<String>,
    squares: bool,
    statistics: bool,
}

impl FillPlan {
    fn parse(self) -> Result<HistogramPlan> {
        let Self { expressions, weight, cut, squares, statistics, .. } = self;
        let axes = self.axes.into_iter().map(FillAxis::parse).collect::<Result<_>>()?;
        Ok(HistogramPlan { expressions, axes, weight, cut, squares, statistics })
    }
}

/// The sums of an axis: the smallest and the largest finite value, the number of values that are not finite, the sum of
/// weights, the mean and the standard deviation of the values in the bins.
type Sums = (f64, f64, u64, f64, f64, f64);

/// A filled histogram: the sums of weights and of their squares in all bins (doubles), the numbers of entries and of
/// missing values, the texts of the first axis, and the sums of each axis.
type Filled = (Buffer, Option<Buffer>, u64, u64, Vec<String>, Vec<Sums>);

fn filled(histogram: Histogram) -> Filled {
    let texts = match histogram.axes.into_iter().next() {
        Some(Axis::AllTexts(texts)) => texts,
        _ => Vec::new(),
    };
    let buffer = |values: Vec<f64>| Buffer::writable(ArrowBuffer::from_vec(values));
    let sums = histogram.statistics.iter().map(|item| {
        (item.min, item.max, item.not_finite, item.weight, item.mean, item.deviation())
    });
    (
        buffer(histogram.sums),
        histogram.squares.map(buffer),
        histogram.entries,
        histogram.missing,
        texts,
        sums.collect(),
    )
}

/// Fills histograms of all entries of a dataset. `progress(done, total)` is called by this thread.
#[pyfunction]
#[pyo3(signature = (dataset, plans, aliases, threads=None, progress=None))]
pub(crate) fn fill_histograms<'py>(
    py: Python<'py>,
    dataset: PyRef<'py, Dataset>,
    plans: Vec<FillPlan>,
    aliases: Aliases,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<Filled>> {
    let dataset = dataset.inner();
    Job::new(threads).progress(progress).abandonable().run(py, move |context| {
        let plans = plans.into_iter().map(FillPlan::parse).collect::<Result<Vec<_>>>()?;
        let stored = || stored_aliases(dataset.as_ref());
        let histograms = fill(&dataset, &plans, &aliases, &stored, context)?;
        Ok(histograms.into_iter().map(filled).collect())
    })
}

/// Returns what the innermost values of each expression are: `"text"`, `"boolean"`, `"integer"`, `"real"` or
/// `"other"`.
#[pyfunction]
pub(crate) fn kinds(
    py: Python<'_>,
    dataset: PyRef<'_, Dataset>,
    expressions: Vec<String>,
    aliases: Aliases,
) -> PyResult<Vec<&'static str>> {
    let dataset = dataset.inner();
    Job::new(None).abandonable().run(py, move |_| {
        let stored = || stored_aliases(dataset.as_ref());
        let types = types(dataset.as_ref(), &expressions, &aliases, &stored)?;
        Ok(types.iter().map(kind).collect())
    })
}

fn kind(leaf: &DataType) -> &'static str {
    use DataType::{Binary, Boolean, LargeBinary, LargeUtf8, Utf8};
    match leaf {
        Binary | LargeBinary | Utf8 | LargeUtf8 => "text",
        Boolean => "boolean",
        leaf if leaf.is_integer() => "integer",
        leaf if leaf.is_floating() => "real",
        _ => "other",
    }
}
