//! Merges whole files: the RNTuples and TTrees of all inputs are matched by their paths (`plan.rs`, `datasets.rs`), and
//! each becomes one dataset of the output. Sealed pages and baskets are copied and never decoded.
//!
//! ```text
//! inputs ─read─► distinct schemas ─unify─► one schema; per input: column → column
//! per input, per cluster:  pages in file order ─► large reads ─► checksums ─► large writes
//!                          page list: the same pages at their new places
//! ```
//!
//! Fields are matched by name (`tree.rs`). Collections that are the sources of projected fields are matched by these
//! fields ([`nyssa_rntuple::schema::align`]). Numbers get the type that holds the numbers of all inputs. If the pages
//! of a field are encoded differently in some input, the field gets another column representation, and each cluster
//! names the representation that it uses (specification, "Column Description"). A field that an input lacks gets
//! constant pages of zeros there, a few bytes that are stored once. A thread reads and checks pages ahead of writing.
//! Remote inputs are opened and their first pages are read while earlier inputs are copied; at most 16 are open. The
//! memory depends neither on the size nor on the number of the inputs.
//!
//! TTrees are joined like in `hadd -ff` (`trees.rs`). The other objects are added up, joined or copied (`objects.rs`,
//! `add`).
//!
//! Data are decoded and sealed again only if new clusters are requested (`recluster`). Then a field may be projected
//! in one input and have its own data in another input (`plain.rs`).

mod add;
mod attributes;
mod bad;
mod datasets;
mod given_twice;
mod input;
mod input_file;
mod inputs;
mod job;
mod load;
mod many;
mod mapping;
mod ntuple;
mod objects;
mod options;
mod other_cycles;
mod pack;
mod places;
mod plain;
mod plan;
mod processes;
mod progress;
mod recluster;
mod report;
mod reseal;
mod shape;
mod transfer;
mod tree;
mod tree_parts;
mod trees;
mod unify;
mod verify;
mod widen;
mod zeros;

pub use job::merge;
pub use many::merge_many;
pub use options::{MergeOptions, Mode};
pub use report::{BadInput, InputReport, MergeReport, MergedNTupleReport, MergedTreeReport};
