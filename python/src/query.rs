//! Shows queries to Python: expressions and a cut.

use nyssa_data::view::Query as Core;
use nyssa_jobs::open::stored_aliases;
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::job::Job;

/// The expressions and the cut of a reading.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Query(Core);

impl Query {
    /// Returns the query.
    pub fn inner(&self) -> &Core {
        &self.0
    }
}

#[pymethods]
impl Query {
    /// Finds the expressions among `names`. They and the cut may use `aliases`, which are names and formulas,
    /// and the aliases of a TTree.
    #[new]
    fn new(
        py: Python<'_>,
        dataset: PyRef<'_, Dataset>,
        names: Vec<String>,
        cut: Option<String>,
        aliases: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let dataset = dataset.inner();
        Job::new(None).abandonable().run(py, move |_| {
            let stored = || stored_aliases(dataset.as_ref());
            Core::new(dataset.as_ref(), &names, cut.as_deref(), aliases, stored).map(Self)
        })
    }

    /// Returns the names of the columns that the expressions and the cut need.
    fn fields(&self) -> Vec<String> {
        self.0.fields()
    }

    /// Returns whether there is neither a cut nor an expression.
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the dataset with the expressions as columns, and the range of its entries that stands for
    /// `start..stop`. Reads the columns of the cut.
    #[pyo3(signature = (dataset, start, stop, threads=None))]
    fn apply(
        &self,
        py: Python<'_>,
        dataset: PyRef<'_, Dataset>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
    ) -> PyResult<(Dataset, u64, u64)> {
        let (dataset, query) = (dataset.inner(), self.0.clone());
        Job::new(threads).abandonable().run(py, move |context| {
            let result = query.apply(dataset, start..stop, context)?;
            Ok((Dataset::new(result.dataset), result.entries.start, result.entries.end))
        })
    }
}
