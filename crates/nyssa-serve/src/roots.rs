//! Finds the folders and files that are offered, by the names of a request.

use std::fs;
use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nyssa_io::{EntryKind, Error, Result};

use crate::path::{is_open, is_open_in_url};

/// All folders and files that are offered.
pub(crate) struct Roots(Vec<Root>);

/// A folder or a file that is offered.
struct Root {
    /// Its name in the first folder, if there are several roots.
    name: String,
    place: Location,
    is_folder: bool,
}

/// The location of a folder or file.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    /// A path without links.
    Local(PathBuf),
    /// A URL.
    Remote(String),
}

/// The thing that the names of a request lead to.
#[derive(Debug)]
pub(crate) enum Target {
    File(Location),
    Folder(Location),
    /// The first folder, if there are several roots.
    Roots,
}

/// One entry of a folder.
#[derive(Debug)]
pub(crate) struct Listed {
    pub name: String,
    pub is_folder: bool,
    pub size: Option<u64>,
    pub modified: Option<SystemTime>,
}

impl Roots {
    /// Finds the folders and files that are offered.
    ///
    /// # Errors
    /// `NotFound` for a location that does not exist; `InvalidInput` for roots of the same name or without a
    /// usable name.
    pub(crate) fn new(locations: &[String]) -> Result<Self> {
        let mut roots: Vec<Root> = Vec::with_capacity(locations.len());
        for location in locations {
            let root = Root::new(location)?;
            let refused = |why: &str| {
                Err(Error::new(location, "serve", IoError::new(ErrorKind::InvalidInput, why)))
            };
            let is_shown = locations.len() > 1 || !root.is_folder;
            if is_shown && !is_open(&root.name) {
                return refused("its name cannot be in a URL");
            }
            if roots.iter().any(|other| other.name == root.name) {
                return refused("another of the folders and files has the same name");
            }
            roots.push(root);
        }
        Ok(Self(roots))
    }

    /// Follows names to a folder or a file. Nothing outside the roots is found, also not through links.
    ///
    /// # Errors
    /// `NotFound` for something that does not exist or is not offered; an error of the system or of the
    /// origin.
    pub(crate) fn find(&self, names: &[String]) -> std::io::Result<Target> {
        if let [only] = &self.0[..]
            && only.is_folder
        {
            return only.find(names);
        }
        let Some((first, rest)) = names.split_first() else { return Ok(Target::Roots) };
        let root = self.0.iter().find(|root| root.name == *first).ok_or_else(missing)?;
        root.find(rest)
    }

    /// Lists a folder.
    ///
    /// # Errors
    /// The folder cannot be listed here, or the origin refuses it.
    pub(crate) fn list(&self, folder: &Target) -> std::io::Result<Vec<Listed>> {
        let mut all = match folder {
            Target::File(_) => return Err(missing()),
            Target::Roots => {
                let listed = |root: &Root| Listed {
                    name: root.name.clone(),
                    is_folder: root.is_folder,
                    size: None,
                    modified: None,
                };
                self.0.iter().map(listed).collect()
            }
            Target::Folder(Location::Remote(url)) => list_remote(url)?,
            Target::Folder(Location::Local(path)) => {
                let root = self.0.iter().find_map(|root| root.place.local_above(path));
                list_local(path, root.ok_or_else(missing)?)?
            }
        };
        all.sort_by(|a, b| (!a.is_folder, &a.name).cmp(&(!b.is_folder, &b.name)));
        Ok(all)
    }
}

impl Root {
    fn new(location: &str) -> Result<Self> {
        let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
        let failed = |error| Error::new(location, "serve", error);
        if nyssa_io::is_remote(location) {
            let url = location.split('?').next().unwrap_or_default().trim_end_matches('/');
            // A server that cannot list folders cannot tell what is a folder. Files in it can still be read.
            let is_folder = match nyssa_io::kind(location) {
                Ok(None) => return Err(failed(missing())),
                Ok(Some(kind)) => kind == EntryKind::Folder,
                Err(_) => nyssa_io::open(location).is_err(),
            };
            let place = Location::Remote(location.to_owned());
            return Ok(Self { name: last(url), place, is_folder });
        }
        let path = nyssa_io::absolute(location)?;
        let path = path
            .to_str()
            .and_then(|path| path.strip_prefix("file://"))
            .map_or(path.clone(), PathBuf::from);
        let real = fs::canonicalize(path).map_err(failed)?;
        let is_folder = fs::metadata(&real).map_err(failed)?.is_dir();
        let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        Ok(Self { name, place: Location::Local(real), is_folder })
    }

    fn find(&self, names: &[String]) -> std::io::Result<Target> {
        if names.is_empty() {
            let place = self.place.clone();
            return Ok(if self.is_folder { Target::Folder(place) } else { Target::File(place) });
        }
        if !self.is_folder {
            return Err(missing());
        }
        match &self.place {
            Location::Local(root) => local(root, names),
            Location::Remote(url) => {
                if names.iter().any(|name| !is_open_in_url(name)) {
                    return Err(missing());
                }
                let (place, query) = url.split_at(url.find('?').unwrap_or(url.len()));
                let place = place.trim_end_matches('/');
                Ok(Target::File(Location::Remote(format!("{place}/{}{query}", names.join("/")))))
            }
        }
    }
}

impl Location {
    /// Returns the path of this location if it is the path `path` or a folder above it.
    fn local_above(&self, path: &Path) -> Option<&Path> {
        match self {
            Self::Local(root) if path.starts_with(root) => Some(root),
            _ => None,
        }
    }
}

/// Follows names below a folder of this machine. The path without links must lie below it, too, and have no
/// hidden name.
fn local(root: &Path, names: &[String]) -> std::io::Result<Target> {
    let real =
        fs::canonicalize(root.join(names.join("/"))).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => error,
            // Nothing has this name, a link leads to itself, or a name is too long.
            _ => missing(),
        })?;
    let below = real.strip_prefix(root).map_err(|_| missing())?;
    let hidden = |name: &std::ffi::OsStr| name.to_str().is_none_or(|name| !is_open(name));
    if below.iter().any(hidden) {
        return Err(missing());
    }
    let metadata = fs::metadata(&real)?;
    match (metadata.is_dir(), metadata.is_file()) {
        (true, _) => Ok(Target::Folder(Location::Local(real))),
        (_, true) => Ok(Target::File(Location::Local(real))),
        // This is a pipe or a device.
        _ => Err(missing()),
    }
}

fn list_local(folder: &Path, root: &Path) -> std::io::Result<Vec<Listed>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().filter(|name| is_open(name)).map(str::to_owned)
        else {
            continue;
        };
        // A link that leads outside is treated as missing.
        let path = entry.path();
        let relative = path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned);
        let Some(Ok(target)) = relative.map(|relative| local(root, &[relative])) else { continue };
        let (
            is_folder,
            Target::File(Location::Local(real)) | Target::Folder(Location::Local(real)),
        ) = (matches!(target, Target::Folder(_)), target)
        else {
            continue;
        };
        let Ok(about) = fs::metadata(real) else { continue };
        let size = (!is_folder).then_some(about.len());
        all.push(Listed { name, is_folder, size, modified: about.modified().ok() });
    }
    Ok(all)
}

fn list_remote(url: &str) -> std::io::Result<Vec<Listed>> {
    let entries = nyssa_io::list(url).map_err(|error| error.source)?;
    let listed = |entry: nyssa_io::FolderEntry| {
        let name = entry.name.into_string().ok().filter(|name| is_open_in_url(name))?;
        let is_folder = entry.kind == EntryKind::Folder;
        Some(Listed { name, is_folder, size: None, modified: None })
    };
    Ok(entries.into_iter().filter_map(listed).collect())
}

fn missing() -> IoError {
    IoError::new(ErrorKind::NotFound, "there is no such file or folder")
}
