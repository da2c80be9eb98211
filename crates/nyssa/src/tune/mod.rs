//! Shows how many bytes the parts of a dataset have.

pub mod inspect;
