//! Converts many files, one after the other, into a folder.
//!
//! A journal in the folder has a line for each file. A later run uses it to see which outputs are done. Each output
//! has an identity (its UUID) that is computed from its input and from the options, so that an output is never taken
//! for the conversion of another input.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nyssa_data::dataset::Format;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result};
use nyssa_root::rootfile::RootFile;

use super::journal::{Checks, Journal, Known, measure};
use super::many_report::{ConvertedFile, FileState};
use super::{ConvertReport, Direction, convert, convert_file};
use crate::open;
use crate::verify::verify;

/// The placeholder in a pattern for the name of the input without its ending.
const STEM: &str = "{stem}";

/// The folder for many converted files, and the actions for files that cannot be converted.
#[derive(Clone, Debug)]
pub struct ManyOptions {
    /// The folder of the outputs. It is made if it does not exist.
    pub folder: PathBuf,
    /// The names of the outputs. `{stem}` stands for the name of the input without its ending.
    pub name_pattern: String,
    /// Whether a file that cannot be converted does not stop the conversion of other files. A full disk stops it.
    pub skip_bad: bool,
    /// Whether finished outputs stay: outputs that were made from this input with these options, and that are sound.
    /// The conversion of an older version of the input is replaced. An output of unknown origin with the same number
    /// of entries is also replaced, with a note. Other outputs are an error without
    /// [`crate::job::OutputOptions::force`].
    pub skip_done: bool,
}

/// Returns the output of each input.
///
/// # Errors
/// `InvalidArgument` for a pattern without `{stem}`, for names of tables, and for two inputs with one output.
fn outputs(inputs: &[String], many: &ManyOptions) -> Result<Vec<PathBuf>> {
    let pattern = &many.name_pattern;
    if !pattern.contains(STEM) || pattern.contains('/') {
        return Err(Error::invalid_argument(format!(
            "the names of outputs are a pattern such as {{stem}}_ntuple.root, not {pattern:?}"
        )));
    }
    if nyssa_tables::format_of_name(Path::new(pattern)).is_some() {
        return Err(Error::invalid_argument(format!(
            "the outputs are ROOT files, not {pattern:?}: Parquet and Arrow files are made one by one, by \
             `nyssa convert IN OUT`, or of all inputs together, by `nyssa skim`"
        )));
    }
    let mut outputs: Vec<PathBuf> = Vec::with_capacity(inputs.len());
    for input in inputs {
        let name = nyssa_io::file_name(&open::split_path(input).0);
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        let output = many.folder.join(pattern.replace(STEM, stem));
        if let Some(other) = outputs.iter().position(|other| *other == output) {
            return Err(Error::invalid_argument(format!(
                "{} and {} have the same output, {}: convert them into two folders",
                nyssa_io::shown(&inputs[other]),
                nyssa_io::shown(input),
                nyssa_io::shown(&output)
            )));
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// Converts each of `inputs` (`FILE` or `FILE:TREE`) into a file of a folder. `show` gets the result for each.
///
/// # Errors
/// `InvalidArgument` for wrong options; `AlreadyExists` for an output that exists, without `skip_done` and `force`;
/// `Cancelled`; `Io` for a full disk. Without `skip_bad`, also the error of the first file that cannot be converted.
pub fn convert_many<D: Direction>(
    inputs: &[String],
    many: &ManyOptions,
    options: &D,
    context: &Context,
    mut show: impl FnMut(&ConvertedFile),
) -> Result<Vec<ConvertedFile>> {
    if options.input().entries.is_some() {
        return Err(Error::invalid_argument("a range of entries is for one file, not for several"));
    }
    let options = &options.settled()?;
    let outputs = outputs(inputs, many)?;
    let taken = outputs.iter().find(|output| nyssa_io::exists(output));
    if let Some(output) = taken.filter(|_| !options.output().force && !many.skip_done) {
        let message = format!("{} exists already", output.display());
        return Err(Error::new(Kind::AlreadyExists, message));
    }
    nyssa_io::make_folder(&many.folder)?;
    let mut journal = Journal::open(&many.folder)?;
    let job = options.job()?;
    let mut files = Vec::with_capacity(inputs.len());
    for (input, output) in inputs.iter().zip(&outputs) {
        let mut file = ConvertedFile {
            input: nyssa_io::shown(input),
            input_query: nyssa_io::query_digest(&open::split_path(input).0),
            input_bytes: 0,
            input_version: None,
            output: nyssa_io::shown(output),
            output_bytes: 0,
            entries: 0,
            state: FileState::Done,
            error: None,
            seconds: 0.0,
            job: job.clone(),
            skipped: Vec::new(),
            bad: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
        };
        let used = measure();
        let converted =
            convert_one_file(&mut file, (input, output), many, options, &journal, context);
        let used =
            used(context, converted.as_ref().map_or_else(|_| Checks::default(), Clone::clone));
        file.seconds = used.seconds;
        if let Err(error) = &converted {
            if error.kind() == Kind::Cancelled {
                return Err(converted.err().unwrap_or_else(|| Error::invalid_argument("stopped")));
            }
            file.state = FileState::Failed;
            file.error = Some(error.to_string());
        }
        // An output that is refused stays as it is, and so does its line.
        if !matches!(&converted, Err(error) if error.kind() == Kind::AlreadyExists) {
            journal.add(&file, &used)?;
        }
        show(&file);
        files.push(file);
        match converted {
            Err(error) if !many.skip_bad || is_disk_full(&error) => return Err(error),
            _ => (),
        }
    }
    Ok(files)
}

/// The reason why an output without a line in the journal is made again if data may be left out.
const UNKNOWN: &str = "made again: nothing says what was left out of the output that was there";

/// Returns whether the disk of the outputs is full. Then no other file can be converted.
fn is_disk_full(error: &Error) -> bool {
    let kind = error.system().map(|error| error.source.kind());
    matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}

/// Converts one file, unless its output is done. Returns how the output was checked.
fn convert_one_file<D: Direction>(
    file: &mut ConvertedFile,
    (input, output): (&str, &Path),
    many: &ManyOptions,
    options: &D,
    journal: &Journal,
    context: &Context,
) -> Result<Checks> {
    let (path, tree) = open::split_path(input);
    let input = RootFile::open(nyssa_io::open(&*path)?)?;
    file.input_bytes = input.source().size();
    file.input_version = Some(input.version());
    let mut options = options.clone();
    let verified = options.output().verify;
    options.output_mut().identity = Some(file.identity(verified));
    if many.skip_done && nyssa_io::exists(output) {
        let known = journal.last(file);
        if let Some(checks) = done(file, output, known, (&input, tree), &options, context)? {
            file.bad = known.map_or(Vec::new(), |known| known.bad.clone());
            file.state = FileState::Found;
            return Ok(checks);
        }
        options.output_mut().force = true;
    }
    let reports = match tree {
        Some(tree) => vec![convert(&input, tree, output, &options, context)?],
        None => convert_file(&input, output, &options, context)?,
    };
    file.entries = reports.iter().map(|report| report.written.entries).sum();
    file.output_bytes = reports.first().map_or(0, |report| report.written.output_bytes);
    let skipped = reports.iter().flat_map(|report: &ConvertReport| &report.skipped);
    file.skipped = skipped.clone().map(|item| (item.branch.clone(), item.reason.clone())).collect();
    let bad = skipped.filter(|item| item.unreadable);
    file.bad = bad.map(|item| format!("{}: {}", item.branch, item.reason)).collect();
    file.left_out = reports.first().map_or(Vec::new(), |report| report.reencoded.left_out.clone());
    file.notes.extend(notes(&reports));
    let verified = reports.iter().all(|report| report.written.verified);
    Ok(Checks { verified, adler32: None })
}

/// Returns the notes of all reports. With several datasets, each begins with the path of its RNTuple.
fn notes(reports: &[ConvertReport]) -> Vec<String> {
    let of = |report: &ConvertReport| {
        let tree = (reports.len() > 1).then(|| report.written.ntuple.clone());
        let note = move |note: &String| match &tree {
            Some(tree) => format!("{tree}: {note}"),
            None => note.clone(),
        };
        report.written.notes.iter().map(note).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = reports.iter().flat_map(of).collect();
    all.dedup();
    all
}

/// Returns how the existing output was checked, if it is the conversion of the input. If it is not, it may be replaced: if
/// the options allow it, if it is damaged or was not verified, if it is the conversion of an older version of the input, or
/// if it looks like an earlier conversion of unknown origin. `file` then has a note.
///
/// # Errors
/// `AlreadyExists` with the reason why the output may not be replaced.
fn done<D: Direction>(
    file: &mut ConvertedFile,
    output: &Path,
    known: Option<&Known>,
    (input, tree): (&RootFile, Option<&str>),
    options: &D,
    context: &Context,
) -> Result<Option<Checks>> {
    let source = nyssa_io::open(output)?;
    file.output_bytes = source.size();
    let identity = RootFile::identity(&source)?;
    let written =
        RootFile::open(source).and_then(|it| entries(&it, Some(D::TO.output()), None)).ok();
    let of_this = [true, false].into_iter().find(|item| identity == Some(file.identity(*item)));
    if let Some(verified) = of_this {
        let Some(written) = written else { return Ok(None) };
        if options.output().verify && !verified {
            file.notes.push("made again: the output that was there was not verified".to_owned());
            return Ok(None);
        }
        file.entries = written;
        let known = known.filter(|line| identity == Some(line.identity()));
        if known.is_none() && options.input().skip_unreadable {
            file.notes.push(UNKNOWN.to_owned());
            return Ok(None);
        }
        let is_unchanged =
            |line: &Known| (line.output_bytes, line.entries) == (file.output_bytes, written);
        let is_sound = known.is_some_and(is_unchanged)
            || verify(nyssa_io::open(output)?, None, context)?.problems.is_empty();
        let adler32 = known.and_then(|line| line.checks.adler32.clone());
        return Ok(is_sound.then_some(Checks { verified, adler32 }));
    }
    let reason = match known.filter(|line| identity == Some(line.identity())) {
        _ if options.output().force => return Ok(None),
        Some(line) if line.job != file.job => {
            format!("was made with other options: by {}, and not by {}", line.job, file.job)
        }
        Some(line) if line.is_of(file) => return Ok(None),
        None if written == Some(entries(input, D::TO.input(), tree)?) => {
            let note =
                "replaced an output that was there: nothing says that it was made of this input";
            file.notes.push(note.to_owned());
            return Ok(None);
        }
        _ => "exists, and is not the conversion of this input".to_owned(),
    };
    let message = format!("{} {reason}", file.output);
    Err(Error::new(Kind::AlreadyExists, message))
}

/// Returns the number of entries of the datasets of a format, or of all, or of the dataset at `path`.
fn entries(file: &RootFile, format: Option<Format>, path: Option<&str>) -> Result<u64> {
    let paths = match (path, format) {
        (Some(path), _) => vec![path.to_owned()],
        (None, Some(format)) => open::paths_of(file, format)?,
        (None, None) => open::datasets(file)?.into_iter().map(|key| key.path).collect(),
    };
    let entries = |path: &String| Ok(open::open_dataset(file, Some(path))?.num_entries());
    paths.iter().map(entries).sum()
}
