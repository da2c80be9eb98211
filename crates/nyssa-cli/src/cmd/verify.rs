//! `nyssa verify`: is everything in a file sound?

use clap::Args;
use nyssa::error::{Error, Kind};
use nyssa::open;
use nyssa::rntuple::read;
use nyssa::rootfile::{KeyEntry, RootFile};
use nyssa::streamer::ObjectReader;
use nyssa::{Context, Problem, ttree};
use serde::Serialize;

use crate::app::App;
use crate::data::{Data, find, open_file};
use crate::failure::{Failure, Result};
use crate::output::{Columns, printable};
use crate::units::{count, counted, size};
use crate::{ERROR, FINE, PROBLEM};

/// Check every checksum and every rule
///
/// Reads and decodes every page of every RNTuple, every basket of every TTree, and every other object;
/// takes streamed objects apart. Lists all problems with their places, and says what has no checksum: there
/// a changed value may go unseen, as in the baskets that ROOT compresses with zstd (`nyssa digest` compares
/// values with those of another day). Exit code 1 when there are problems, 2 when something could not be
/// checked.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nyssa verify run3.root\n  nyssa verify run3.root:Events --json"
)]
pub struct Verify {
    /// FILE to check all of it, FILE:PATH to check one object
    data: String,
}

/// The result.
#[derive(Default, Serialize)]
struct Document {
    file: String,
    /// Nothing is wrong, everything was checked, and all pages and baskets have checksums; none where
    /// only checksums are lacking.
    sound: Option<bool>,
    /// Keys whose records were checked.
    keys: usize,
    objects: Objects,
    /// Of pages and baskets.
    checksums: Checksums,
    datasets: Vec<Checked>,
    problems: Vec<Problem>,
    /// What could not be checked, and why.
    unchecked: Vec<String>,
}

/// Objects that are no datasets.
#[derive(Default, Serialize)]
struct Objects {
    /// Those that were decoded, all their members.
    decoded: usize,
    /// Those whose bytes were checked but not decoded, and why.
    undecoded: Vec<String>,
}

/// How many parts have a checksum, and how many have none.
#[derive(Default, Serialize)]
struct Checksums {
    present: u64,
    absent: u64,
}

/// A dataset.
#[derive(Serialize)]
struct Checked {
    path: String,
    cycle: u16,
    class: String,
    entries: u64,
    /// Pages or baskets.
    parts: u64,
    /// Parts that were decoded into values.
    decoded: u64,
    /// Parts that carry a checksum.
    checksummed: u64,
    bytes: u64,
    /// What nyssa cannot read as values; its bytes were checked.
    unreadable: Vec<String>,
}

pub fn run(args: &Verify, app: &mut App<'_>) -> Result<u8> {
    let context = app.context()?;
    let document = match open_file(&args.data) {
        Ok((file, path)) => {
            let keys = match path {
                Some(path) => Ok(vec![find(&file, path)?]),
                None => file.walk(),
            };
            let mut document = Document { file: file.name().to_owned(), ..Document::default() };
            if path.is_none() {
                document.record(None, file.streamer_infos().map(drop))?;
                document.record(None, file.free_segments().map(drop))?;
            }
            match keys {
                Ok(keys) => check(&file, &keys, &context, app, &mut document)?,
                Err(error) => document.record(None, Err(error))?,
            }
            document
        }
        Err(Failure::Core(error, _)) if is_damage(&error) => {
            let (file, _) = open::split_path(&args.data);
            let mut document = Document { file: file.to_owned(), ..Document::default() };
            document.record(None, Err(error))?;
            document
        }
        Err(failure) => return Err(failure),
    };
    finish(document, app)
}

fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), Kind::OutOfSpecification | Kind::Checksum | Kind::LimitExceeded)
}

fn finish(mut document: Document, app: &mut App<'_>) -> Result<u8> {
    for data in &document.datasets {
        document.checksums.present += data.checksummed;
        document.checksums.absent += data.parts.saturating_sub(data.checksummed);
    }
    document.sound = match (&document.problems[..], &document.unchecked[..]) {
        ([], []) => (document.checksums.absent == 0).then_some(true),
        _ => Some(false),
    };
    if app.json {
        app.print_json(&document)?;
    } else {
        print(&document, app)?;
    }
    Ok(match (document.problems.is_empty(), document.unchecked.is_empty()) {
        (false, _) => PROBLEM,
        (true, false) => ERROR,
        (true, true) => FINE,
    })
}

fn check(
    file: &RootFile,
    keys: &[KeyEntry],
    context: &Context,
    app: &mut App<'_>,
    document: &mut Document,
) -> Result<()> {
    let objects = ObjectReader::new(file.clone());
    for key in keys {
        context.check()?;
        document.keys += 1;
        if key.is_directory() {
            // Its list of keys has been read.
            continue;
        }
        let before = document.problems.len();
        document.record(Some(key), file.payload(key).map(drop))?;
        if document.problems.len() > before {
            continue;
        }
        if open::format_of(key).is_none() {
            document.decode(&objects, key)?;
            continue;
        }
        match Data::of_key(file, key) {
            Ok(data) => {
                let (bar, context) = app.progress(context, &key.path);
                let checked = check_data(&data, key, &context, document);
                drop(bar);
                document.datasets.push(checked?);
                if let Data::NTuple(reader) = &data {
                    check_attributes(reader, key, &context, document)?;
                }
            }
            Err(Failure::Core(error, _)) => document.record(Some(key), Err(error))?,
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

fn check_data(
    data: &Data,
    key: &KeyEntry,
    context: &Context,
    document: &mut Document,
) -> Result<Checked> {
    let (path, cycle, class) = (key.path.clone(), key.cycle, key.class.clone());
    let object = Some(format!("{path};{cycle}"));
    Ok(match data {
        Data::NTuple(reader) => check_ntuple(reader, path, key, object, context, document)?,
        Data::Tree(reader) => {
            let report = ttree::verify(reader, context)?;
            document.add(object.as_deref(), report.problems);
            Checked {
                path,
                cycle,
                class,
                entries: report.entries,
                parts: report.baskets,
                decoded: report.decoded,
                checksummed: report.checksummed,
                bytes: report.bytes,
                unreadable: report.unreadable,
            }
        }
    })
}

fn check_ntuple(
    reader: &read::Reader,
    path: String,
    key: &KeyEntry,
    object: Option<String>,
    context: &Context,
    document: &mut Document,
) -> Result<Checked> {
    let report = read::verify(reader, context)?;
    document.add(object.as_deref(), report.problems);
    Ok(Checked {
        path,
        cycle: key.cycle,
        class: key.class.clone(),
        entries: report.entries,
        parts: report.pages,
        decoded: report.decoded_pages,
        checksummed: report.checksummed_pages,
        bytes: report.bytes,
        unreadable: report.unreadable,
    })
}

/// Checks the attribute sets of an RNTuple, which no directory lists.
fn check_attributes(
    reader: &read::Reader,
    key: &KeyEntry,
    context: &Context,
    document: &mut Document,
) -> Result<()> {
    for link in reader.attribute_links() {
        let path = format!("{}, attribute set {}", key.path, link.name);
        match reader.open_attribute_set(&link.name) {
            Ok(set) => {
                let object = Some(path.clone());
                let checked = check_ntuple(&set, path, key, object, context, document)?;
                document.datasets.push(checked);
                document.record(Some(key), set.attribute_ranges(context).map(drop))?;
            }
            Err(error) => document.record(Some(key), Err(error))?,
        }
    }
    Ok(())
}

impl Document {
    /// Notes what is wrong with an object.
    fn add(&mut self, object: Option<&str>, problems: Vec<Problem>) {
        let object = || object.map(str::to_owned);
        self.problems.extend(problems.into_iter().map(|it| Problem { object: object(), ..it }));
    }

    /// Decodes an object that is no dataset.
    fn decode(&mut self, objects: &ObjectReader, key: &KeyEntry) -> Result<()> {
        match objects.read(key) {
            Ok(_) => self.objects.decoded += 1,
            Err(error) if error.kind() == Kind::Unsupported => {
                let reason = error.message();
                self.objects.undecoded.push(format!("{};{}: {reason}", key.path, key.cycle));
            }
            Err(error) => self.record(Some(key), Err(error))?,
        }
        Ok(())
    }

    /// Notes damage; passes on what is not the file's fault.
    fn record(&mut self, key: Option<&KeyEntry>, result: nyssa::Result<()>) -> Result<()> {
        let Err(error) = result else { return Ok(()) };
        let object = key.map(|key| format!("{};{}", key.path, key.cycle));
        if is_damage(&error) {
            let problem = Problem::from(&error);
            let object = object.or_else(|| problem.object.clone());
            self.problems.push(Problem { object, ..problem });
        } else if error.kind() == Kind::Unsupported {
            let object = object.map(|object| format!("{object}: ")).unwrap_or_default();
            self.unchecked.push(format!("{object}{}", error.message()));
        } else {
            return Err(error.into());
        }
        Ok(())
    }
}

/// The place in words.
fn place(problem: &Problem) -> String {
    let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let parts = [
        problem.object.clone(),
        problem.field.clone(),
        number("column", problem.column),
        number("cluster", problem.cluster),
        number("page", problem.page),
        number("basket", problem.basket),
        number("entry", problem.entry),
        number("byte", problem.offset),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn print(document: &Document, app: &mut App<'_>) -> Result<()> {
    if !document.datasets.is_empty() && !app.quiet {
        let header = [
            "name",
            "class",
            ">entries",
            ">parts",
            ">decoded",
            ">checksums",
            ">size",
            ">unreadable",
        ];
        let mut table = Columns::new(&header);
        for data in &document.datasets {
            table.row([
                format!("{};{}", data.path, data.cycle),
                data.class.clone(),
                count(data.entries),
                count(data.parts),
                count(data.decoded),
                count(data.checksummed),
                size(data.bytes),
                count(data.unreadable.len() as u64),
            ]);
        }
        table.print(app)?;
    }
    for problem in &document.problems {
        let (message, place) = (printable(&problem.message), printable(&place(problem)));
        let place = if place.is_empty() { place } else { format!(" ({place})") };
        writeln!(app.out, "problem: {message}{place}")?;
    }
    for unchecked in &document.unchecked {
        writeln!(app.out, "not checked: {}", printable(unchecked))?;
    }
    if app.quiet {
        return Ok(());
    }
    for undecoded in &document.objects.undecoded {
        writeln!(app.out, "not decoded: {}", printable(undecoded))?;
    }
    let keys = counted(document.keys as u64, "key");
    let problems = document.problems.len() as u64;
    match (problems, document.unchecked.len() as u64) {
        (0, 0) => sound(document, &keys, app),
        (0, _) => Ok(writeln!(app.out, "no problem found in what was checked: {keys}")?),
        _ => {
            let (problems, file) = (counted(problems, "problem"), printable(&document.file));
            Ok(writeln!(app.out, "damaged: {problems} in {keys} of {file}")?)
        }
    }
}

/// What was checked of a file without problems, and what a check cannot see.
fn sound(document: &Document, keys: &str, app: &mut App<'_>) -> Result<()> {
    let Checksums { present, absent } = document.checksums;
    if absent == 0 {
        return Ok(writeln!(app.out, "sound: {keys} checked")?);
    }
    let (parts, absent) = (count(present + absent), count(absent));
    writeln!(app.out, "no problem found: {keys} checked")?;
    writeln!(
        app.out,
        "note: {absent} of {parts} pages and baskets have no checksum: a changed value in them may go unseen"
    )?;
    Ok(())
}
