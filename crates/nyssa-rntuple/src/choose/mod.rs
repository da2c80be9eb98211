//! Chooses how columns are stored, by samples of their data (docs/decisions/0004 and 0006).
//!
//! Only this module knows between which column types a sample decides, and the size of samples.
//! [`nyssa_root::effort`] knows the codecs to try, and the price of their time.

mod encodings;
mod form;
pub mod sample;

pub use encodings::Encodings;
pub(crate) use form::{counterpart, default_type, form_of, unsplit_type};
