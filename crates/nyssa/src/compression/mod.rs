//! Compression in ROOT's chunk framing (specification, "Compression Block").

mod setting;

pub use setting::{Algorithm, Compression};
