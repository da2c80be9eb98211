//! Describes files and datasets: the objects of a file, the schema of a dataset, where its bytes are, and which options
//! store it best.

pub mod inspect;
pub mod listing;
pub mod schema;
pub mod trials;
