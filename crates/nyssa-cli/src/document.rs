//! Prints the JSON documents of `--json`. Each is one object with the version of the documents.

use std::io::Write;

use serde::Serialize;

use crate::failure::Result;

/// The version of the documents. It grows when a member changes its meaning or goes away.
pub(crate) const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a, T> {
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

/// Prints an object as a document.
pub(crate) fn print(content: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document { version: VERSION, content })?;
    Ok(writeln!(out)?)
}
