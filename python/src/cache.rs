//! Reads the options of opening files, which come from Python.

use nyssa_io::OpenOptions;
use nyssa_io::cache::{CacheChoice, CacheOptions, parse_age, parse_limit};
use nyssa_root::Error;

/// The cache of some files: its folder (`None` for no cache), form, limit, and the age up to which servers are
/// not asked. `None` for one of the last three means the value of the environment. `None` for the whole means
/// the cache of the environment.
pub type GivenCache = Option<(Option<String>, Option<String>, Option<String>, Option<String>)>;

/// Returns the options for opening files with a cache. `allow_other_files` says whether files may name others.
pub fn open_options(
    given: GivenCache,
    allow_other_files: Option<bool>,
) -> nyssa_root::Result<OpenOptions> {
    let mut options = OpenOptions::default();
    options.allow_other_files = allow_other_files;
    options.cache = match given {
        None => CacheChoice::OfProcess,
        Some((None, ..)) => CacheChoice::Off,
        Some((Some(folder), form, limit, age)) => {
            let mut cache = CacheOptions::from_env().map_err(|error| {
                nyssa_io::Error::new(folder.as_str(), "use the cache folder", error)
            })?;
            if let Some(form) = form {
                cache.form = form.parse().map_err(Error::invalid_argument)?;
            }
            if let Some(limit) = limit {
                cache.limit = parse_limit(&limit)
                    .map_err(|why| Error::invalid_argument(format!("cache_size: {why}")))?;
            }
            if let Some(age) = age {
                cache.max_age = parse_age(&age)
                    .map_err(|why| Error::invalid_argument(format!("cache_max_age: {why}")))?;
            }
            CacheChoice::of(folder, cache)?
        }
    };
    Ok(options)
}
