//! Opens, writes and lists the resources of URLs of web servers.

use std::sync::Arc;

use super::options::HttpOptions;
use super::resource::Address;
use super::source::HttpSource;
use super::upload;
use super::web::Web;
use crate::protocol::Protocol;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Sink, Source, Staging};

/// The protocol of URLs of the schemes `http` and `https`, and of their names for WebDAV.
pub(crate) struct Http;

impl Protocol for Http {
    fn open(&self, url: &str, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let without_credentials = options.without_credentials;
        let mut web = Web::parse(url)?;
        web.without_credentials = without_credentials;
        let http = options.http.clone().map_or_else(HttpOptions::from_env, Ok);
        let http = http.map_err(|error| Error::new(web.name(), "open", error))?;
        let http = HttpOptions { without_credentials, ..http };
        Ok(Arc::new(HttpSource::open(Box::new(web), http, options)?))
    }

    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Sink>> {
        Ok(Box::new(upload::create(url, force)?))
    }

    fn stage(&self, url: &str, force: bool) -> Result<(Box<dyn Sink>, Staging)> {
        let (sink, staging) = upload::create(url, force)?.with_staging();
        Ok((Box::new(sink), staging))
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>> {
        let web = Web::parse(url)?;
        web.kind().map_err(|error| web.failed("find", error))
    }

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>> {
        let web = Web::parse(url)?;
        web.list().map_err(|error| web.failed("list the folder", error))
    }
}
