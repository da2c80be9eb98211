//! The binary format of RNTuple: anchor, envelopes, frames, locators; bytes ⇄ records.

mod locator;

pub use locator::Locator;
