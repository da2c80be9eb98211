//! Defines what the two directions of a conversion have in common.

use std::fmt::Debug;
use std::path::Path;

use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;
use serde::Serialize;

use super::options::{InputOptions, To};
use super::report::ConvertReport;
use crate::job::given::{differences, job_text};
use crate::job::{BasketOptions, OutputOptions, StorageOptions};

/// A direction of a conversion, and its options: [`super::ToRNTuple`] or [`super::ToTTree`].
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// fn first_entries<D: nyssa::Direction>() -> D {
///     let mut options = D::default();
///     options.input_mut().entries = Some((0..10).into());
///     options
/// }
/// assert!(first_entries::<nyssa::ToTTree>().input.entries.is_some());
/// assert!(first_entries::<nyssa::ToRNTuple>().input.entries.is_some());
/// # Ok(())
/// # }
/// ```
pub trait Direction: Clone + Debug + Default + Serialize {
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

    /// Returns the options that say how an RNTuple is stored, if one is written.
    fn storage(&self) -> Option<&StorageOptions> {
        None
    }

    /// Returns the options that say how a TTree is stored, if one is written.
    fn baskets(&self) -> Option<&BasketOptions> {
        None
    }

    /// Takes the options that the profile states, writes out the defaults, and checks the options.
    ///
    /// # Errors
    /// `InvalidArgument` for options that are not allowed, and for a file that is no profile; an error if the profile
    /// cannot be read.
    fn settled(&self) -> Result<Self>;

    /// Returns the job with the options that are not the defaults, as journals have it. What other jobs make with the
    /// same text is the same. Options that say nothing about the output, such as `force`, are not in it.
    ///
    /// # Errors
    /// `InvalidArgument` for options that are not allowed, and for a file that is no profile; an error if the profile
    /// cannot be read.
    fn job(&self) -> Result<String> {
        let mut given = differences(&self.settled()?, &Self::default().settled()?)?;
        if Self::TO != To::default() {
            given.insert("to".to_owned(), Self::TO.to_string().into());
        }
        Ok(job_text("convert", &given))
    }

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
