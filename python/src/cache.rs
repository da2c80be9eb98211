//! Reads the options of opening files, which come from Python.

use nyssa_io::OpenOptions;
use nyssa_io::cache::CacheChoice;
use nyssa_jobs::open::GivenOpenOptions;

/// The cache of some files: its folder (`None` for no cache), form, limit, and the age up to which servers are
/// not asked. `None` for one of the last three means the value of the environment. `None` for the whole means
/// the cache of the environment.
pub(crate) type GivenCache =
    Option<(Option<String>, Option<String>, Option<String>, Option<String>)>;

/// Returns the options for opening files with a cache. `allow_other_files` says whether files may name others.
pub(crate) fn open_options(
    given: GivenCache,
    allow_other_files: Option<bool>,
) -> nyssa_root::Result<OpenOptions> {
    let is_off = matches!(given, Some((None, ..)));
    let (cache, cache_as, cache_size, cache_max_age) = given.unwrap_or_default();
    let options =
        GivenOpenOptions { cache, cache_size, cache_as, cache_max_age, allow_other_files };
    let mut options = options.options()?;
    if is_off {
        options.cache = CacheChoice::Off;
    }
    Ok(options)
}
