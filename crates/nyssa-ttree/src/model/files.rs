//! Finds baskets in other files (`TBranch::SetFile`). All files together look like one source with a large part for
//! each file. A file is opened when its bytes are first needed.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use nyssa_io::{Limits, NamedFile, OpenOptions, Source, Stop};
use nyssa_root::error::{Error, Result};

/// The largest number of files that the baskets of one tree can be in. Each file stays open.
const MAX_FILES: usize = 256;
/// The bytes that each file has in the joined source, which is more than the length of any file.
const PART_BYTES: u64 = 1 << 48;

/// Converts an offset in the joined source to an offset in the file that has the byte.
pub(crate) fn place_in_file(place: u64) -> u64 {
    place % PART_BYTES
}

/// The file of a tree, and the files that its branches refer to.
pub(crate) struct Files {
    parts: Vec<FileOfTree>,
    /// The offset at which each requested file begins, or the reason why it cannot be read.
    known: HashMap<String, std::result::Result<u64, String>>,
}

struct FileOfTree {
    /// The name of another file as it is stored. It is empty for the file of the tree.
    name: String,
    file: Option<NamedFile>,
    source: OnceLock<Arc<dyn Source>>,
}

impl Files {
    /// Starts with the file of the tree. Without it, all other files are unknown.
    pub(crate) fn new(source: Option<Arc<dyn Source>>) -> Self {
        let own =
            |source| FileOfTree { name: String::new(), file: None, source: OnceLock::from(source) };
        Self { parts: source.into_iter().map(own).collect(), known: HashMap::new() }
    }

    /// Returns the offset at which a known file begins. It is 0 for the file of the tree, whose name is empty.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    pub(crate) fn known(&self, name: &str) -> std::result::Result<u64, String> {
        match self.known.get(name) {
            _ if name.is_empty() => Ok(0),
            Some(known) => known.clone(),
            None => Err("it was not looked for".to_owned()),
        }
    }

    /// Finds the file that a branch refers to, if the tree may refer to it (see [`NamedFile`]). It is not opened.
    pub(crate) fn find(&mut self, name: &str) {
        if !name.is_empty() && !self.known.contains_key(name) {
            let start = self.add(name);
            self.known.insert(name.to_owned(), start);
        }
    }

    fn add(&mut self, name: &str) -> std::result::Result<u64, String> {
        if self.parts.len() >= MAX_FILES {
            return Err(format!("the baskets of the tree are in more than {MAX_FILES} files"));
        }
        let own = self.parts.first().and_then(|part| part.source.get());
        let own = own.ok_or("only the tree was requested")?;
        let file = NamedFile::of(own.as_ref(), name).map_err(|error| error.to_string())?;
        let start = self.parts.len() as u64 * PART_BYTES;
        let name = name.to_owned();
        self.parts.push(FileOfTree { name, file: Some(file), source: OnceLock::new() });
        Ok(start)
    }

    /// Returns the largest offset in one of several files.
    pub(crate) fn most_offset(&self) -> u64 {
        if self.parts.len() > 1 { PART_BYTES - 1 } else { u64::MAX }
    }

    /// Joins the files into one source. Returns `None` if there is only the file of the tree.
    pub(crate) fn joined(self) -> Option<Arc<JoinedFiles>> {
        (self.parts.len() > 1).then(|| Arc::new(JoinedFiles { parts: self.parts }))
    }
}

/// A source of several files. It has the name of the first file, which is always open.
pub(crate) struct JoinedFiles {
    parts: Vec<FileOfTree>,
}

impl FileOfTree {
    /// Opens the file if it is not open.
    fn open(&self) -> nyssa_io::Result<&Arc<dyn Source>> {
        match (self.source.get(), &self.file) {
            (None, Some(file)) => {
                let source = file.open()?;
                Ok(self.source.get_or_init(|| source))
            }
            (Some(source), _) => Ok(source),
            (None, None) => Err(nyssa_io::closed(&self.name)),
        }
    }
}

impl JoinedFiles {
    /// Returns the file of the tree.
    pub(crate) fn own(&self) -> Option<&Arc<dyn Source>> {
        self.parts.first()?.source.get()
    }

    /// Returns the bytes of the files that are open.
    pub(crate) fn open_bytes(&self) -> u64 {
        let open = self.parts.iter().filter_map(|part| part.source.get());
        open.fold(0, |sum, source| sum.saturating_add(source.size()))
    }

    /// Returns the range of the file that has a byte. The file is opened if it is not open.
    ///
    /// # Errors
    /// `Unsupported` with its name for a file that is missing or that may not be read; `OutOfSpecification` for a
    /// byte beyond all files; `Io`.
    pub(crate) fn extent(&self, place: u64) -> Result<Range<u64>> {
        let (part, start) = self.part(place);
        let part = part.ok_or_else(|| Error::out_of_spec("a byte lies beyond all files"))?;
        let source = part.open().map_err(|error| {
            let why = format!("its baskets are in another file, {:?}: {error}", part.name);
            match error.source.kind() {
                ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::Unsupported
                | ErrorKind::InvalidInput
                | ErrorKind::IsADirectory => Error::unsupported(why),
                _ => Error::from(error).map_message(|_| why),
            }
        })?;
        Ok(start..start.saturating_add(source.size().min(PART_BYTES)))
    }

    /// Returns the file that has a byte, and the offset at which it begins.
    fn part(&self, place: u64) -> (Option<&FileOfTree>, u64) {
        let number = place / PART_BYTES;
        let part = usize::try_from(number).ok().and_then(|number| self.parts.get(number));
        (part, number * PART_BYTES)
    }

    /// Reads ranges with one request for each file, which `request` makes. Each range is in one file.
    fn read(
        &self,
        ranges: &[Range<u64>],
        request: impl Fn(&dyn Source, &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>>,
    ) -> nyssa_io::Result<Vec<Bytes>> {
        let mut answers = vec![Bytes::new(); ranges.len()];
        for (number, part) in (0u64..).zip(&self.parts) {
            let start = number * PART_BYTES;
            let (mut places, mut of_part) = (Vec::new(), Vec::new());
            for (place, range) in ranges.iter().enumerate() {
                if range.start / PART_BYTES == number {
                    places.push(place);
                    of_part.push(range.start - start..range.end.saturating_sub(start));
                }
            }
            if of_part.is_empty() {
                continue;
            }
            let read = request(part.open()?.as_ref(), &of_part)?;
            places.into_iter().zip(read).for_each(|(place, bytes)| answers[place] = bytes);
        }
        Ok(answers)
    }
}

impl Source for JoinedFiles {
    fn name(&self) -> &str {
        self.own().map_or("", |own| own.name())
    }

    fn location(&self) -> &Path {
        self.own().map_or(Path::new(""), |own| own.location())
    }

    fn origin(&self) -> Option<&Path> {
        self.own()?.origin()
    }

    fn size(&self) -> u64 {
        self.parts.len() as u64 * PART_BYTES
    }

    fn limits(&self) -> Limits {
        let open = self.parts.iter().filter_map(|part| part.source.get());
        open.map(|source| source.limits()).reduce(Limits::stricter).unwrap_or(Limits::NONE)
    }

    /// Returns the strictest limits of the files of a plan, which are opened. Each file gets only its own part of the
    /// plan.
    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        let of_part = |(number, part): (u64, &FileOfTree)| {
            let start = number * PART_BYTES;
            let own = |range: &&Range<u64>| range.start / PART_BYTES == number;
            let own = |unit: &Vec<Range<u64>>| -> Vec<Range<u64>> {
                let own = unit.iter().filter(own);
                own.map(|range| range.start - start..range.end.saturating_sub(start)).collect()
            };
            let plan: Vec<_> = units.iter().map(own).filter(|own| !own.is_empty()).collect();
            // The readers of a file report that it cannot be opened.
            let source = if plan.is_empty() { None } else { part.open().ok() };
            source.map(|source| source.limits_of(&plan))
        };
        let limits = (0u64..).zip(&self.parts).filter_map(of_part);
        limits.reduce(Limits::stricter).unwrap_or_else(|| self.limits())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
        self.read(ranges, |source, ranges| source.read_ranges(ranges))
    }

    fn read_ranges_until(
        &self,
        ranges: &[Range<u64>],
        stop: &Stop,
    ) -> nyssa_io::Result<Vec<Bytes>> {
        self.read(ranges, |source, ranges| source.read_ranges_until(ranges, stop))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
        self.read(ranges, |source, ranges| source.read_ranges_again(ranges))
    }

    fn close(&self) {
        self.parts.iter().filter_map(|part| part.source.get()).for_each(|source| source.close());
    }

    fn check_open(&self) -> nyssa_io::Result<()> {
        let mut open = self.parts.iter().filter_map(|part| part.source.get());
        open.try_for_each(|source| source.check_open())
    }

    fn options(&self) -> Option<&OpenOptions> {
        self.own()?.options()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source of 100 bytes. The second half comes from a slow disk.
    struct HalfCold(usize);

    impl Source for HalfCold {
        fn name(&self) -> &str {
            "half.root"
        }

        fn size(&self) -> u64 {
            100
        }

        fn limits(&self) -> Limits {
            Limits::NONE
        }

        fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
            let cold = units.iter().flatten().any(|range| range.end > 50);
            Limits { max_ranges: if cold { self.0 } else { usize::MAX }, ..Limits::NONE }
        }

        fn read_ranges(&self, _: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn each_file_is_asked_for_the_limits_of_its_part_of_a_plan() {
        let part = |ranges| {
            let source = OnceLock::from(Arc::new(HalfCold(ranges)) as Arc<dyn Source>);
            FileOfTree { name: String::new(), file: None, source }
        };
        let joined = JoinedFiles { parts: vec![part(5), part(7)] };
        let limits = |units: &[Vec<Range<u64>>]| joined.limits_of(units).max_ranges;
        let second = |range: Range<u64>| PART_BYTES + range.start..PART_BYTES + range.end;
        assert_eq!(limits(&[vec![0..50, second(0..50)]]), usize::MAX);
        assert_eq!(limits(&[vec![0..50, 10..20], vec![second(20..30), second(40..51)]]), 7);
        assert_eq!(limits(&[vec![second(70..80), 40..60]]), 5);
        // A range beyond the files is an error only when it is read.
        assert_eq!(limits(&[vec![0..10, 2 * PART_BYTES..2 * PART_BYTES + 1]]), usize::MAX);
    }
}
