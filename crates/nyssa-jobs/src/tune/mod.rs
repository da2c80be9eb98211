//! Describes files and datasets: the objects of a file, the schema of a dataset, the places of its bytes, and the
//! options that store it best.

pub mod inspect;
pub mod listing;
pub mod schema;
pub mod trials;
