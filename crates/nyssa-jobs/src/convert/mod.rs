//! Converts TTrees to RNTuples (`to_rntuple`), and RNTuples to TTrees (`to_tree`).

mod direction;
mod job;
mod journal;
mod many;
mod many_report;
mod options;
mod others;
mod report;
mod to_rntuple;
mod to_tree;

pub use direction::Direction;
pub use job::{convert, convert_file};
pub use many::{ManyOptions, convert_many};
pub use many_report::{ConvertedFile, ConvertedTotal, FileState};
pub(crate) use options::default_encoding;
pub use options::{InputOptions, Layout, To, ToRNTuple, ToTTree};
pub use report::{ConvertReport, FieldReport, Renamed, Skipped, StreamerFieldReport};
pub(crate) use to_rntuple::type_of_objects;
pub use to_rntuple::{
    Checked, Classes, ConversionPlan, Failures, FieldMap, Input, OutputField, Rules, Source,
    StreamerBranch, StreamerBranches, check, compare, inputs, map,
};

pub use nyssa_ttree::write::BranchOptions;
