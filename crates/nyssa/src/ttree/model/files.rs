//! Finds baskets in other files (`TBranch::SetFile`). All files together look like one source, one file after the
//! other. The offset of a basket counts from the start of the first file.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use nyssa_io::{Limits, OpenOptions, Source, Stop};

/// The largest number of files that the baskets of one tree can be in. Each stays open.
const MAX_FILES: usize = 256;

/// The file of a tree, and the files that its branches refer to. Each is opened when the first branch refers to
/// it.
pub(crate) struct Files {
    parts: Vec<Part>,
    /// The offset at which each requested file begins, or the reason why it cannot be read.
    known: HashMap<String, Result<u64, String>>,
}

struct Part {
    source: Arc<dyn Source>,
    start: u64,
}

impl Files {
    /// Starts with the file of the tree. Without it, no other file is opened.
    pub fn new(source: Option<Arc<dyn Source>>) -> Self {
        let parts = source.into_iter().map(|source| Part { source, start: 0 }).collect();
        Self { parts, known: HashMap::new() }
    }

    /// Returns the offset at which a file begins that was requested before. It is 0 for the file of the tree,
    /// whose name is empty.
    ///
    /// # Errors
    /// The reason why the file cannot be read.
    pub fn known(&self, name: &str) -> Result<u64, String> {
        match self.known.get(name) {
            _ if name.is_empty() => Ok(0),
            Some(known) => known.clone(),
            None => Err("it was not opened".to_owned()),
        }
    }

    /// Opens the file that a branch refers to, if it is not open. Relative names start from the folder of the
    /// tree's file.
    pub fn open_once(&mut self, name: &str) {
        if !name.is_empty() && !self.known.contains_key(name) {
            let start = self.open(name);
            self.known.insert(name.to_owned(), start);
        }
    }

    fn open(&mut self, name: &str) -> Result<u64, String> {
        if self.parts.len() >= MAX_FILES {
            return Err(format!("the baskets of the tree are in more than {MAX_FILES} files"));
        }
        let own = &self.parts.first().ok_or("only the tree was asked for")?.source;
        let options = own.options().cloned().unwrap_or_default();
        let source = nyssa_io::open_with(nyssa_io::beside(own.name(), name), &options)
            .map_err(|error| error.to_string())?;
        let end = |part: &Part| part.start.checked_add(part.source.size());
        let start = self.parts.last().and_then(end).ok_or("the files are too large")?;
        self.parts.push(Part { source, start });
        Ok(start)
    }

    /// Returns the offsets at which all files but the first begin.
    pub fn starts(&self) -> Vec<u64> {
        self.parts.iter().skip(1).map(|part| part.start).collect()
    }

    /// Joins all files into one source. If there is only the file of the tree, returns this file.
    pub fn joined(mut self) -> Option<Arc<dyn Source>> {
        match self.parts.len() {
            1 => self.parts.pop().map(|part| part.source),
            _ => Some(Arc::new(JoinedFiles { parts: self.parts })),
        }
    }
}

/// A source of several files, one after the other. It has the name of the first file.
struct JoinedFiles {
    parts: Vec<Part>,
}

impl JoinedFiles {
    /// Splits a range into the files that it is in, with the range in each.
    fn pieces(&self, range: &Range<u64>) -> nyssa_io::Result<Vec<(usize, Range<u64>)>> {
        if range.start > range.end || range.end > self.size() {
            // The last file reports the error.
            if let Some(last) = self.parts.last() {
                let start = range.start.saturating_sub(last.start);
                last.source.read_range(start..range.end.saturating_sub(last.start))?;
            }
        }
        Ok(self.inside(range).collect())
    }

    /// Returns the parts of a range that are in files, each with the number of the file.
    fn inside(&self, range: &Range<u64>) -> impl Iterator<Item = (usize, Range<u64>)> {
        let Range { start, end } = *range;
        self.parts.iter().enumerate().filter_map(move |(number, part)| {
            let from = start.max(part.start);
            let to = end.min(part.start + part.source.size());
            (from < to).then(|| (number, from - part.start..to - part.start))
        })
    }

    /// Reads ranges with one request for each file, which `request` makes.
    fn read(
        &self,
        ranges: &[Range<u64>],
        request: impl Fn(&dyn Source, &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>>,
    ) -> nyssa_io::Result<Vec<Bytes>> {
        let mut asked: Vec<Vec<Range<u64>>> = vec![Vec::new(); self.parts.len()];
        for range in ranges {
            self.pieces(range)?.into_iter().for_each(|(part, piece)| asked[part].push(piece));
        }
        let mut read = Vec::with_capacity(asked.len());
        for (part, asked) in self.parts.iter().zip(&asked) {
            let answers = match asked.is_empty() {
                true => Vec::new(),
                false => request(part.source.as_ref(), asked)?,
            };
            read.push(answers.into_iter());
        }
        let mut bytes = |range: &Range<u64>| {
            let pieces = self.pieces(range)?;
            let mut pieces = pieces.iter().filter_map(|(part, _)| read[*part].next());
            let first = pieces.next().unwrap_or_default();
            if first.len() as u64 == range.end - range.start {
                return Ok(first);
            }
            let mut whole = BytesMut::from(first);
            pieces.for_each(|piece| whole.extend_from_slice(&piece));
            Ok(whole.freeze())
        };
        ranges.iter().map(&mut bytes).collect()
    }
}

impl Source for JoinedFiles {
    fn name(&self) -> &str {
        self.parts.first().map_or("", |part| part.source.name())
    }

    fn location(&self) -> &Path {
        self.parts.first().map_or(Path::new(""), |part| part.source.location())
    }

    fn size(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.start + part.source.size())
    }

    fn limits(&self) -> Limits {
        let limits = self.parts.iter().map(|part| part.source.limits());
        limits.reduce(Limits::stricter).unwrap_or(Limits::NONE)
    }

    /// Returns the strictest limits of all files. Each file is asked for its own part of the plan.
    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        let mut plans: Vec<Vec<Vec<Range<u64>>>> = vec![Vec::new(); self.parts.len()];
        for unit in units {
            let mut own: Vec<Vec<Range<u64>>> = vec![Vec::new(); self.parts.len()];
            let pieces = unit.iter().flat_map(|range| self.inside(range));
            pieces.for_each(|(part, piece)| own[part].push(piece));
            let own = plans.iter_mut().zip(own).filter(|(_, own)| !own.is_empty());
            own.for_each(|(plan, own)| plan.push(own));
        }
        let limits = self.parts.iter().zip(&plans).map(|(part, plan)| part.source.limits_of(plan));
        limits.reduce(Limits::stricter).unwrap_or(Limits::NONE)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
        self.read(ranges, |source, asked| source.read_ranges(asked))
    }

    fn read_ranges_until(
        &self,
        ranges: &[Range<u64>],
        stop: &Stop,
    ) -> nyssa_io::Result<Vec<Bytes>> {
        self.read(ranges, |source, asked| source.read_ranges_until(asked, stop))
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
        self.read(ranges, |source, asked| source.read_ranges_again(asked))
    }

    fn close(&self) {
        self.parts.iter().for_each(|part| part.source.close());
    }

    fn check_open(&self) -> nyssa_io::Result<()> {
        self.parts.iter().try_for_each(|part| part.source.check_open())
    }

    fn options(&self) -> Option<&OpenOptions> {
        self.parts.first()?.source.options()
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
        let part = |start, ranges| Part { source: Arc::new(HalfCold(ranges)), start };
        let joined = JoinedFiles { parts: vec![part(0, 5), part(100, 7)] };
        let limits = |units: &[Vec<Range<u64>>]| joined.limits_of(units).max_ranges;
        assert_eq!(limits(&[vec![0..50, 100..150]]), usize::MAX);
        assert_eq!(limits(&[vec![0..50, 10..20], vec![120..130, 140..151]]), 7);
        assert_eq!(limits(&[vec![170..180, 40..110]]), 5);
        // A range beyond the files is an error only when it is read.
        assert_eq!(limits(&[vec![0..10, 300..400]]), usize::MAX);
    }
}
