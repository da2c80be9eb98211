//! Reads and writes the journal of a folder of conversions, which has a line for each file. Campaigns of the Python
//! package write into the same file. `docs/campaign.md` describes its members.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use nyssa_io::{IoStats, Lines, absolute, file_name, is_remote};
use nyssa_observe::cpu_time;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::many_report::ConvertedFile;
use crate::job::{MadeOf, identity};

/// The name of the journal in the folder.
const JOURNAL: &str = "nyssa-campaign.jsonl";
/// The name that earlier builds gave to the journals of conversions.
const EARLIER: &str = "nyssa-convert.jsonl";
/// The version of the format. Lines without a version are of version 1.
const VERSION: u32 = 2;

/// The journal of a folder.
pub(super) struct Journal {
    lines: Lines,
    /// The last entry for each output, by the name of the output in the folder.
    known: HashMap<String, Known>,
}

/// An entry of a journal about an output.
#[derive(Debug, Deserialize)]
pub(super) struct Known {
    output: String,
    state: String,
    /// For each input its name, size and version, and a digest of the query of its URL if it has one.
    inputs: Vec<Vec<Value>>,
    /// The job with its options.
    pub job: String,
    #[serde(default)]
    pub entries: u64,
    #[serde(default)]
    pub output_bytes: u64,
    /// What of the input is missing or damaged and was left out.
    #[serde(default)]
    pub bad: Vec<String>,
    #[serde(flatten)]
    pub checks: Checks,
    /// The input as the user named it, in the lines of conversions. Their outputs are named as the user named them.
    input: Option<String>,
}

/// The checks of an output when it was made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Checks {
    /// Whether every value was read back and compared.
    #[serde(default)]
    pub verified: bool,
    /// The checksum, which campaigns compute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adler32: Option<String>,
}

impl Known {
    /// Returns the identity (UUID) that the output has.
    pub(super) fn identity(&self) -> [u8; 16] {
        let inputs = self.inputs.iter().map(|input| {
            let text = |at: usize| input.get(at).and_then(Value::as_str);
            let bytes = input.get(1).and_then(Value::as_i64).unwrap_or(-1);
            let location = text(0).unwrap_or_default();
            MadeOf { location, bytes, version: text(2), query: text(3) }
        });
        identity(inputs, &self.job, self.checks.verified)
    }

    /// Returns whether the output was made of this input alone, in any version.
    pub(super) fn is_of(&self, file: &ConvertedFile) -> bool {
        let [input] = self.inputs.as_slice() else { return false };
        let query = input.get(3).and_then(Value::as_str);
        let name = input.first().and_then(Value::as_str);
        name == Some(&*place(&file.input)) && query == file.input_query.as_deref()
    }
}

/// Returns the name of an input for a line: it does not depend on the current folder, and has no secrets.
fn place(shown: &str) -> String {
    match is_remote(shown) {
        true => shown.to_owned(),
        false => absolute(shown).map_or_else(|_| shown.to_owned(), nyssa_io::shown),
    }
}

/// A line of the journal.
#[derive(Serialize)]
struct Line<'a> {
    version: u32,
    inputs: [Vec<Value>; 1],
    #[serde(flatten)]
    used: &'a Used,
    #[serde(flatten)]
    file: &'a ConvertedFile,
}

/// The resources that the conversion of a file used, with its verification.
#[derive(Serialize)]
pub(super) struct Used {
    /// The time at which it began, in seconds since 1970.
    begin: f64,
    #[serde(skip)]
    pub seconds: f64,
    cpu_seconds: f64,
    threads: usize,
    bytes_read: u64,
    requests: u64,
    #[serde(flatten)]
    checks: Checks,
}

impl Journal {
    /// Opens the journal of `folder`, which is made if it does not exist.
    ///
    /// # Errors
    /// `Io` if the file cannot be read or opened for writing.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let earlier = folder.join(EARLIER);
        let earlier = match nyssa_io::exists(&earlier) {
            true => nyssa_io::read(&earlier)?,
            false => Vec::new(),
        };
        let (lines, text) = nyssa_io::lines(folder.join(JOURNAL))?;
        let mut journal = Self { lines, known: HashMap::new() };
        let earlier = String::from_utf8_lossy(&earlier);
        // A line that cannot be parsed is ignored. The process may have ended while it was written.
        for line in earlier.lines().chain(text.lines()) {
            if let Ok(known) = serde_json::from_str(line) {
                journal.keep(known, folder);
            }
        }
        Ok(journal)
    }

    /// Returns the last entry for the output of `file`, unless the output was found damaged later.
    pub(super) fn last(&self, file: &ConvertedFile) -> Option<&Known> {
        self.known.get(&file_name(&file.output))
    }

    /// Stores the entry of a line, unless its output is in another folder. A campaign has a folder for each dataset.
    fn keep(&mut self, known: Known, folder: &Path) {
        let above = Path::new(&known.output).parent();
        let is_here = || absolute(folder).is_ok_and(|folder| above == Some(folder.as_path()));
        if known.input.is_none() && !is_here() {
            return;
        }
        let name = file_name(&known.output);
        match known.state.as_str() {
            "damaged" => drop(self.known.remove(&name)),
            "failed" => {}
            _ => drop(self.known.insert(name, known)),
        }
    }

    /// Adds the line of a file.
    ///
    /// # Errors
    /// `Io` if the line cannot be written.
    pub(super) fn add(&mut self, file: &ConvertedFile, used: &Used) -> Result<()> {
        let mut input = vec![Value::from(place(&file.input)), file.input_bytes.into()];
        input.push(file.input_version.clone().into());
        input.extend(file.input_query.clone().map(Value::from));
        let line = Line { version: VERSION, inputs: [input], used, file };
        let line = serde_json::to_string(&line);
        let line = line.map_err(|error| Error::invalid_argument(error.to_string()))?;
        Ok(self.lines.add(&line)?)
    }
}

/// Begins to measure. The result returns the resources that the process has used since then.
pub(super) fn measure() -> impl FnOnce(&Context, Checks) -> Used {
    let begin = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (start, cpu) = (Instant::now(), cpu_time().unwrap_or_default());
    let counts = || {
        let counts = IoStats::of_process().counts();
        (counts.bytes(), counts.iops_read + counts.iops_readv)
    };
    let (bytes, requests) = counts();
    move |context, checks| Used {
        begin: begin.as_secs_f64(),
        seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: cpu_time().unwrap_or_default().saturating_sub(cpu).as_secs_f64(),
        threads: context.threads(),
        bytes_read: counts().0 - bytes,
        requests: counts().1 - requests,
        checks,
    }
}
