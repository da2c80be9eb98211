//! Gives the processes (`TProcessID`) of all inputs their numbers in the output. References (`TRef`) name a process by its
//! number in the file.

use std::collections::{BTreeMap, BTreeSet};

use bstr::BString;
use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile, name_of};
use nyssa_root::streamer::values::EditedObject;
use nyssa_root::streamer::{ObjectCopy, ProcessNumbers, process_number, process_path};

use super::input_file::InputFile;
use crate::job::others::OtherObjects;
use crate::job::output::Output;

/// The processes of the output.
#[derive(Default)]
pub(super) struct Processes {
    /// The title of each process, which identifies it, by its number.
    titles: BTreeMap<u16, BString>,
    /// The new numbers of the processes of each input, by the number of the input.
    numbers: Vec<ProcessNumbers>,
    /// The processes that later inputs add: the number of the input, the key and the new number.
    added: Vec<(usize, KeyEntry, u16)>,
}

impl Processes {
    /// Adds the processes of the next input, which has these keys. A process keeps its number if no other process has it.
    ///
    /// # Errors
    /// `LimitExceeded` for more processes than numbers.
    pub(super) fn add(&mut self, keys: &[KeyEntry]) -> Result<&ProcessNumbers> {
        let input = self.numbers.len();
        let mut numbers = ProcessNumbers::default();
        for (own, key) in keys.iter().filter_map(|key| Some((process_number(key)?, key))) {
            let is_it = |(_, title): &(&u16, &BString)| **title == key.title;
            let new = match self.titles.get(&own) {
                Some(title) if *title == key.title => own,
                _ if let Some((known, _)) = self.titles.iter().find(is_it) => *known,
                None => self.take(own, input, key),
                Some(_) => {
                    let free = (0..u16::MAX).find(|number| !self.titles.contains_key(number));
                    let free = free.ok_or_else(|| {
                        Error::limit("the inputs have more processes (TProcessID) than a file")
                    })?;
                    self.take(free, input, key)
                }
            };
            numbers.set(own, new);
        }
        self.numbers.push(numbers);
        Ok(&self.numbers[input])
    }

    fn take(&mut self, number: u16, input: usize, key: &KeyEntry) -> u16 {
        self.titles.insert(number, key.title.clone());
        if input > 0 {
            self.added.push((input, key.clone(), number));
        }
        number
    }

    /// Returns the new numbers of the processes of each input.
    pub(super) fn numbers(&self) -> &[ProcessNumbers] {
        &self.numbers
    }

    /// Writes the processes of later inputs that the inputs `needed` have, from which something is written. The processes of
    /// the first input are copied with its objects.
    ///
    /// # Errors
    /// An error if an input cannot be read or the output cannot be written.
    pub(super) fn write(
        &self,
        files: &[InputFile],
        output: &Output,
        others: &mut OtherObjects,
        needed: &BTreeSet<usize>,
    ) -> Result<()> {
        let needed = needed.iter().filter_map(|input| self.numbers.get(*input));
        let needed: BTreeSet<u16> = needed.flat_map(ProcessNumbers::new_numbers).collect();
        let mut open: Option<(usize, RootFile)> = None;
        for (number, key, new) in self.added.iter().filter(|(.., new)| needed.contains(new)) {
            let Some(input) = files.get(*number) else { continue };
            let file = match open.take() {
                Some((known, file)) if known == *number => file,
                _ => input.open()?,
            };
            let path = process_path(*new);
            let payload = file.payload(key)?;
            let infos = file.streamer_infos()?;
            let mut object = EditedObject::read(infos.complete(), &key.class, payload, key.keylen)?;
            let root = object.object().root().id();
            object.set_text(root, "fName", &path);
            let payload = object.finish(key.keylen.into())?;
            let key = KeyEntry { name: name_of(&path), path, cycle: 1, ..key.clone() };
            output.file.with(|out| ObjectCopy::write_changed(&file, &key, payload, out))?;
            output.file.add_streamer_infos(&file.streamer_list()?)?;
            others.arrived(&key);
            open = Some((*number, file));
        }
        Ok(())
    }
}

/// Returns the new numbers of the processes of an input.
pub(super) fn of_input(numbers: &[ProcessNumbers], input: usize) -> ProcessNumbers {
    numbers.get(input).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use nyssa_root::cursor::Cursor;
    use nyssa_root::streamer::PROCESS_ID;

    use super::*;

    /// A key of a process, as ROOT streams it.
    fn key(number: u16, title: &str) -> KeyEntry {
        let path = process_path(number);
        let mut bytes = [0; 26].to_vec();
        for text in [PROCESS_ID, &path, title] {
            bytes.push(text.len() as u8);
            bytes.extend(text.as_bytes());
        }
        KeyEntry::parse(&mut Cursor::new(&bytes, 0)).unwrap()
    }

    fn numbers(pairs: &[(u16, u16)]) -> ProcessNumbers {
        let mut numbers = ProcessNumbers::default();
        pairs.iter().for_each(|(own, new)| numbers.set(*own, *new));
        numbers
    }

    #[test]
    fn a_process_has_one_number() {
        let mut processes = Processes::default();
        let mut add = |keys: &[KeyEntry]| processes.add(keys).unwrap().clone();
        assert_eq!(add(&[key(0, "a"), key(2, "c")]), numbers(&[(0, 0), (2, 2)]));
        assert_eq!(add(&[key(0, "b"), key(1, "a")]), numbers(&[(0, 1), (1, 0)]));
        assert_eq!(add(&[key(2, "b"), key(3, "d")]), numbers(&[(2, 1), (3, 3)]));
        assert_eq!(add(&[]), numbers(&[]));
        let added: Vec<_> =
            processes.added.iter().map(|(input, key, new)| (*input, &*key.path, *new)).collect();
        assert_eq!(added, [(1, "ProcessID0", 1), (2, "ProcessID3", 3)]);
    }

    #[test]
    fn other_names_are_no_numbers() {
        for path in ["ProcessID", "ProcessID01", "ProcessID70000", "dir/ProcessID0"] {
            assert_eq!(process_number(&KeyEntry { path: path.into(), ..key(0, "") }), None);
        }
        assert_eq!(process_number(&key(12, "")), Some(12));
    }
}
