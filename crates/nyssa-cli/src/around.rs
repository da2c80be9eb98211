//! Does what the options of every command request around a command: the cache, other files, the recording, the monitor, the
//! counters of reads.

use std::ffi::OsString;
use std::io::Write;

use clap::{ArgAction, Args, FromArgMatches};
use nyssa_io::OtherFilesAllowed;
use nyssa_observe::{Monitor, Recording};

use crate::app::{CacheInUse, Global};
use crate::failure::{Failure, Result};
use crate::io_stats;
use crate::printable::printable;

/// What was begun, until it is finished.
pub(crate) struct Around {
    recording: Option<Recording>,
    monitor: Option<Monitor>,
    io_stats: Option<String>,
    _cache: Option<CacheInUse>,
    _allowed: Option<OtherFilesAllowed>,
}

impl Around {
    /// Begins what the options request.
    pub(crate) fn start(global: &Global, uses_cache: bool) -> Result<Self> {
        let recording = global.record.as_deref().map(nyssa_root::process::record).transpose()?;
        Ok(Self {
            recording,
            monitor: global.start_monitor()?,
            io_stats: global.io_stats.clone(),
            _cache: if uses_cache { global.use_cache()? } else { None },
            _allowed: global.allow_other_files(),
        })
    }

    /// Completes the files, and prints the counters. If the files of the monitor or of the recording cannot be completed,
    /// there is only a warning.
    pub(crate) fn finish(self, err: &mut dyn Write) -> Result<()> {
        let finished = [
            ("files of --monitor are", self.monitor.map(|monitor| monitor.finish().map(drop))),
            ("file of --record is", self.recording.map(Recording::finish)),
        ];
        for (files, finished) in finished {
            if let Some(Err(error)) = finished {
                let warning = format!("warning: the {files} not complete: {error}");
                let _ = writeln!(err, "{}", printable(&warning));
            }
        }
        self.io_stats.as_deref().map_or(Ok(()), |place| io_stats::report(place, err))
    }
}

/// The options of every command around a command that Python runs.
pub struct AroundPython(Around);

impl AroundPython {
    /// Divides the words of a command line into the options of every command that this module has, and all other words.
    pub fn divide(words: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
        let known = Global::augment_args(clap::Command::new("nyssa"));
        // Python has its own for these.
        let known = known
            .get_arguments()
            .filter(|argument| !matches!(argument.get_id().as_str(), "json" | "quiet" | "threads"));
        let known: Vec<_> = known.collect();
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if text == "--" {
                others.push(word);
                break;
            }
            let (name, value) =
                text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
            let name = name.strip_prefix("--").map(|name| name.replace('_', "-"));
            let option = known.iter().find(|argument| argument.get_long() == name.as_deref());
            let Some(option) = option.filter(|_| name.is_some()) else {
                others.push(word);
                continue;
            };
            own.push(word);
            let takes_value =
                matches!(option.get_action(), ArgAction::Set) && !option.is_require_equals_set();
            if takes_value && value.is_none() {
                own.extend(words.next());
            }
        }
        others.extend(words);
        (own, others)
    }

    /// Begins what options of every command request.
    ///
    /// # Errors
    /// The message for options that are not allowed, with the exit code.
    pub fn start(options: Vec<OsString>) -> std::result::Result<Self, (String, u8)> {
        let started = || -> Result<Self> {
            let command = Global::augment_args(clap::Command::new("nyssa"));
            let program = std::iter::once(OsString::from("nyssa"));
            let matches = command.try_get_matches_from(program.chain(options));
            let global = matches.and_then(|matches| Global::from_arg_matches(&matches));
            let wrong = |error: clap::Error| Failure::Arguments(error.render().to_string());
            Ok(Self(Around::start(&global.map_err(wrong)?, true)?))
        };
        started().map_err(told)
    }

    /// Completes the files, and prints the counters.
    ///
    /// # Errors
    /// The message for a file that cannot be written, with the exit code.
    pub fn finish(self) -> std::result::Result<(), (String, u8)> {
        self.0.finish(&mut std::io::stderr()).map_err(told)
    }
}

fn told(failure: Failure) -> (String, u8) {
    let mut text = Vec::new();
    failure.print(&mut text);
    (String::from_utf8_lossy(&text).into_owned(), failure.exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_every_command_are_divided_from_the_others() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let (own, others) = AroundPython::divide(words(
            "--io-stats --json draw f.root --cache dir --cut x>1 --io-stats=s.json --allow-other-files x -- --record",
        ));
        assert_eq!(own, words("--io-stats --cache dir --io-stats=s.json --allow-other-files"));
        assert_eq!(others, words("--json draw f.root --cut x>1 x -- --record"));
    }
}
