//! Writes, copies and deletes single objects of a file, such as histograms.

use super::SharedFile;
use crate::compression::Compression;
use crate::error::{Error, Result, ResultExt};
use crate::rootfile::writer::Cycles;
use crate::rootfile::{KeyEntry, RootFile, check_new_text, split};
use crate::streamer::{Draft, ObjectCopy, StreamerInfos, StreamerList};

impl SharedFile {
    /// Writes a new object with the next cycle of its name, and adds the streamer infos of its classes to the file. The
    /// last part of `path` is the name of the object. Directories before it are created.
    ///
    /// # Errors
    /// `InvalidArgument` for a path that cannot name an object, or names a directory or an object that is still being
    /// written; `Unsupported` for classes and members that cannot be written; `LimitExceeded` for objects of more
    /// than 1 GiB; an error if the sink cannot be written.
    pub fn write_object(
        &self,
        path: &str,
        title: &str,
        object: &Draft,
        compression: Compression,
    ) -> Result<()> {
        let (dir, name) = self.place(path)?;
        check_new_text("the title", title)?;
        let class = object.class();
        let (known, all) = (StreamerInfos::of_objects()?, StreamerList::of_objects()?);
        self.in_order(|file| {
            // A damaged list is found before the object is written.
            file.add_streamer_infos(&StreamerList::default())?;
            let mut infos = StreamerList::default();
            let make = |keylen| {
                let streamed = object.serialize(&known, keylen).in_object(path)?;
                let classes = known.with_members_of(&streamed.classes);
                infos = all.newest(|name| classes.contains(name));
                Ok(streamed.bytes)
            };
            file.write_made(dir, class, (name, title.as_bytes()), make, compression)?;
            file.add_streamer_infos(&infos)
        })
    }

    /// Copies the object of a key of another file, of any class, with the streamer infos of that file. The object gets
    /// the next cycle of its name here.
    ///
    /// # Errors
    /// `InvalidArgument` for a path that cannot name an object, or names a directory or an object that is still being
    /// written; `Unsupported` for objects that hold positions in their file, and for objects whose references cannot
    /// be found; an error if reading or writing fails.
    pub fn copy_object(&self, path: &str, file: &RootFile, key: &KeyEntry) -> Result<()> {
        let (dir, name) = self.place(path)?;
        self.in_order(|out| ObjectCopy::copy_object(file, key, out, dir, name))
    }

    /// Checks that the file describes the classes in values of these C++ types with the same members as `infos`.
    ///
    /// # Errors
    /// `Unsupported` with the first such class; `InvalidArgument` when the file is finished.
    pub fn require_same_classes<'t>(
        &self,
        infos: &StreamerInfos,
        mut types: impl Iterator<Item = &'t str>,
    ) -> Result<()> {
        let reason = self.with(|file| {
            let clashes = file.clashes(infos)?;
            Ok(types.find_map(|of| clashes.reason_against(of)))
        })?;
        let advice = "a chain of the files (nyssa.chain, schema=\"union\") reads each by its own description";
        reason.map_or(Ok(()), |reason| Err(Error::unsupported(format!("{reason}; {advice}"))))
    }

    /// Creates a directory, and its parents.
    ///
    /// # Errors
    /// `InvalidArgument` if an object has the name of a directory, for a path with a zero byte, and when the file is finished.
    pub fn make_directory(&self, path: &str) -> Result<()> {
        check_new_text("the path", path)?;
        self.in_order(|file| file.make_directory_at(path))
    }

    /// Creates a directory with the title and the date of a directory of another file, and the directories above it. A directory that exists
    /// does not change.
    ///
    /// # Errors
    /// `InvalidArgument` if an object has the name of a directory, the file is finished, or the key does not belong
    /// to a directory.
    pub fn copy_directory(&self, path: &str, key: &KeyEntry) -> Result<()> {
        if !key.is_directory() {
            return Err(Error::invalid_argument(format!("{} is no directory", key.path)));
        }
        check_new_text("the path", path)?;
        let path = path.trim_matches('/');
        self.in_order(|file| match path {
            "" => file.make_directory_at(path),
            _ => file.make_titled_directory(path, key.title.as_ref(), key.datime),
        })
    }

    /// Takes an object out of the list of its directory: the newest cycle of `dir/name`, cycle 2 of `dir/name;2`, or
    /// all cycles of `dir/name;*`. A directory is removed with its content. The bytes stay in the file.
    ///
    /// # Errors
    /// `NotFound`; `InvalidArgument` for an object that is still being written, and for a cycle that is no number.
    pub fn delete(&self, path: &str) -> Result<()> {
        let (path, cycle) = match path.trim_matches('/').rsplit_once(';') {
            None => (path.trim_matches('/'), Cycles::Newest),
            Some((path, "*")) => (path, Cycles::All),
            Some((path, cycle)) => match cycle.parse() {
                Ok(cycle) => (path, Cycles::One(cycle)),
                Err(_) => {
                    return Err(Error::invalid_argument(format!("{cycle:?} is not a cycle")));
                }
            },
        };
        self.check_not_open(path)?;
        let (dir, name) = split(path);
        self.in_order(|file| file.delete(dir, name, cycle))
    }

    /// Splits the path of a new object into directory and name.
    fn place<'p>(&self, path: &'p str) -> Result<(&'p str, &'p str)> {
        check_new_text("the path", path)?;
        let whole = path.trim_start_matches('/');
        let (dir, name) = split(whole);
        if name.is_empty() {
            return Err(Error::invalid_argument(format!(
                "{path:?} does not name an object: its last part is empty"
            )));
        }
        if name.contains(';') {
            return Err(Error::invalid_argument(format!(
                "{path:?} cannot name a new object: the file counts the cycle behind ';'"
            )));
        }
        self.check_not_open(whole)?;
        Ok((dir, name))
    }

    /// Refuses the path of an object that is still being written, or of a directory with such objects.
    fn check_not_open(&self, path: &str) -> Result<()> {
        let below = |open: &&String| {
            open.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.locked(|state| match state.open.iter().find(below) {
            Some(open) => {
                Err(Error::invalid_argument(format!("{open} is being written: close it first")))
            }
            None => Ok(()),
        })
    }
}
