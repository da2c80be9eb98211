//! Writes the table and the summary to the disk.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::columns::COLUMNS;
use super::summary::{Summary, value};
use super::usage::Usage;
use crate::error::{Error, Result};

/// The files of a running monitor.
pub(super) struct Files {
    table: File,
    table_path: PathBuf,
    summary_path: PathBuf,
}

impl Files {
    /// Creates the table with its header. A table and a summary of an earlier monitor are replaced.
    ///
    /// # Errors
    /// `Invalid` if the file exists and no monitor wrote it; `File` if the files cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let (table_path, summary_path) = names(path);
        refuse_others(&table_path, b"Time\t")?;
        refuse_others(&summary_path, b"{")?;
        let table = File::create(&table_path).map_err(|error| cannot(&table_path, error))?;
        let mut files = Self { table, table_path, summary_path };
        let names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        files.line(&format!("Time\t{}\n", names.join("\t")))?;
        Ok(files)
    }

    /// Adds a row to the table.
    ///
    /// # Errors
    /// `File` if the table cannot be written.
    pub(super) fn row(&mut self, usage: &Usage) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let mut line = now.to_string();
        for (column, &number) in COLUMNS.iter().zip(usage.values()) {
            line.push('\t');
            line.push_str(&value(column, number).to_string());
        }
        line.push('\n');
        self.line(&line)
    }

    /// Replaces the summary. A program that reads it meanwhile sees the old or the new summary.
    ///
    /// # Errors
    /// `File` if the summary cannot be written.
    pub(super) fn summary(&self, summary: &Summary) -> Result<()> {
        let mut text = serde_json::to_string_pretty(summary).map_err(|error| Error::Limit {
            what: "the summary has no JSON form",
            source: error.into(),
        })?;
        text.push('\n');
        let mut new = self.summary_path.clone().into_os_string();
        new.push("_tmp");
        fs::write(&new, text).and_then(|()| fs::rename(&new, &self.summary_path)).map_err(|error| {
            let _not_written = fs::remove_file(&new);
            cannot(&self.summary_path, error)
        })
    }

    fn line(&mut self, line: &str) -> Result<()> {
        self.table.write_all(line.as_bytes()).map_err(|error| cannot(&self.table_path, error))
    }
}

/// Returns the names of the table and of the summary.
fn names(path: &Path) -> (PathBuf, PathBuf) {
    let is_summary = path.extension().is_some_and(|extension| extension == "json");
    if is_summary {
        return (path.with_extension("txt"), path.to_owned());
    }
    (path.to_owned(), path.with_extension("json"))
}

/// Refuses to replace a file that no monitor wrote. The files of a monitor always begin in the same way, if
/// they are not empty.
fn refuse_others(path: &Path, begin: &[u8]) -> Result<()> {
    let why = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot(path, error)),
        Ok(metadata) if !metadata.is_file() => "it is not a regular file",
        Ok(metadata) if metadata.len() == 0 => return Ok(()),
        Ok(_) => {
            let mut first = vec![0; begin.len()];
            let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
            match read {
                Ok(()) if first == begin => return Ok(()),
                Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
                    return Err(cannot(path, error));
                }
                _ => "it exists already, and was not written by a monitor; choose another name",
            }
        }
    };
    Err(Error::Invalid(format!("the monitor cannot write {}: {why}", path.display())))
}

fn cannot(path: &Path, source: io::Error) -> Error {
    Error::File { name: path.display().to_string(), action: "write", source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_stands_beside_the_table() {
        for (path, table, summary) in [
            ("prmon.txt", "prmon.txt", "prmon.json"),
            ("a.b/prmon.json", "a.b/prmon.txt", "a.b/prmon.json"),
            ("run.7", "run.7", "run.json"),
            ("usage", "usage", "usage.json"),
        ] {
            assert_eq!(names(Path::new(path)), (table.into(), summary.into()));
        }
    }

    #[test]
    fn a_summary_that_cannot_be_written_leaves_no_file() -> std::result::Result<(), io::Error> {
        let folder = tempfile::tempdir()?;
        let files = Files::create(&folder.path().join("usage.txt")).map_err(io::Error::other)?;
        fs::create_dir(folder.path().join("usage.json"))?;
        assert!(files.summary(&Summary::new()).is_err());
        assert_eq!(fs::read_dir(folder.path())?.count(), 2);
        Ok(())
    }
}
