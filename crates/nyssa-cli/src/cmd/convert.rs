//! `nyssa convert`: converts TTrees to RNTuples, and RNTuples to TTrees.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use nyssa_io::Sink;
use nyssa_jobs::convert::{
    self, ConvertReport, ConvertedFile, ConvertedTotal, Direction, FileState, ManyOptions,
    StreamerFieldReport, To, ToRNTuple, ToTTree,
};
use nyssa_jobs::open;
use nyssa_jobs::skim::{convert_table, has_table};
use nyssa_root::Kind;

use crate::app::App;
use crate::cmd::job_report::{self, Row};
use crate::data::{
    check_output, check_text_output, create_text, files, find, only, open_file, path_of, write_text,
};
use crate::exit_code::{FINE, FULL, PROBLEM};
use crate::failure::{Failure, Result};
use crate::output::printable;
use crate::units::{count, counted, ratio, size};

/// Convert TTrees to RNTuples, or back with --to ttree; from and to Parquet and Arrow
///
/// An output whose name ends in .parquet, .arrow, .feather or .ipc becomes a table with one dataset; such an input becomes an
/// RNTuple, or a TTree.
///
/// A file is converted as a whole: each TTree becomes an RNTuple at its path. FILE:PATH means one of them. Histograms, directories and the other objects of the file are copied; objects that cannot be copied are
/// listed. The output appears only when it is complete, and with --verify only when every value has been read
/// back and compared.
#[derive(Args, Debug)]
#[command(mut_arg("force", |arg| arg.help("Replace an existing output, and an existing report")))]
#[command(after_help = "Examples:\n  nyssa convert run3.root:Events out.root --verify\n  \
    nyssa convert run3.root out.root --compression zstd:7\n  \
    nyssa convert 'run3/*.root:Events' --into ntuples --name-pattern '{stem}_ntuple.root' --skip-bad --skip-done\n  \
    nyssa convert run3.root:Events muons.root --include 'Muon_*' --entries 0:1000\n  \
    nyssa convert run3.root:Events out.root --field-options 'Jet_*:column=Real32Trunc:16,compression=zstd:9'\n  \
    nyssa convert ntuple.root:Events tree.root --to ttree --skip-unsupported\n  \
    nyssa convert run3.root:Events events.parquet --compression zstd:5\n  \
    nyssa convert events.parquet ntuple.root")]
pub(crate) struct Convert<D: Args = ChosenDirection> {
    /// FILE for all its TTrees (or RNTuples), or FILE:PATH for one, and the file to write; with --into, files, globs, folders and lists (@LIST)
    #[arg(value_names = ["INPUT", "OUTPUT"], required = true, num_args = 1..)]
    files: Vec<String>,
    /// Convert many files, one after the other, into a folder; its file nyssa-campaign.jsonl has a line for each
    #[arg(long, short = 'o', value_name = "DIR", conflicts_with_all = ["entries", "report", "columns"])]
    into: Option<PathBuf>,
    /// With --into, names of the outputs; {stem} is the name of the input without its ending
    #[arg(long, value_name = "PATTERN", default_value = "{stem}.root", requires = "into")]
    name_pattern: String,
    /// With --into, go on after a file that cannot be converted; the exit status is then 1
    #[arg(long, requires = "into")]
    skip_bad: bool,
    /// With --into, keep outputs that are the conversions of their inputs, and make the others
    #[arg(long, requires = "into")]
    skip_done: bool,
    /// Show for each column of the output how it is stored, and why
    #[arg(long)]
    columns: bool,
    /// Also write the report to this file, as JSON with a digest of every branch (see `nyssa digest`)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    pub direction: D,
}

/// A direction with its options: what `--to` says.
#[derive(Debug)]
pub(crate) enum ChosenDirection {
    RNTuple(ToRNTuple),
    TTree(ToTTree),
    /// A table, with the options of a conversion to an RNTuple that it has, too.
    Table(ToRNTuple, To),
}

impl Args for ChosenDirection {
    /// Adds the arguments of a conversion to an RNTuple. [`command_to_ttree`] makes the command of a conversion to a
    /// TTree.
    fn augment_args(command: Command) -> Command {
        ToRNTuple::augment_args(command).arg(to_argument())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChosenDirection {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        match matches.get_one("to") {
            Some(To::TTree) => ToTTree::from_arg_matches(matches).map(Self::TTree),
            Some(&to @ (To::Parquet | To::Arrow)) => {
                ToRNTuple::from_arg_matches(matches).map(|options| Self::Table(options, to))
            }
            _ => ToRNTuple::from_arg_matches(matches).map(Self::RNTuple),
        }
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn to_argument() -> Arg {
    Arg::new("to")
        .long("to")
        .value_name("FORMAT")
        .default_value("rntuple")
        .value_parser(value_parser!(To))
        .help(
            "rntuple: convert TTrees to RNTuples; ttree: convert RNTuples to TTrees, for those who still need one: \
             `nyssa convert --to ttree --help` lists the options; parquet, arrow: write a table, whatever the name of the output. Fields that a TTree cannot hold are named before anything \
             is written",
        )
        .display_order(0)
}

/// Returns the command with the arguments of a conversion to a TTree.
pub(crate) fn command_to_ttree() -> Command {
    Convert::<ToTTree>::augment_args(Command::new("convert")).arg(to_argument())
}

pub(crate) fn run(args: &Convert, app: &mut App<'_>) -> Result<u8> {
    match &args.direction {
        ChosenDirection::RNTuple(options) => run_with(args, options, None, app),
        ChosenDirection::TTree(options) => run_with(args, options, None, app),
        ChosenDirection::Table(options, to) => run_with(args, options, Some(*to), app),
    }
}

fn run_with<D: Direction>(
    args: &Convert,
    options: &D,
    to: Option<To>,
    app: &mut App<'_>,
) -> Result<u8> {
    if let Some(folder) = &args.into {
        if to.is_some() {
            let hint =
                "name one input and one output; `nyssa skim` makes one table of several files";
            let message = "--into makes files of ROOT, and no tables";
            return Err(Failure::Usage(message.to_owned(), Some(hint.to_owned())));
        }
        return many(args, options, folder, app);
    }
    let [input, output] = args.files.as_slice() else {
        let message = match args.files.len() {
            1 => "the file to write is missing",
            _ => "convert takes one input and one output",
        };
        let hint = "`--into DIR` converts many files into a folder".to_owned();
        return Err(Failure::Usage(message.to_owned(), Some(hint)));
    };
    let output = Path::new(output);
    let context = app.context()?;
    check_output(output)?;
    if has_table(input, output, to) {
        let (bar, shown) = app.progress(&context, "converting");
        let report = convert_table(input, output, to, options, &shown);
        drop(bar);
        let report = report.map_err(|error| explain(error.into()))?;
        let file = create_text(args.report.as_deref(), options.output().force)?;
        return show(args, &[report], file, app);
    }
    let (file, path) = open_file(input)?;
    let options = options.settled()?;
    let report = args.report.as_deref();
    let taken = [file.source().location(), output];
    report.map_or(Ok(()), |report| check_report(report, taken))?;
    let report = create_text(report, options.output().force)?;
    let (bar, context) = app.progress(&context, "converting");
    let reports = match path {
        Some(path) => {
            let tree = path_of(&file, &find(&file, path)?);
            convert::convert(&file, &tree, output, &options, &context).map(|report| vec![report])
        }
        None => {
            if open::datasets_of(&file, D::TO.input())?.is_empty() {
                // Without any dataset this is an error.
                let path = match &open::datasets_of(&file, None)?[..] {
                    [] => only(&file, None)?.path,
                    [first, ..] => first.path.clone(),
                };
                return Err(already(D::TO, file.name(), &path));
            }
            convert::convert_file(&file, output, &options, &context)
        }
    };
    drop(bar);
    let reports = reports.map_err(|error| explain(error.into()))?;
    show(args, &reports, report, app)
}

/// Prints reports, and writes them to the file for them.
fn show(
    args: &Convert,
    reports: &[ConvertReport],
    report: Option<Box<dyn Sink>>,
    app: &mut App<'_>,
) -> Result<u8> {
    if app.json {
        match reports {
            [report] => app.print_json(report)?,
            reports => app.print_json(&serde_json::json!({ "reports": reports }))?,
        }
    } else if app.quiet {
        reports.iter().flat_map(|report| &report.skipped).filter(|it| it.unreadable).for_each(
            |it| {
                app.complain(&format!("left out {}: {}", it.branch, it.reason));
            },
        );
    } else {
        print(reports, args.columns, app)?;
    }
    write_text(report, || {
        let text = match reports {
            [report] => serde_json::to_string_pretty(report),
            reports => serde_json::to_string_pretty(reports),
        };
        Ok(text? + "\n")
    })?;
    let damaged = |report: &ConvertReport| report.skipped.iter().any(|skipped| skipped.unreadable);
    Ok(if reports.iter().any(damaged) { PROBLEM } else { FINE })
}

/// Explains that a file has no input, because its dataset at `path` already has the format of the output.
fn already(to: To, file: &str, path: &str) -> Failure {
    let (what, hint) = match to {
        To::RNTuple => (
            "an RNTuple",
            "`--to ttree` makes a TTree of it; `nyssa rewrite` writes it again with other options",
        ),
        To::TTree => ("a TTree", "without `--to ttree` it becomes an RNTuple"),
        To::Parquet | To::Arrow => ("a table", "name another format"),
    };
    Failure::Usage(format!("{file}:{path} is already {what}"), Some(hint.to_owned()))
}

/// Converts many files, and prints a line for each.
fn many(args: &Convert, options: &impl Direction, folder: &Path, app: &mut App<'_>) -> Result<u8> {
    let inputs = files(&args.files)?;
    let options = options.settled()?;
    let many = ManyOptions {
        folder: folder.to_owned(),
        name_pattern: args.name_pattern.clone(),
        skip_bad: args.skip_bad,
        skip_done: args.skip_done,
    };
    let (bar, context) = app.progress(&app.context()?, "converting");
    let (mut number, total, shown) = (0, inputs.len(), !app.json && !app.quiet);
    let next = |number: usize| {
        let input = inputs.get(number).map_or("", String::as_str);
        bar.set_what(&format!("[{}/{total}] converting {input}", number + 1));
    };
    next(0);
    let show = |file: &ConvertedFile| {
        number += 1;
        next(number);
        if shown {
            let line = format!("[{number}/{total}] {}", line(file));
            let _ = bar
                .hide(|| writeln!(app.out, "{}", printable(&line)).and_then(|()| app.out.flush()));
        }
    };
    let done = convert::convert_many(&inputs, &many, &options, &context, show);
    drop(bar);
    let done = done.map_err(|error| {
        let began = error.place().file.is_some();
        let failure = explain(error.into());
        match failure.kind() {
            Some(_) if began && failure.exit_code() == FULL => {
                failure.hint("when there is space again, --skip-done goes on from here")
            }
            Some(Kind::AlreadyExists) if args.skip_done => failure,
            Some(Kind::AlreadyExists) => {
                failure.hint("--skip-done keeps outputs that are the conversions of their inputs")
            }
            Some(kind) if began && !args.skip_bad && kind != Kind::Cancelled => failure.hint(
                "--skip-bad goes on with the other files; --skip-done keeps those that are made",
            ),
            _ => failure,
        }
    })?;
    let failed: Vec<_> = done.iter().filter(|file| file.state == FileState::Failed).collect();
    let sum = ConvertedTotal::of(&done);
    if app.json {
        app.print_json(&serde_json::json!({ "files": done, "total": sum }))?;
    } else if !app.quiet {
        writeln!(app.out, "{}", sum_line(&sum))?;
        for line in many_remarks(&done) {
            writeln!(app.out, "{}", printable(&line))?;
        }
    }
    if !app.json && !failed.is_empty() {
        app.complain(&format!(
            "{} of {} could not be converted:",
            failed.len(),
            counted(total as u64, "file")
        ));
        for file in &failed {
            app.complain(&format!("{}: {}", file.input, reason(file)));
        }
    }
    let is_whole = done.iter().all(|file| file.bad.is_empty());
    Ok(if failed.is_empty() && is_whole { FINE } else { PROBLEM })
}

/// Says how many files were converted, kept and bad, and how fast it went.
fn sum_line(sum: &ConvertedTotal) -> String {
    let mut line = counted(sum.converted, "file");
    line += " converted";
    if sum.found > 0 {
        line += &format!(", {} found", count(sum.found));
    }
    if sum.failed > 0 {
        line += &format!(", {} failed", count(sum.failed));
    }
    if sum.converted > 0 {
        let (before, after) = (sum.input_bytes, sum.output_bytes);
        line += &format!(": {}, ", counted(sum.entries, "entry"));
        line += &format!("{} -> {} (ratio {}), ", size(before), size(after), ratio(before, after));
        line += &format!("{:.1} s, {:.1} MB/s", sum.seconds, sum.megabytes_per_second);
    }
    line
}

/// Returns what was left out of files, and what their notes say, each once with the number of files.
fn many_remarks(files: &[ConvertedFile]) -> Vec<String> {
    let (mut lines, mut counts) = (Vec::new(), HashMap::new());
    let of = |file: &ConvertedFile| {
        let columns = file.skipped.iter().map(|(name, why)| format!("left out {name}: {why}"));
        let objects = file.left_out.iter().map(|object| format!("left out {object}"));
        let notes = file.notes.iter().map(|note| format!("note: {note}"));
        columns.chain(objects).chain(notes).collect::<Vec<_>>()
    };
    for line in files.iter().flat_map(of) {
        let count: &mut usize = counts.entry(line.clone()).or_default();
        if *count == 0 {
            lines.push(line);
        }
        *count += 1;
    }
    let all = files.len();
    let line = |line: String| match counts.get(&line) {
        Some(&count) if count < all => format!("{line} ({count} of {all} files)"),
        _ => line,
    };
    lines.into_iter().map(line).collect()
}

/// Returns the first line of the error of a file.
fn reason(file: &ConvertedFile) -> &str {
    file.error.as_deref().and_then(|error| error.lines().next()).unwrap_or_default()
}

/// Says what became of a file.
fn line(file: &ConvertedFile) -> String {
    let ConvertedFile { input, output, output_bytes, seconds, .. } = file;
    let entries = counted(file.entries, "entry");
    match file.state {
        FileState::Failed => format!("failed {input}: {}", reason(file)),
        FileState::Found => format!("found {output}: {entries}, {}", size(*output_bytes)),
        FileState::Done => {
            let bytes = size(*output_bytes);
            let left_out = match file.skipped.len() {
                0 => String::new(),
                left => format!(", {} left out", counted(left as u64, "column")),
            };
            format!("{input} -> {output}: {entries}, {bytes}, {seconds:.1} s{left_out}")
        }
    }
}

/// Refuses a report in the place of the input or the output.
fn check_report(report: &Path, taken: [&Path; 2]) -> Result<()> {
    check_text_output("--report", Some(report))?;
    let is_same = |other: &&Path| *other == report || nyssa_io::is_same(other, report);
    if !taken.iter().any(is_same) {
        return Ok(());
    }
    let report = report.display();
    Err(Failure::Usage(
        format!(
            "the report cannot be written to {report}, because this is the input or the output"
        ),
        Some("choose another name for the report".to_owned()),
    ))
}

fn explain(failure: Failure) -> Failure {
    let in_branch = matches!(&failure, Failure::Core(error, _) if error.place().field.is_some());
    let in_input = matches!(&failure, Failure::Core(error, _) if error.place().file.is_some());
    match failure.kind() {
        Some(kind) if kind.is_damage() && in_branch => failure
            .hint("--skip-unreadable converts the branches that can be read and lists the others"),
        // An output at a URL that cannot be written is unsupported, too.
        Some(Kind::Unsupported) if in_input => {
            failure.hint("--skip-unsupported converts the rest and lists what was left out")
        }
        _ => failure,
    }
}

fn print<'a>(reports: &'a [ConvertReport], each: bool, app: &mut App<'_>) -> Result<()> {
    let row = |report: &'a ConvertReport| Row {
        source: if report.to == To::TTree { &report.written.ntuple } else { &report.tree },
        target: if report.to == To::TTree { &report.tree } else { &report.written.ntuple },
        fields: report.fields.len(),
        written: &report.written,
        reencoded: &report.reencoded,
    };
    let rows: Vec<_> = reports.iter().map(row).collect();
    let titles = match reports.first().map(|report| report.to) {
        Some(To::TTree) => ["ttree", ">pages", ">baskets"],
        Some(To::Parquet | To::Arrow) => ["table", ">input", ">output"],
        _ => ["rntuple", ">baskets", ">pages"],
    };
    job_report::print(&rows, titles, each, app)?;
    reports.iter().try_for_each(|report| remarks(report, app))?;
    job_report::others(reports.last().map(|report| &report.reencoded), app)
}

/// The number of branches of classes that are listed.
const LISTED_STREAMER_FIELDS: usize = 20;

fn remarks(report: &ConvertReport, app: &mut App<'_>) -> Result<()> {
    for field in report.streamer_fields.iter().take(LISTED_STREAMER_FIELDS) {
        let StreamerFieldReport { branch, class, streamer, reason, .. } = field;
        let how = if *streamer { "streamer field" } else { "columns" };
        let sizes = field.columns_bytes.zip(field.streamer_bytes).map(|(columns, streamer)| {
            format!("; in columns {}, streamed {}", size(columns), size(streamer))
        });
        let sizes = sizes.unwrap_or_default();
        let line = format!("{how} {branch} ({class}): {reason}{sizes}");
        writeln!(app.out, "{}", printable(&line))?;
    }
    let more = report.streamer_fields.len().saturating_sub(LISTED_STREAMER_FIELDS);
    if more > 0 {
        writeln!(app.out, "... and {more} more branches of classes: --json lists all")?;
    }
    // The branch of a member has another name than its path: this is no surprise.
    let renamed = report.renamed.iter().filter(|_| report.to == To::RNTuple);
    for renamed in renamed {
        let line = format!("renamed {} -> {}", renamed.branch, renamed.field);
        writeln!(app.out, "{}", printable(&line))?;
    }
    for skipped in &report.skipped {
        let line = format!("left out {}: {}", skipped.branch, skipped.reason);
        writeln!(app.out, "{}", printable(&line))?;
    }
    job_report::notes(&report.written, app)
}
