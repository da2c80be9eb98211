//! Chooses a cache, for one resource or for all that a process opens.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use nyssa_net::PerProcess;

use super::folder::{Cache, CacheOptions};
use super::record::Form;
use crate::warning::warn;
use crate::{Error, Result, parse_size};

/// The environment variable with the cache folder of a process.
const FOLDER: &str = "NYSSA_CACHE";
/// The environment variable with the limit of that folder.
const LIMIT: &str = "NYSSA_CACHE_SIZE";
/// The environment variable that says how pages and baskets are kept.
const FORM: &str = "NYSSA_CACHE_AS";
/// The environment variable with the age up to which the answers of a server about a file are used again.
const AGE: &str = "NYSSA_CACHE_MAX_AGE";
/// The longest such age in seconds: ten years.
const LONGEST_AGE: f64 = 10.0 * 365.0 * 86400.0;

/// The choice of a cache for the bytes of a remote resource.
#[derive(Clone, Debug, Default)]
pub enum CacheChoice {
    /// The cache of the process, if it has one.
    #[default]
    OfProcess,
    /// No cache.
    Off,
    /// This cache.
    In(Cache),
}

/// The cache of this process, once it is known. A child of `fork` takes the cache of the environment.
static PROCESS: PerProcess<Mutex<Option<CacheChoice>>> = PerProcess::new();

/// The folders of which this process has said that they cannot be used.
static WARNED: PerProcess<Mutex<BTreeSet<PathBuf>>> = PerProcess::new();

/// Sets the cache of this process for resources that are opened from now on. [`CacheChoice::OfProcess`] means
/// the cache that the environment names.
pub fn set_process_cache(choice: CacheChoice) {
    *PROCESS.lock() = match choice {
        CacheChoice::OfProcess => None,
        chosen => Some(chosen),
    };
}

impl CacheChoice {
    /// Returns the choice of the cache in a folder. A cache that cannot be used stops no job: a warning says why, once,
    /// and there is no cache.
    ///
    /// # Errors
    /// `InvalidInput` and `NotADirectory` for a folder that is no cache and cannot become one.
    pub fn of(folder: impl AsRef<Path>, options: CacheOptions) -> Result<Self> {
        let folder = folder.as_ref();
        match Cache::open(folder, options) {
            Ok(cache) => Ok(Self::In(cache)),
            Err(error)
                if matches!(
                    error.source.kind(),
                    ErrorKind::InvalidInput | ErrorKind::NotADirectory | ErrorKind::Unsupported
                ) =>
            {
                Err(error)
            }
            Err(error) => {
                if WARNED.lock().insert(folder.to_owned()) {
                    warn(&format!("nyssa goes on without a cache: {error}"));
                }
                Ok(Self::Off)
            }
        }
    }

    /// Returns the cache.
    ///
    /// # Errors
    /// The folder that the environment names cannot be made or is no cache ([`Cache::open`]); `InvalidInput` for other
    /// settings of the environment.
    pub fn cache(&self) -> Result<Option<Cache>> {
        match self {
            Self::Off => Ok(None),
            Self::In(cache) => Ok(Some(cache.clone())),
            Self::OfProcess => {
                let mut process = PROCESS.lock();
                let chosen = match process.as_ref() {
                    Some(chosen) => chosen,
                    None => process.insert(from_environment()?),
                };
                Ok(match chosen {
                    Self::In(cache) => Some(cache.clone()),
                    Self::OfProcess | Self::Off => None,
                })
            }
        }
    }
}

impl CacheOptions {
    /// Returns the options of the environment, and the defaults for the others.
    ///
    /// # Errors
    /// `InvalidInput` for settings that are not valid.
    pub fn from_env() -> io::Result<Self> {
        let mut options = Self::default();
        let invalid = |name: &str, why: String| {
            io::Error::new(
                ErrorKind::InvalidInput,
                format!("the environment variable {name}: {why}"),
            )
        };
        if let Some(size) = setting(LIMIT) {
            options.limit = parse_limit(&size).map_err(|why| invalid(LIMIT, why))?;
        }
        if let Some(form) = setting(FORM) {
            options.form = form.parse().map_err(|why| invalid(FORM, why))?;
        }
        if let Some(age) = setting(AGE) {
            options.max_age = parse_age(&age).map_err(|why| invalid(AGE, why))?;
        }
        Ok(options)
    }
}

/// Parses the limit of a cache: a size, or `none`.
///
/// # Errors
/// The reason, as text for the user.
pub fn parse_limit(text: &str) -> std::result::Result<Option<u64>, String> {
    if text.trim().eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    parse_size(text).map(Some).map_err(|why| format!("{why}, or write none for no limit"))
}

/// Parses the age up to which answers of a server are used again: seconds, or a text such as `10min`, `1h`, `2d`.
///
/// # Errors
/// A text for the user.
pub fn parse_age(text: &str) -> std::result::Result<Duration, String> {
    let wrong = || {
        format!(
            "{text:?} is not a time: write a number of seconds, or a number with a unit, such as \
             10min, 1h or 2d"
        )
    };
    let trimmed = text.trim();
    let is_unit = |c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E');
    let (number, unit) = trimmed.split_at(trimmed.find(is_unit).unwrap_or(trimmed.len()));
    let factor = match unit.trim() {
        "" | "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    match number * factor {
        seconds if (0.0..=LONGEST_AGE).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("{text:?} is not a time between 0 and ten years")),
    }
}

/// Returns the cache folder of the environment.
pub fn folder_of_environment() -> Option<PathBuf> {
    setting(FOLDER).map(PathBuf::from)
}

fn from_environment() -> Result<CacheChoice> {
    let Some(folder) = setting(FOLDER) else { return Ok(CacheChoice::Off) };
    let options = CacheOptions::from_env();
    let options = options.map_err(|error| Error::new(&folder, "use the cache folder", error))?;
    CacheChoice::of(folder, options)
}

fn setting(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

impl std::str::FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "stored" => Ok(Self::Stored),
            "raw" => Ok(Self::Raw),
            "lz4" => Ok(Self::Lz4),
            other => Err(format!("{other:?} is not stored, lz4 or raw")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_limits_are_words() {
        assert_eq!("lz4".parse(), Ok(Form::Lz4));
        assert_eq!("LZ4".parse::<Form>(), Err("\"LZ4\" is not stored, lz4 or raw".to_owned()));
        assert_eq!(parse_limit("20GB"), Ok(Some(20_000_000_000)));
        assert_eq!(parse_limit(" None"), Ok(None));
        assert_eq!(parse_age("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_age(" 1.5 h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_age("2d"), parse_age("48h"));
        assert_eq!(parse_age("10min"), parse_age("6e2s"));
        assert_eq!(parse_age("0"), Ok(Duration::ZERO));
        let why = "\"1 year\" is not a time: write a number of seconds, or a number with a unit, \
                   such as 10min, 1h or 2d";
        assert_eq!(parse_age("1 year"), Err(why.to_owned()));
        for text in ["", "h", "-1", "nan", "inf", "5m", "9999d", "1e99"] {
            assert!(parse_age(text).is_err(), "{text}");
        }
        let why = "\"much\" is not a size: write a number of bytes, or a number with a unit, such \
                   as 128MB or 64MiB, or write none for no limit";
        assert_eq!(parse_limit("much"), Err(why.to_owned()));
    }
}
