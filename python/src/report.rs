//! Shows reports of jobs to Python.

use nyssa_root::{Error, Result};
use serde::Serialize;

/// Returns a report as JSON.
pub(crate) fn json<T: Serialize>(report: &T) -> Result<String> {
    serde_json::to_string(report)
        .map_err(|error| Error::invalid_argument("the report has no JSON form").with_source(error))
}
