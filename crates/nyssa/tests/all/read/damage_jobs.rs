//! Gives damaged files to what reads and writes: each fails, or has the values of sound inputs.

use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef};
use nyssa_data::Dataset;
use nyssa_data::dataset::AnyDataset;
use nyssa_data::view::{Chain, ChainOptions, Join, Link, Right};
use nyssa_io::Sink;
use nyssa_jobs::job::OutputOptions;
use nyssa_jobs::update::Update;
use nyssa_jobs::{merge, rewrite};
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, StreamerForm};
use nyssa_rntuple::write;
use nyssa_root::Result;
use nyssa_root::rootfile::writer::FileOptions;

use super::damage::{Case, cases, values};
use crate::support::reading::{context, memory};

/// The limits of a job.
struct Input<'a> {
    case: &'a Case,
    /// The damaged file.
    bytes: Vec<u8>,
    /// The folder for files.
    folder: &'a Path,
}

type Job = fn(&Input<'_>) -> Result<Vec<ArrayRef>>;

const JOBS: [(&str, Job); 6] = [
    ("take", take),
    ("chain", chain),
    ("join", join),
    ("rewrite", rewritten),
    ("merge", merged),
    ("append", appended),
];

impl Input<'_> {
    fn reader(&self) -> Result<Reader> {
        self.case.open(&memory(self.bytes.clone())?)
    }

    fn sound(&self) -> Result<Reader> {
        self.case.open(&memory(self.case.bytes.clone())?)
    }

    fn all(&self, dataset: &dyn Dataset) -> Result<Vec<ArrayRef>> {
        dataset.read(&self.case.names(), 0..dataset.num_entries(), &context())
    }

    fn written(&self, path: &Path) -> Result<Vec<ArrayRef>> {
        let file = memory(std::fs::read(path).unwrap()).unwrap();
        let arrays = values(&file, self.case);
        assert!(arrays.is_ok(), "what was written cannot be read: {arrays:?}");
        arrays
    }
}

/// Takes the last entry and the first, apart.
fn take(input: &Input<'_>) -> Result<Vec<ArrayRef>> {
    let reader = input.reader()?;
    let last = reader.num_entries().saturating_sub(1);
    reader.take(&input.case.names(), &[last, 0], &context())
}

fn chain(input: &Input<'_>) -> Result<Vec<ArrayRef>> {
    let link = |bytes: &[u8]| {
        let (bytes, path) = (bytes.to_vec(), input.case.path);
        let open = move || Ok(Arc::new(Reader::open(&memory(bytes.clone())?, path)?) as AnyDataset);
        Link::new("memory.root", open)
    };
    let links = vec![link(&input.case.bytes), link(&input.bytes)];
    input.all(&Chain::new(links, &ChainOptions::default(), &context())?)
}

fn join(input: &Input<'_>) -> Result<Vec<ArrayRef>> {
    let right = Right { dataset: Arc::new(input.reader()?), prefix: "right_".to_owned() };
    let left: AnyDataset = Arc::new(input.sound()?);
    let joined = Join::new(left, vec![right], Vec::new(), &context())?;
    let names: Vec<_> = input.case.names().iter().map(|name| format!("right_{name}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    joined.read(&names, 0..joined.num_entries(), &context())
}

fn rewritten(input: &Input<'_>) -> Result<Vec<ArrayRef>> {
    let output = input.folder.join("rewritten.root");
    let options = rewrite::RewriteOptions {
        output: OutputOptions { force: true, ..OutputOptions::default() },
        ..Default::default()
    };
    let file = memory(input.bytes.clone())?;
    rewrite::rewrite(&file, input.case.path, &output, &options, &context())?;
    input.written(&output)
}

fn merged(input: &Input<'_>) -> Result<Vec<ArrayRef>> {
    let paths = ["sound.root", "damaged.root"].map(|name| input.folder.join(name));
    std::fs::write(&paths[0], &input.case.bytes).unwrap();
    std::fs::write(&paths[1], &input.bytes).unwrap();
    let paths = paths.map(|path| format!("{}:{}", path.display(), input.case.path));
    let output = input.folder.join("merged.root");
    let options = merge::MergeOptions {
        output: OutputOptions { force: true, ..OutputOptions::default() },
        ..Default::default()
    };
    merge::merge(&paths, &output, &options, &context())?;
    input.written(&output)
}

/// A file in memory that is changed in place.
#[derive(Clone)]
struct InPlace(Arc<Mutex<Vec<u8>>>);

impl Sink for InPlace {
    fn name(&self) -> &str {
        "memory.root"
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> nyssa_io::Result<()> {
        let mut bytes = self.0.lock().unwrap();
        let start = offset as usize;
        let end = bytes.len().max(start + data.len());
        bytes.resize(end, 0);
        bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn commit(self: Box<Self>) -> nyssa_io::Result<()> {
        Ok(())
    }
}

/// Appends the first entry of the sound file behind the last.
fn appended(input: &Input<'_>) -> Result<Vec<ArrayRef>> {
    let raw = RNTupleReadOptions { streamer: StreamerForm::Raw, ..RNTupleReadOptions::default() };
    let sound = memory(input.case.bytes.clone())?;
    let sound = Reader::open_with(&sound, input.case.path, raw)?;
    let physical = sound.schema().top_level().filter(|(_, field)| field.source.is_none());
    let names: Vec<_> = physical.map(|(_, field)| field.name.as_str()).collect();
    let row = sound.read(&names, 0..1, &context())?;
    let sink = InPlace(Arc::new(Mutex::new(input.bytes.clone())));
    let file = memory(input.bytes.clone())?;
    let update = Update::over(file, Box::new(sink.clone()), FileOptions::default())?;
    let mut table =
        update.append(input.case.path, write::RNTupleWriteOptions::default(), &context())?;
    table.extend(&row)?;
    table.finish()?;
    update.finish()?;
    let bytes = sink.0.lock().unwrap().clone();
    // Damaged pages are found when they are read.
    values(&memory(bytes)?, input.case)
}

fn in_memory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Every other byte is changed for one of the jobs, some lengths tried for each.
#[test]
fn damage_to_inputs_is_found_or_harmless() {
    let folder = in_memory();
    for case in cases() {
        for (number, (what, job)) in JOBS.iter().enumerate() {
            let run = |bytes: Vec<u8>| job(&Input { case: &case, bytes, folder: folder.path() });
            let sound = run(case.bytes.clone());
            let sound = sound.unwrap_or_else(|error| panic!("{what} {}: {error}", case.name));
            assert!(sound.iter().all(|array| !array.is_empty()), "{what} {}", case.name);
            for position in (2 * number..case.bytes.len()).step_by(2 * JOBS.len()) {
                let mut damaged = case.bytes.clone();
                damaged[position] ^= [0xFF, 0x01, 0x80][position / 2 / JOBS.len() % 3];
                if let Ok(arrays) = run(damaged) {
                    assert_eq!(arrays, sound, "{what} {}, byte {position}", case.name);
                }
            }
            for length in (number..case.bytes.len()).step_by(8 * JOBS.len()) {
                if let Ok(arrays) = run(case.bytes[..length].to_vec()) {
                    assert_eq!(arrays, sound, "{what} {}, {length} bytes", case.name);
                }
            }
        }
    }
}

/// Errors about damage say where it is.
#[test]
fn damage_to_inputs_is_named() {
    let folder = in_memory();
    for case in cases() {
        let reader = case.open(&memory(case.bytes.clone()).unwrap()).unwrap();
        let page = reader
            .clusters_info()
            .unwrap()
            .get(0)
            .unwrap()
            .columns
            .iter()
            .find_map(|it| it.pages.first());
        let mut damaged = case.bytes.clone();
        damaged[page.unwrap().locator.offset as usize] ^= 0x10;
        for (what, job) in JOBS {
            let input = Input { case: &case, bytes: damaged.clone(), folder: folder.path() };
            let error = job(&input).unwrap_err();
            let place = error.place();
            assert!(place.file.is_some() && place.field.is_some(), "{what} {}: {error}", case.name);
            assert!(place.object.is_some(), "{what} {}: {error}", case.name);
        }
    }
}
