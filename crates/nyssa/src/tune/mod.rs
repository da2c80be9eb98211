//! Descriptions of files and datasets: the objects of a file, the schema of a dataset, and where its bytes are.

pub mod inspect;
pub mod listing;
pub mod schema;
