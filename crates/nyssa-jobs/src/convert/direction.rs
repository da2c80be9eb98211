//! Defines what the two directions of a conversion have in common.

use std::fmt::Debug;
use std::path::Path;

use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;

use super::options::{InputOptions, To};
use super::report::ConvertReport;
use crate::job::OutputOptions;

/// A direction of a conversion, and its options: [`super::ToRNTuple`] or [`super::ToTTree`].
pub trait Direction: Clone + Debug + Default {
    /// The format of the output.
    const TO: To;

    /// Returns the part of the input that is converted.
    fn input(&self) -> &InputOptions;

    /// Returns the part of the input that is converted, to change it.
    fn input_mut(&mut self) -> &mut InputOptions;

    /// Returns the options that all jobs share.
    fn output(&self) -> &OutputOptions;

    /// Returns the options that all jobs share, to change them.
    fn output_mut(&mut self) -> &mut OutputOptions;

    /// Takes the options that the profile states, writes out the defaults, and checks the options.
    ///
    /// # Errors
    /// `InvalidArgument` for options that are not allowed, and for a file that is no profile; an error if the profile
    /// cannot be read.
    fn settled(&self) -> Result<Self>;

    /// Converts the datasets at `paths` of `input` with these settled options. Use [`super::convert`].
    ///
    /// # Errors
    /// `NotFound` for a dataset; `InvalidArgument` for an output that is not allowed; `Unsupported` with a list of all
    /// branches or fields that cannot be converted; `Cancelled`; an error if the input is damaged or cannot be read.
    #[doc(hidden)]
    fn convert_paths(
        &self,
        input: &RootFile,
        paths: &[String],
        output: &Path,
        context: &Context,
    ) -> Result<Vec<ConvertReport>>;
}
