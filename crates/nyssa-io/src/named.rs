//! Decides which files a file may name. Trees name the files of their branches and friends. The author of the file has
//! chosen these names, so they may lead to fewer places than the names that a user states.
//!
//! | the file is | it may name |
//! |---|---|
//! | a local file | the local files in its folder and below |
//! | at a URL | what has the same scheme, host and port |
//! | a file object | nothing |
//!
//! [`OpenOptions::allow_other_files`] allows more: every local file to a local file, and other servers to all. These
//! get no credentials. No file that is not local may name a local one.

use std::env;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::built_in::{built_in, usual_port};
use crate::for_people::shown;
use crate::location::{beside, is_web, local, scheme};
use crate::{Error, OpenOptions, Result, Source, is_remote, open_with};

/// The environment variable that allows files to name other files anywhere, if it is 1.
const VARIABLE: &str = "NYSSA_ALLOW_OTHER_FILES";
/// The advice for what the option would allow.
const ADVICE: &str = "if you trust it, use the option allow_other_files (--allow-other-files)";

/// How often the process allows other files at present.
static ALLOWED: AtomicUsize = AtomicUsize::new(0);

/// Allows files to name other files anywhere in this process, as long as this value exists. Options that say otherwise
/// come first.
#[derive(Debug)]
pub struct OtherFilesAllowed(());

impl OtherFilesAllowed {
    /// Begins to allow it.
    pub fn for_process() -> Self {
        ALLOWED.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for OtherFilesAllowed {
    fn drop(&mut self) {
        ALLOWED.fetch_sub(1, Ordering::Relaxed);
    }
}

fn allowed_in_process() -> bool {
    let by_environment = || env::var(VARIABLE).is_ok_and(|value| value.trim() == "1");
    ALLOWED.load(Ordering::Relaxed) > 0 || by_environment()
}

/// A file that another file may name. It is not open yet.
#[derive(Clone, Debug)]
pub struct NamedFile {
    location: PathBuf,
    options: OpenOptions,
}

impl NamedFile {
    /// Decides whether the file `from` may name the file `name`. A relative name starts from the folder of `from`. No
    /// server is contacted. The path of a local file is resolved, with all links.
    ///
    /// # Errors
    /// `PermissionDenied` if `from` may not name it; an error of the system for a local file that does not exist.
    pub fn of(from: &dyn Source, name: &str) -> Result<Self> {
        let options = from.options().cloned().unwrap_or_default();
        let allows = options.allow_other_files.unwrap_or_else(allowed_in_process);
        let refused = |why: String| {
            Err(Error::new(shown(name), "open", io::Error::new(ErrorKind::PermissionDenied, why)))
        };
        if name.contains(char::REPLACEMENT_CHARACTER) {
            return refused("its name is not UTF-8".to_owned());
        }
        let Some(own) = from.origin() else {
            return refused("a file object may not name other files".to_owned());
        };
        let own = &*own.to_string_lossy();
        let location = beside(own, name);
        let url = location.to_str().filter(|_| is_remote(&location));
        let Some(url) = url else {
            if is_remote(own) {
                return refused(
                    "a file on a server may not name a file of this machine".to_owned(),
                );
            }
            let location = resolved(&location)?;
            if !allows && !is_inside(&location, own) {
                let why = "a file may only name files in its own folder and below";
                return refused(format!("{why}; {ADVICE}"));
            }
            return Ok(Self { location, options });
        };
        let is_changed = |c: char| c.is_control() || c == '\\';
        if is_web(name) && name.contains(is_changed) {
            return refused("no URL has these characters: it would name another file".to_owned());
        }
        if is_remote(own) && is_same_origin(own, url) {
            return Ok(Self { location, options });
        }
        if !allows {
            let why = "a file may not name a file on another server";
            return refused(format!("{why}; {ADVICE}"));
        }
        let (scheme, _) = scheme(url).unwrap_or_default();
        if built_in(scheme).is_none() {
            return refused(format!("nyssa cannot read {scheme}:// URLs without credentials"));
        }
        Ok(Self { location, options: options.without_credentials() })
    }

    /// Returns the URL, or the path without links and without `..`.
    pub fn location(&self) -> &Path {
        &self.location
    }

    /// Opens the file by the options of the file that names it.
    ///
    /// # Errors
    /// `NotFound` and other failures of the system or of the server; `Unsupported` for a scheme that this build does
    /// not know.
    pub fn open(&self) -> Result<Arc<dyn Source>> {
        open_with(&self.location, &self.options)
    }
}

/// Returns a local file without links and without `..`.
fn resolved(location: &Path) -> Result<PathBuf> {
    let path = local(location, "open")?;
    path.canonicalize().map_err(|error| Error::new(path.display().to_string(), "open", error))
}

/// Returns whether a resolved path is in the folder of the local file `own`, as it is named or after its links, or below.
fn is_inside(path: &Path, own: &str) -> bool {
    let Ok(own) = local(own.as_ref(), "open") else { return false };
    let named = own.parent().map(|folder| match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    });
    let named = named.and_then(|folder| folder.canonicalize().ok());
    let real = own.canonicalize().ok().and_then(|own| Some(own.parent()?.to_owned()));
    [named, real].into_iter().flatten().any(|folder| path.starts_with(folder))
}

/// Returns whether two URLs have the same scheme, host and port, as they are written. URLs of equal text up to the path
/// are equal for every parser. The usual port of a scheme may be left out. A proxy of XRootD has the URL of the origin in
/// its path, which must be the same, too.
fn is_same_origin(a: &str, b: &str) -> bool {
    let (Some(a), Some(b)) = (scheme(a), scheme(b)) else { return false };
    let (a_place, b_place) = (place(a.1), place(b.1));
    let inner = |path: &'_ str| -> Option<String> {
        let path = path.trim_start_matches('/');
        scheme(path).map(|_| path.to_owned())
    };
    a.0.eq_ignore_ascii_case(b.0)
        && is_host(a_place.0)
        && hosts(a.0, a_place.0).eq(hosts(b.0, b_place.0))
        && match (inner(a_place.1), inner(b_place.1)) {
            (None, None) => true,
            (Some(a), Some(b)) => is_same_origin(&a, &b),
            _ => false,
        }
}

/// Returns whether every parser of URLs finds this host. Some parsers leave out control characters, and find another
/// host.
fn is_host(place: &str) -> bool {
    !place.is_empty() && !place.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\')
}

/// Returns the hosts of a URL with their ports. XRootD may have several, with commas between them.
fn hosts(scheme: &str, place: &str) -> impl Iterator<Item = String> {
    let usual = usual_port(scheme).map(|port| format!(":{port}")).unwrap_or_default();
    let bare = move |host: &str| match host.strip_suffix(&*usual) {
        // The other colons belong to an IPv6 address, which has brackets before a port.
        Some(bare) if bare.ends_with(']') || !bare.contains(':') => bare.to_ascii_lowercase(),
        _ => host.to_ascii_lowercase(),
    };
    let place = place.to_owned();
    place.split(',').map(bare).collect::<Vec<_>>().into_iter()
}

/// Splits the rest of a URL into its host with the port, and its path. A plain user before the host is left out.
fn place(rest: &str) -> (&str, &str) {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:%".contains(c);
    match host.split_once('@') {
        Some((user, host)) if user.chars().all(plain) => (host, path),
        _ => (host, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySource;

    fn of(own: &str, name: &str) -> std::result::Result<PathBuf, ErrorKind> {
        let file = NamedFile::of(&MemorySource::new(own, ""), name);
        file.map(|file| file.location).map_err(|error| error.source.kind())
    }

    #[test]
    fn a_file_at_a_url_names_files_of_its_server() {
        let denied = Err(ErrorKind::PermissionDenied);
        // Some parsers of URLs find the host `x` in the first one, and `f` in the second one.
        assert_eq!(of("https://\r/x", "f//a.root"), denied);
        assert_eq!(of("https:///x", "f//a.root"), denied);
        let at = |url: &str| Ok(PathBuf::from(url));
        for (own, name, expected) in [
            ("https://h/d/a.root", "b.root", at("https://h/d/b.root")),
            ("https://h/d/a.root?sig=x/y", "sub/b.root", at("https://h/d/sub/b.root")),
            ("https://h/d/a.root", "https://H/b.root", at("https://H/b.root")),
            ("https://h/d/a.root", "s\\..\\b.root", at("https://h/d/s%5C..%5Cb.root")),
            ("https://h/d/a.root", "https://h/d/s\\..\\b.root", denied.clone()),
            ("https://h/d/a.root", "https://h/d/b\t.root", denied.clone()),
            ("https://h/d/a.root", "\u{fffd}.root", denied.clone()),
            ("root://h:1//d/a.root", "b.root", at("root://h:1//d/b.root")),
            ("root://me@h//a.root", "root://h//b.root", at("root://h//b.root")),
            ("root://h/a.root", "b.root", at("root://h/b.root")),
            ("root://p//root://o//a", "root://p//root://o//b", at("root://p//root://o//b")),
            ("s3://bucket/a.root", "s3://bucket/b.root", at("s3://bucket/b.root")),
            // The usual port of the scheme.
            ("https://h/d/a.root", "https://h:443/b.root", at("https://h:443/b.root")),
            ("davs://H:443/a.root", "davs://h/b.root", at("davs://h/b.root")),
            ("http://h:80/a.root", "http://h/b.root", at("http://h/b.root")),
            ("https://[::1]/a.root", "https://[::1]:443/b.root", at("https://[::1]:443/b.root")),
            ("root://h//a.root", "root://h:1094//b.root", at("root://h:1094//b.root")),
            ("root://h,g:1094//a", "root://h:1094,g//b", at("root://h:1094,g//b")),
            (
                "root://p:1094//root://o//a",
                "root://p//root://o:1094//b",
                at("root://p//root://o:1094//b"),
            ),
            ("https://h:80/a.root", "https://h/b.root", denied.clone()),
            ("http://h:443/a.root", "http://h/b.root", denied.clone()),
            ("root://h:443//a.root", "root://h//b.root", denied.clone()),
            ("s3://bucket:443/a.root", "s3://bucket/b.root", denied.clone()),
            ("https://[::443]/a.root", "https://[:]/b.root", denied.clone()),
            ("https://a::443/a.root", "https://a:/b.root", denied.clone()),
            ("root://h,g//a.root", "root://h//b.root", denied.clone()),
            // Another host, port or scheme.
            ("https://h/d/a.root", "https://g/b.root", denied.clone()),
            ("https://h/d/a.root", "https://h:8443/b.root", denied.clone()),
            ("https://h/d/a.root", "http://h/d/b.root", denied.clone()),
            ("root://p//root://o//a", "root://p//root://x//b", denied.clone()),
            ("root://p//a.root", "root://p//root://x//b", denied.clone()),
            ("s3://bucket/a.root", "s3://other/b.root", denied.clone()),
            // Texts that some programs read as another host.
            ("https://h/d/a.root", "https://h@g/b.root", denied.clone()),
            ("https://h/d/a.root", "https://g?@h/b.root", denied.clone()),
            ("https://h/d/a.root", "https://g\\@h/b.root", denied.clone()),
            ("https://h/d/a.root", "https://g#@h/b.root", denied.clone()),
            ("https://h/d/a.root", "https://x@g@h/b.root", denied.clone()),
            ("test://h", "g/b.root", denied.clone()),
            // Files of this machine.
            ("https://h/d/a.root", "/etc/passwd", denied.clone()),
            ("https://h/d/a.root", "file:/etc/passwd", denied.clone()),
            ("https://h/d/a.root", "file:///etc/passwd", denied.clone()),
            ("https://h/d/a.root", "FILE://localhost/etc/passwd", denied.clone()),
            ("https://h/d/a.root", "local:///etc/passwd", denied.clone()),
            ("root://h//d/a.root", "/etc/passwd", denied),
        ] {
            assert_eq!(of(own, name), expected, "{own} names {name}");
        }
    }

    #[test]
    fn a_local_file_names_files_in_its_folder_and_below() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        for name in ["own/a.root", "own/b.root", "own/sub/c.root", "other/d.root"] {
            std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.join(name), "").unwrap();
        }
        let own = folder.join("own/a.root").display().to_string();
        let (missing, denied) = (Err(ErrorKind::NotFound), Err(ErrorKind::PermissionDenied));
        let d = folder.join("other/d.root").display().to_string();
        for (name, expected) in [
            ("b.root", Ok(folder.join("own/b.root"))),
            ("sub/../b.root", Ok(folder.join("own/b.root"))),
            ("file:sub/c.root", Ok(folder.join("own/sub/c.root"))),
            (&own, Ok(folder.join("own/a.root"))),
            (&format!("file://{own}"), Ok(folder.join("own/a.root"))),
            ("e.root", missing.clone()),
            ("../other/e.root", missing),
            ("../other/d.root", denied.clone()),
            ("https://h/b.root", denied.clone()),
            (&d, denied.clone()),
            (&format!("file://{d}"), denied.clone()),
        ] {
            assert_eq!(of(&own, name), expected, "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.join("other"), folder.join("own/link")).unwrap();
            assert_eq!(of(&own, "link/d.root"), denied);
            // The folder of a link to the file, and the folder of the file.
            let link = folder.join("other/a.root");
            std::os::unix::fs::symlink(&own, &link).unwrap();
            let link = link.display().to_string();
            assert_eq!(of(&link, "d.root"), Ok(folder.join("other/d.root")));
            let b = folder.join("own/b.root");
            assert_eq!(of(&link, &b.display().to_string()), Ok(b));
        }
    }

    /// A source with options, at a place or at none.
    struct With(Option<&'static str>, OpenOptions);

    impl Source for With {
        fn name(&self) -> &str {
            "with"
        }
        fn origin(&self) -> Option<&Path> {
            self.0.map(Path::new)
        }
        fn size(&self) -> u64 {
            0
        }
        fn limits(&self) -> crate::Limits {
            crate::Limits::NONE
        }
        fn read_ranges(&self, _: &[std::ops::Range<u64>]) -> Result<Vec<bytes::Bytes>> {
            Ok(Vec::new())
        }
        fn options(&self) -> Option<&OpenOptions> {
            Some(&self.1)
        }
    }

    #[test]
    fn the_option_allows_other_servers_without_credentials_and_other_folders() {
        let allowing = OpenOptions { allow_other_files: Some(true), ..OpenOptions::default() };
        let of = |own, name| NamedFile::of(&With(own, allowing.clone()), name);
        let is_bare = |own, name| of(own, name).unwrap().options.without_credentials;
        assert!(is_bare(Some("https://h/a.root"), "root://g//b.root"));
        assert!(is_bare(Some("a.root"), "https://g/b.root"));
        assert!(!is_bare(Some("https://h/a.root"), "https://h/b.root"));
        assert!(!is_bare(Some("a.root"), env!("CARGO_MANIFEST_DIR")));
        for (own, name) in [
            (Some("https://h/a.root"), "/etc/passwd"),
            (Some("https://h/a.root"), "file:///etc/passwd"),
            (Some("https://h/a.root"), "gs://bucket/a.root"),
            (None, "b.root"),
            (None, "/etc/passwd"),
        ] {
            let error = of(own, name).unwrap_err();
            assert_eq!(error.source.kind(), ErrorKind::PermissionDenied, "{own:?} names {name}");
        }
        // A file that was opened without credentials hands none to files that it names.
        let bare = allowing.without_credentials();
        let next =
            NamedFile::of(&With(Some("https://g/b.root"), bare), "https://h/a.root").unwrap();
        assert!(next.options.without_credentials);
    }
}
