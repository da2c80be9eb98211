//! Option strings: `compression=zstd:5; cluster_size=50MB`, or an object of JSON.

use clap::{ArgAction, Args, Command};
use nyssa_data::dataset::ColumnInfo;
use nyssa_data::view::evolve::{Aliases, EvolutionOptions, Missing};
use nyssa_data::view::{ChainOptions, ChainSchema};
use nyssa_io::OpenOptions;
use nyssa_io::cache::CacheChoice;
use nyssa_jobs::job::words;
use nyssa_jobs::open::GivenOpenOptions;
use nyssa_rntuple::schema::FieldType;
use nyssa_root::definitions::Definitions;
use nyssa_root::error::ResultExt;
use nyssa_root::{Context, Error, Result};
use serde_json::Value;

use crate::pairs::Pairs;

/// The options of a call, as the caller gave them: names and values, in order. Only the name of a list may come again.
pub(crate) struct Given(Vec<(String, String)>);

impl Given {
    /// Parses an option string.
    ///
    /// # Errors
    /// `InvalidArgument` for JSON that is wrong or has values that are no texts, numbers or booleans, and for pairs
    /// without an equals sign.
    pub fn parse(text: &str) -> Result<Self> {
        if text.trim_start().starts_with('{') {
            return Self::of_json(text);
        }
        let pairs = text.split([';', '\n']).map(str::trim).filter(|pair| !pair.is_empty());
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) => Ok((plain(name.trim()), value.trim().to_owned())),
            None => Err(Error::invalid_argument(format!(
                "the option {pair:?} has no value: write name=value; name=value, or an object of JSON"
            ))),
        };
        pairs.map(pair).collect::<Result<_>>().map(Self)
    }

    fn of_json(text: &str) -> Result<Self> {
        let wrong = |error| Error::invalid_argument("the options are no JSON").with_source(error);
        let members: Pairs<Value> = serde_json::from_str(text).map_err(wrong)?;
        let mut given = Vec::new();
        for (name, value) in members.0 {
            let values = match value {
                Value::Array(values) => values,
                Value::Null => continue,
                value => vec![value],
            };
            for value in values {
                let text = match value {
                    Value::String(text) => text,
                    Value::Bool(_) | Value::Number(_) => value.to_string(),
                    _ => {
                        return Err(Error::invalid_argument(format!(
                            "the option {name:?} is no text, number or boolean"
                        )));
                    }
                };
                given.push((plain(&name), text));
            }
        }
        Ok(Self(given))
    }

    /// Takes the value of an option out.
    ///
    /// # Errors
    /// `InvalidArgument` for an option that is given more than once.
    pub fn take(&mut self, name: &str) -> Result<Option<String>> {
        self.check_once(name)?;
        let at = self.0.iter().position(|(given, _)| given == name);
        Ok(at.map(|at| self.0.remove(at).1))
    }

    /// Checks that an option, which has one value, is given once at most.
    fn check_once(&self, name: &str) -> Result<()> {
        match self.0.iter().filter(|(given, _)| given == name).count() {
            0 | 1 => Ok(()),
            count => Err(Error::invalid_argument(format!(
                "the option {name} is given {count} times, and has one value"
            ))),
        }
    }

    /// Returns whether there is no option.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a boolean out; it is false if it is not given.
    ///
    /// # Errors
    /// `InvalidArgument` for another value than `true` and `false`, and for an option that is given more than once.
    pub fn take_flag(&mut self, name: &str) -> Result<bool> {
        self.take(name)?.map_or(Ok(false), |value| flag(name, &value))
    }

    /// Returns the options `T`, by their declaration.
    ///
    /// # Errors
    /// `InvalidArgument` with the first option that is unknown, has a wrong value, or has one value and is given more than
    /// once.
    pub fn of<T: Args>(self) -> Result<T> {
        let command = T::augment_args(Command::new("nyssa"));
        let action = |name: &str| {
            let named = |argument: &&clap::Arg| argument.get_long() == Some(name);
            command.get_arguments().find(named).map(clap::Arg::get_action)
        };
        let mut all = Vec::new();
        for (name, value) in &self.0 {
            let long = name.replace('_', "-");
            let action = action(&long);
            if !matches!(action, None | Some(ArgAction::Append)) {
                self.check_once(name)?;
            }
            match action {
                Some(ArgAction::SetTrue) => {
                    all.extend(flag(name, value)?.then(|| format!("--{long}")));
                }
                _ => all.push(format!("--{long}={value}")),
            }
        }
        if let Some(unknown) = words::unknown::<T>(&all).first() {
            let known = command.get_arguments().filter_map(clap::Arg::get_long);
            let known: Vec<String> = known.map(|name| name.replace('-', "_")).collect();
            return Err(Error::invalid_argument(format!("there is no option {unknown:?} here"))
                .suggest(unknown, known.iter().map(String::as_str)));
        }
        words::parse(&all)
    }
}

/// Returns the name of an option, in which `-` and `_` mean the same.
fn plain(name: &str) -> String {
    name.replace('-', "_")
}

fn flag(name: &str, value: &str) -> Result<bool> {
    value.parse().map_err(|_| {
        Error::invalid_argument(format!("the option {name} is true or false, not {value:?}"))
    })
}

/// The options of opening a dataset.
#[derive(Args)]
pub(crate) struct OpenArguments {
    #[command(flatten)]
    open: GivenOpenOptions,
    /// Strings as `utf8` or as `bytes`.
    #[arg(long, default_value = "utf8")]
    strings: String,
}

impl OpenArguments {
    /// Returns the options of opening files, and whether strings are bytes.
    ///
    /// # Errors
    /// `InvalidArgument` with the option that is wrong.
    pub fn options(self, context: &Context) -> Result<(OpenOptions, bool)> {
        let mut given = self.open;
        let is_off = given.cache.take_if(|folder| folder == "none").is_some();
        let mut options = given.options()?.with_stop(context.stop());
        if is_off {
            options.cache = CacheChoice::Off;
        }
        match self.strings.as_str() {
            "utf8" => Ok((options, false)),
            "bytes" => Ok((options, true)),
            other => {
                Err(Error::invalid_argument(format!("strings={other:?} is not utf8 or bytes")))
            }
        }
    }
}

/// The options of opening several datasets as one.
#[derive(Args)]
pub(crate) struct ChainArguments {
    #[command(flatten)]
    open: OpenArguments,
    /// `first`, `union`, `intersection`, or columns with their C++ types.
    #[arg(long)]
    schema: Vec<String>,
    /// What a column is where a file lacks it.
    #[arg(long)]
    missing: Option<Missing>,
    /// Whether types may become narrower.
    #[arg(long)]
    narrowing: bool,
    /// New names of columns, and old names.
    #[arg(long, value_parser = words::pair)]
    aliases: Vec<(String, String)>,
}

impl ChainArguments {
    /// Returns the options of opening files, whether strings are bytes, and how the files become one dataset.
    ///
    /// # Errors
    /// `InvalidArgument` with the option that is wrong.
    pub fn options(self, context: &Context) -> Result<(OpenOptions, bool, ChainOptions)> {
        let (options, raw) = self.open.options(context)?;
        let target = target(&self.schema)?;
        let missing = self.missing.unwrap_or(target.missing());
        let names = self.aliases.iter().map(|(new, old)| (new.as_str(), old.as_str()));
        let evolution = EvolutionOptions { missing, narrowing: self.narrowing };
        Ok((options, raw, ChainOptions { target, aliases: Aliases::new(names)?, evolution }))
    }
}

/// Returns the columns that a chain should have.
fn target(given: &[String]) -> Result<ChainSchema> {
    let column = |text: &String| {
        let (name, type_name) = words::pair(text)?;
        let field = FieldType::parse(&type_name, &Definitions::default()).in_field(&name)?;
        let field = Ok(field.to_arrow(&name)?);
        Ok(ColumnInfo { name, type_name, field })
    };
    match given {
        [] => Ok(ChainSchema::First),
        [word] if !word.contains('=') => ChainSchema::named(word),
        columns => Ok(ChainSchema::Stated(columns.iter().map(column).collect::<Result<_>>()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyssa_jobs::convert::ToRNTuple;

    #[test]
    fn pairs_and_json_mean_the_same() {
        for text in
            ["force=true; page-size = 4KiB\nverify=false", r#"{"force": true, "page_size": 4096}"#]
        {
            let options: ToRNTuple = Given::parse(text).unwrap().of().unwrap();
            assert!(options.output.force && !options.output.verify, "{text}");
            assert_eq!(options.storage.page_size, Some(4096), "{text}");
        }
    }

    #[test]
    fn a_list_may_come_again() {
        let options: ToRNTuple = Given::parse("include=a; include=b").unwrap().of().unwrap();
        assert_eq!(options.input.include, ["a", "b"]);
    }

    #[test]
    fn wrong_options_say_what_is_wrong() {
        let wrong = |text: &str| {
            Given::parse(text).and_then(Given::of::<ToRNTuple>).unwrap_err().to_string()
        };
        assert!(wrong("pag_size=1").contains("page_size"));
        assert!(wrong("force=perhaps").contains("true or false"));
        assert!(wrong("force").contains("has no value"));
        assert!(wrong("{\"force\": {}}").contains("no text, number or boolean"));
        assert!(wrong("{").contains("no JSON"));
        assert!(wrong("page_size=tiny").contains("tiny"));
        for twice in ["page_size=4096; page-size=4096", "verify=false; verify=true"] {
            assert!(wrong(twice).contains("is given 2 times, and has one value"), "{twice}");
        }
        assert!(wrong(r#"{"page_size": 4096, "page_size": 1}"#).contains("page_size is given 2"));
        let mut given = Given::parse(r#"{"format": "ttree", "format": "rntuple"}"#).unwrap();
        assert!(given.take("format").unwrap_err().to_string().contains("format is given 2 times"));
    }
}
