//! Converts a TTree to an RNTuple, or an RNTuple to a TTree.

use std::path::Path;

use nyssa_io::OpenOptions;
use nyssa_jobs::convert::{
    ConvertedTotal, ManyOptions, Streamer, TreeOptions, convert as core_convert, convert_all,
    convert_many as core_many, only_input,
};
use nyssa_jobs::open::{open_dataset, split_path};
use nyssa_root::Result;
use pyo3::prelude::*;

use crate::file::open_file;
use crate::job::Job;
use crate::options::{ByField, OutputOptions, entry_range, memory};
use crate::report::json;
use crate::tree_options::by_branch;

/// The options of a conversion, from a `nyssa.jobs.convert.ConvertOptions`.
#[derive(FromPyObject)]
pub struct ConvertOptions {
    tree: Option<String>,
    to: String,
    basket_size: Option<u64>,
    auto_flush: Option<i64>,
    #[pyo3(attribute("by_list"))]
    counters: Vec<(String, String)>,
    leaf_lists: Vec<String>,
    vectors: Vec<String>,
    #[pyo3(attribute("by_branch"))]
    branch_options: ByField,
    layout: String,
    streamer: Vec<String>,
    quantize: bool,
    include: Vec<String>,
    exclude: Vec<String>,
    entry_start: Option<i64>,
    entry_stop: Option<i64>,
    skip_unsupported: bool,
    skip_unreadable: bool,
    output: OutputOptions,
}

/// Converts one dataset, or `every` dataset of the format if none is named, and returns a list of reports as JSON. `progress(done, total)` is called by this thread.
#[pyfunction]
pub fn convert<'py>(
    py: Python<'py>,
    input: String,
    output: String,
    options: ConvertOptions,
    every: bool,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).progress(progress).run(py, move |context| {
        let (tree, start, stop) = (options.tree.clone(), options.entry_start, options.entry_stop);
        let mut options = options.parse()?;
        let (path, object) = split_path(&input);
        let file = open_file(&*path, &OpenOptions::default().with_stop(context.stop()))?;
        if every && tree.is_none() && object.is_none() {
            return json(&convert_all(&file, Path::new(&output), &options, context)?);
        }
        let tree = match tree.as_deref().or(object) {
            Some(tree) => tree.to_owned(),
            None => only_input(&file, options.to)?,
        };
        if start.is_some() || stop.is_some() {
            let entries = open_dataset(&file, Some(&tree))?.num_entries();
            options.entries = Some(entry_range(start, stop, entries));
        }
        let report = core_convert(&file, &tree, Path::new(&output), &options, context)?;
        json(&[report])
    })
}

/// Converts many files into a folder, and returns what became of each as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are parameters in Python")]
pub fn convert_many<'py>(
    py: Python<'py>,
    inputs: Vec<String>,
    folder: String,
    name_pattern: String,
    skip_bad: bool,
    skip_done: bool,
    options: ConvertOptions,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).progress(progress).run(py, move |context| {
        let tree = options.tree.clone();
        let options = options.parse()?;
        let mut paths = inputs;
        if let Some(tree) = tree {
            let named = |path: String| match split_path(&path).1 {
                None => format!("{path}:{tree}"),
                Some(_) => path,
            };
            paths = paths.into_iter().map(named).collect();
        }
        let folder = folder.into();
        let many = ManyOptions { folder, name_pattern, all: false, skip_bad, skip_done };
        let done = core_many(&paths, &many, &options, context, |_| {})?;
        let total = ConvertedTotal::of(&done);
        json(&serde_json::json!({ "files": done, "total": total }))
    })
}

impl ConvertOptions {
    /// Returns the options in the types of the core. Entries are counted where the tree is open.
    fn parse(self) -> Result<nyssa_jobs::convert::ConvertOptions> {
        Ok(nyssa_jobs::convert::ConvertOptions {
            output: self.output.parse()?,
            to: self.to.parse()?,
            tree: TreeOptions {
                basket_size: self.basket_size.map(memory),
                auto_flush: self.auto_flush,
                counters: self.counters,
                leaf_lists: self.leaf_lists,
                vectors: self.vectors,
                branch_options: by_branch(self.branch_options)?,
            },
            layout: self.layout.parse()?,
            streamer: Streamer::of(&self.streamer)?,
            quantize: self.quantize,
            include: self.include,
            exclude: self.exclude,
            entries: None,
            skip_unsupported: self.skip_unsupported,
            skip_unreadable: self.skip_unreadable,
        })
    }
}
