//! Where bytes go, and what could be better.

pub mod inspect;
