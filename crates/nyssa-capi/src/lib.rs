//! The C interface of nyssa. `include/nyssa.h` is made of these sources and documents it.
//!
//! ```text
//! dataset | writer | jobs     the functions
//! arrow | options | texts     what they take and give
//! call                        how every function runs: null, panics, errors
//! handle | error              what C holds
//! ```

// The names are those of C.
#![allow(non_camel_case_types)]
#![deny(missing_docs)]

mod arrow;
mod call;
mod context;
mod dataset;
mod definitions;
mod error;
mod handle;
mod jobs;
mod options;
mod texts;
mod writer;

pub use context::*;
pub use dataset::*;
pub use error::*;
pub use handle::nyssa_close;
pub use jobs::*;
pub use texts::*;
pub use writer::*;
