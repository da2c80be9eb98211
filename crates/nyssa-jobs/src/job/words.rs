//! Parses the options of jobs from words such as `--page-size=4096`. They are words of the command line, so that one
//! declaration serves all faces: Python makes the words of keywords, and C of an option string.

use clap::{Args, Command};
use nyssa_root::error::{Error, Result};

/// Parses words as options `T`.
///
/// # Errors
/// `InvalidArgument` with the reason of the first word that is not allowed.
pub fn parse<T: Args>(words: &[String]) -> Result<T> {
    let command = T::augment_args(Command::new("nyssa").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    matches.and_then(|matches| T::from_arg_matches(&matches)).map_err(|error| refusal(&error))
}

/// Returns the names in words that options `T` do not have.
pub fn unknown<T: Args>(words: &[String]) -> Vec<String> {
    let command = T::augment_args(Command::new("nyssa"));
    let known: Vec<&str> =
        command.get_arguments().filter_map(|argument| argument.get_long()).collect();
    let name = |word: &String| {
        let name = word.trim_start_matches("--").split('=').next().unwrap_or_default();
        (!known.contains(&name)).then(|| name.replace('-', "_"))
    };
    let mut unknown: Vec<String> = words.iter().filter_map(name).collect();
    unknown.dedup();
    unknown
}

/// Parses a name and a text: `pt2=pt*pt`.
///
/// # Errors
/// `InvalidArgument` for a text without a name.
pub fn pair(text: &str) -> Result<(String, String)> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let wrong = || Error::invalid_argument(format!("{text:?} is not NAME=TEXT"));
    let (name, value) = pair.ok_or_else(wrong)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns the reason why a word is refused: the error of its value, as the core gives it.
fn refusal(error: &clap::Error) -> Error {
    let source = std::error::Error::source(error);
    match source.and_then(|source| source.downcast_ref::<Error>()) {
        Some(error) => Error::new(error.kind(), error.to_string()),
        None => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Error::invalid_argument(first.trim_start_matches("error: "))
        }
    }
}
