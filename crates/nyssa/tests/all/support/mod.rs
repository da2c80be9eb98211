//! What the tests share; where their files are is said by the crate `nyssa-testdata`.

pub mod baskets;
pub mod container;
pub mod jobs;
pub mod reading;
pub mod writing;
