//! Runs the steps of every job, from the options to the complete file.

use std::path::Path;

use nyssa_observe::peak_memory;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::process::{ProcessUsage, UsageAtStart};
use nyssa_root::rootfile::RootFile;

use super::others::{CopiedObjects, OtherObjects};
use super::output::Output;
use super::{OutputOptions, output};

/// The steps that each job implements itself.
pub(crate) trait Job {
    /// The reason why a job stops before its end.
    type Abort: From<Error>;

    /// Writes the RNTuples.
    ///
    /// # Errors
    /// `Cancelled`; an error if the inputs cannot be read or the output cannot be written.
    fn write(
        &mut self,
        output: &Output,
        others: &mut OtherObjects,
    ) -> std::result::Result<(), Self::Abort>;

    /// Compares the output with the inputs.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first difference; `Cancelled`.
    fn verify(&mut self, written: &RootFile) -> Result<()>;
}

/// Facts about a job that has ended.
pub(crate) struct Finished {
    /// The number of bytes of the output file.
    pub(crate) bytes: u64,
    /// The other objects: objects in the output, and objects that are missing there.
    pub(crate) others: CopiedObjects,
    /// The largest resident set of the process until now in bytes, if the system reports it.
    pub(crate) peak_memory_bytes: Option<u64>,
    /// The resources that the process used until the output was complete.
    pub(crate) process: ProcessUsage,
}

/// Runs a job whose plan is complete, so that all refusals have happened. Creates the output `path`, writes the
/// RNTuples, copies the other objects, verifies if this is requested, and then gives the output its name.
///
/// # Errors
/// `InvalidArgument` if the output is one of the inputs; `AlreadyExists` if it exists and may not be replaced; an
/// error if the job or the copy of the other objects fails.
pub(crate) fn run<J: Job>(
    job: &mut J,
    inputs: &[&Path],
    path: &Path,
    mut others: OtherObjects,
    options: &OutputOptions,
    context: &Context,
) -> std::result::Result<Finished, J::Abort> {
    let begun = UsageAtStart::now();
    let settings = output::Settings {
        compression: options.compression(),
        force: options.force,
        reproducible: options.reproducible,
        identity: options.identity,
        title: others.title()?,
    };
    let output = Output::create(inputs, path, settings)?;
    if !options.no_carry {
        others.write_directories(&output)?;
    }
    job.write(&output, &mut others)?;
    let others = if options.no_carry { others.leave(&output)? } else { others.write(&output)? };
    let bytes = output.finish()?;
    let process = begun.usage(bytes, context.threads());
    if options.verify {
        job.verify(&output.open()?)?;
    }
    context.check()?;
    output.publish()?;
    Ok(Finished { bytes, others, peak_memory_bytes: peak_memory(), process })
}
