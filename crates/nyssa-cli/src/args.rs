//! Declares the arguments of the command line.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use nyssa_jobs::convert::{ToRNTuple, ToTTree};

use crate::app::Global;
use crate::cmd::{Command, convert};

/// Read, check and convert CERN's TTree and RNTuple data, without ROOT.
#[derive(Debug, Parser)]
#[command(name = "nyssa", version, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "DATA is FILE or FILE:PATH, such as run3.root:dir/Events or run3.root:Events;2. \
    The path may be left out when the file has one dataset.\n\
    \nExamples:\n  \
      nyssa ls run3.root\n  \
      nyssa convert run3.root:Events out.root --verify\n  \
      nyssa cat out.root -n 3 --filter 'Muon_*'"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Parses the command line. After `--to ttree`, `convert` has the options of that direction.
    ///
    /// # Errors
    /// Returns the message for arguments that are not allowed, and the help and the version if they are requested.
    pub(crate) fn of_words(words: &[OsString]) -> Result<Self, clap::Error> {
        let is_to_ttree = is_to_ttree(words);
        let mut command = match is_to_ttree {
            true => Self::command().mut_subcommand("convert", |_| convert::command_to_ttree()),
            false => Self::command(),
        };
        let matches = command.try_get_matches_from_mut(words);
        let matches = matches.map_err(|error| with_direction(error, &mut command, is_to_ttree))?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Returns whether an option says `--to ttree`.
fn is_to_ttree(words: &[OsString]) -> bool {
    let options = words.split(|word| word == "--").next().unwrap_or_default();
    options.iter().any(|word| word == "--to=ttree")
        || options.windows(2).any(|pair| pair[0] == "--to" && pair[1] == "ttree")
}

/// Names the direction of a conversion to which an unknown option belongs.
fn with_direction(
    mut error: clap::Error,
    command: &mut clap::Command,
    is_to_ttree: bool,
) -> clap::Error {
    let none = clap::Command::new("");
    let (other, name) = match is_to_ttree {
        true => (ToRNTuple::augment_args(none), "rntuple"),
        false => (ToTTree::augment_args(none), "ttree"),
    };
    let of_convert = |usage: &ContextValue| usage.to_string().contains(" convert ");
    if error.kind() != ErrorKind::UnknownArgument
        || !error.get(ContextKind::Usage).is_some_and(of_convert)
    {
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let given = given.trim_start_matches("--").replace('_', "-");
    if other.get_arguments().any(|argument| argument.get_long() == Some(&given)) {
        let hint = format!("'--{given}' is an option of `nyssa convert --to {name}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
        error.remove(ContextKind::SuggestedArg);
        if let Some(convert) = command.find_subcommand_mut("convert") {
            // The usage names the option that is suggested.
            error.insert(ContextKind::Usage, ContextValue::StyledStr(convert.render_usage()));
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::convert::ChosenDirection;

    fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Cli::of_words(&words)
    }

    /// Returns whether the words convert to a TTree.
    fn is_ttree(words: &[&str]) -> bool {
        match parse(words).unwrap().command {
            Command::Convert(convert) => matches!(convert.direction, ChosenDirection::TTree(_)),
            other => panic!("{other:?} is no conversion"),
        }
    }

    #[test]
    fn the_direction_has_its_options() {
        assert!(!is_ttree(&["nyssa", "convert", "a", "b", "--layout", "vectors"]));
        assert!(!is_ttree(&["nyssa", "convert", "a", "b", "--to", "rntuple", "--page-size=64"]));
        assert!(is_ttree(&["nyssa", "convert", "a", "b", "--to", "ttree", "--auto-flush", "-5"]));
        assert!(is_ttree(&["nyssa", "convert", "--to=ttree", "--counters", "x:n", "a", "b"]));
        // These words are values.
        assert!(!is_ttree(&["nyssa", "--record", "convert", "convert", "--", "--to", "ttree"]));
    }

    #[test]
    fn an_option_of_the_other_direction_is_named_with_it() {
        for (words, hint) in [
            (
                ["--to=rntuple", "--auto-flush=5"],
                "'--auto-flush' is an option of `nyssa convert --to ttree`",
            ),
            (
                ["--to=ttree", "--page_size=64"],
                "'--page-size' is an option of `nyssa convert --to rntuple`",
            ),
        ] {
            let error = parse(&["nyssa", "convert", "a", "b", words[0], words[1]]).unwrap_err();
            assert!(error.to_string().contains(hint), "{error}");
            assert!(error.to_string().contains("\nUsage: nyssa convert [OPTIONS] "), "{error}");
        }
        let error = parse(&["nyssa", "ls", "a", "--page-size=64"]).unwrap_err();
        assert!(!error.to_string().contains("is an option of"), "{error}");
    }

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
        convert::command_to_ttree().debug_assert();
    }
}
