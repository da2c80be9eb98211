//! Keeps the journal of a folder of conversions, which has a line for each file. Campaigns of the Python package write the
//! same format. `docs/campaign.md` describes its members.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use nyssa_io::{IoStats, Lines, file_name};
use nyssa_observe::cpu_time;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use serde::Serialize;
use serde_json::Value;

use super::many_report::{ConvertedFile, FileState};

/// The name of the journal in the folder.
const JOURNAL: &str = "nyssa-convert.jsonl";
/// The version of the format. Lines without a version are of version 1.
const VERSION: u32 = 2;

/// The journal of a folder.
pub(super) struct Journal {
    lines: Lines,
    /// The last conversion to each output, by the name of the output in the folder.
    converted: HashMap<String, ConvertedFile>,
}

/// A line of the journal.
#[derive(Serialize)]
struct Line<'a> {
    version: u32,
    inputs: [Vec<Value>; 1],
    job: String,
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
    verified: bool,
}

impl Journal {
    /// Opens the journal of `folder`, which is made if it does not exist.
    ///
    /// # Errors
    /// `Io` if the file cannot be read or opened for writing.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let (lines, text) = nyssa_io::lines(folder.join(JOURNAL))?;
        let mut journal = Self { lines, converted: HashMap::new() };
        // A line that cannot be parsed is ignored. The process may have ended while it was written.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if line["state"] == "damaged" {
                let output = line["output"].as_str().unwrap_or_default();
                journal.converted.remove(&file_name(output));
            } else if let Ok(file) = serde_json::from_value(line) {
                journal.keep(file);
            }
        }
        Ok(journal)
    }

    /// Returns the last conversion to the output of `file`, unless it was found damaged later.
    pub(super) fn last(&self, file: &ConvertedFile) -> Option<&ConvertedFile> {
        self.converted.get(&file_name(&file.output))
    }

    fn keep(&mut self, file: ConvertedFile) {
        if file.state != FileState::Failed {
            self.converted.insert(file_name(&file.output), file);
        }
    }

    /// Adds the line of a file.
    ///
    /// # Errors
    /// `Io` if the line cannot be written.
    pub(super) fn add(&mut self, file: &ConvertedFile, used: &Used) -> Result<()> {
        let mut input = vec![Value::from(&*file.input), file.input_bytes.into()];
        input.push(file.input_version.clone().into());
        input.extend(file.input_query.clone().map(Value::from));
        let job = format!("convert({})", file.options);
        let line = Line { version: VERSION, inputs: [input], job, used, file };
        let line = serde_json::to_string(&line);
        let line = line.map_err(|error| Error::invalid_argument(error.to_string()))?;
        self.lines.add(&line)?;
        self.keep(file.clone());
        Ok(())
    }
}

/// Begins to measure. The result returns the resources that the process has used since then.
pub(super) fn measure() -> impl FnOnce(&Context, bool) -> Used {
    let begin = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (start, cpu) = (Instant::now(), cpu_time().unwrap_or_default());
    let counts = || {
        let counts = IoStats::of_process().counts();
        (counts.bytes(), counts.iops_read + counts.iops_readv)
    };
    let (bytes, requests) = counts();
    move |context, verified| Used {
        begin: begin.as_secs_f64(),
        seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: cpu_time().unwrap_or_default().saturating_sub(cpu).as_secs_f64(),
        threads: context.threads(),
        bytes_read: counts().0 - bytes,
        requests: counts().1 - requests,
        verified,
    }
}
