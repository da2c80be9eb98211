//! The one way through a job, from the options to the file that has its name.

use std::path::Path;

use super::others::{Carried, Others};
use super::output::Output;
use super::{OutputOptions, output};
use crate::Context;
use crate::error::{Error, Result};
use crate::memory::peak_memory;
use crate::rootfile::RootFile;

/// What a job does in its own way.
pub(crate) trait Job {
    /// Why it does not come to the end.
    type Stop: From<Error>;

    /// Writes the RNTuples.
    ///
    /// # Errors
    /// Whatever is wrong with the inputs; the sink's; `Cancelled`.
    fn write(
        &mut self,
        output: &Output,
        others: &mut Others,
    ) -> std::result::Result<(), Self::Stop>;

    /// Compares what was written with the inputs.
    ///
    /// # Errors
    /// `OutOfSpecification` naming the first difference; `Cancelled`.
    fn verify(&mut self, written: &RootFile) -> Result<()>;
}

/// What is known at the end of a job.
pub(crate) struct Finished {
    /// Bytes of the output file.
    pub(crate) bytes: u64,
    /// What became of the other objects.
    pub(crate) others: Carried,
    /// Largest resident set of the process so far in bytes, where the system tells.
    pub(crate) peak_memory_bytes: Option<u64>,
}

/// Runs a job that is planned, so that all that can be refused has been refused: creates the output `path`,
/// writes, carries the other objects over, verifies where that is asked for, and publishes. Until then the
/// output has no name.
///
/// # Errors
/// Those of [`Output::create`], of the job, and of what is carried over.
pub(crate) fn run<J: Job>(
    job: &mut J,
    inputs: &[&str],
    path: &Path,
    mut others: Others,
    options: &OutputOptions,
    context: &Context,
) -> std::result::Result<Finished, J::Stop> {
    let settings = output::Settings {
        compression: options.compression,
        force: options.force,
        reproducible: options.reproducible,
    };
    let output = Output::create(inputs, path, settings)?;
    if options.carry {
        others.write_directories(&output)?;
    }
    job.write(&output, &mut others)?;
    let others = if options.carry { others.write(&output)? } else { others.leave() };
    let bytes = output.finish()?;
    if options.verify {
        job.verify(&output.open()?)?;
    }
    context.check()?;
    output.publish()?;
    Ok(Finished { bytes, others, peak_memory_bytes: peak_memory() })
}
