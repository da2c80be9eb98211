//! Declares the options of opening files that callers give as texts.

use nyssa_io::OpenOptions;
use nyssa_io::cache::{CacheChoice, CacheOptions, Form, parse_age, parse_limit};
use nyssa_root::error::{Error, Result};

/// The options of opening files. An option that is `None` has the value of the environment.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct GivenOpenOptions {
    /// Folder in which what is read of remote files is kept.
    #[cfg_attr(feature = "cli", arg(long))]
    pub cache: Option<String>,
    /// Largest size of the cache, or none for no limit.
    #[cfg_attr(feature = "cli", arg(long, requires = "cache"))]
    pub cache_size: Option<String>,
    /// Form in which the cache keeps pages and baskets: stored, lz4 or raw.
    #[cfg_attr(feature = "cli", arg(long, requires = "cache"))]
    pub cache_as: Option<String>,
    /// Time for which servers are not asked whether their files have changed.
    #[cfg_attr(feature = "cli", arg(long, requires = "cache"))]
    pub cache_max_age: Option<String>,
    /// Whether files may name other files anywhere.
    #[cfg_attr(feature = "cli", arg(long))]
    pub allow_other_files: Option<bool>,
}

impl GivenOpenOptions {
    /// Returns the options for opening files.
    ///
    /// # Errors
    /// `InvalidArgument` with the option that is wrong; an error if the folder of the cache cannot be used.
    pub fn options(self) -> Result<OpenOptions> {
        let mut options = OpenOptions::default();
        options.allow_other_files = self.allow_other_files;
        let Some(folder) = self.cache else { return Ok(options) };
        let mut cache = CacheOptions::from_env().map_err(|error| {
            nyssa_io::Error::new(folder.as_str(), "use the cache folder", error)
        })?;
        if let Some(form) = self.cache_as {
            cache.form = form.parse::<Form>().map_err(Error::invalid_argument)?;
        }
        if let Some(limit) = self.cache_size {
            let wrong = |why| Error::invalid_argument(format!("cache_size: {why}"));
            cache.limit = parse_limit(&limit).map_err(wrong)?;
        }
        if let Some(age) = self.cache_max_age {
            let wrong = |why| Error::invalid_argument(format!("cache_max_age: {why}"));
            cache.max_age = parse_age(&age).map_err(wrong)?;
        }
        options.cache = CacheChoice::of(folder, cache)?;
        Ok(options)
    }
}
