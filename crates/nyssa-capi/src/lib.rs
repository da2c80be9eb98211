//! The C interface of nyssa. `include/nyssa.h` is made of these sources and documents it.
//!
//! ```text
//! dataset, reading, stream | writer, table, filled, fill_context | jobs
//!                             the functions
//! arrow, shape, parts, classes | definitions, options, pairs | texts
//!                             what they take and give
//! call                        how every function runs: null, panics, errors
//! handle | error              what C holds
//! ```

// C names its types in lower case.
#![allow(non_camel_case_types)]
#![deny(missing_docs)]

mod arrow;
mod call;
mod classes;
mod context;
mod dataset;
mod definitions;
mod error;
mod fill_context;
mod filled;
mod handle;
mod jobs;
mod options;
mod pairs;
mod parts;
mod reading;
mod shape;
mod stream;
mod table;
mod texts;
mod writer;

pub use context::*;
pub use dataset::*;
pub use error::*;
pub use fill_context::*;
pub use handle::nyssa_close;
pub use jobs::*;
pub use reading::*;
pub use stream::nyssa_stream_error;
pub use table::*;
pub use texts::*;
pub use writer::*;
