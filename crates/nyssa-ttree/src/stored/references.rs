//! Reads the table of the references between the objects of a tree (`TRefTable`).
//!
//! The branch `TBranchRef` has, for each entry of the tree, the number of the branch that holds each referenced object. The
//! numbers count the branches in `TRefTable::fParents`, in the order in which they were filled first. A referenced object is
//! known by its process (`fProcessGUIDs`) and its number there. `TRef::GetObject` finds the branch by the table, and reads it.

use std::collections::HashMap;

use nyssa_root::cursor::{BYTE_COUNT, Cursor};
use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::values::{EditedObject, ObjectId, Value, View};

/// The list of the processes.
const PROCESSES: &str = "fProcessGUIDs";

/// The table of the references between the objects of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// The branch with the table (`TBranchRef`).
    pub branch: usize,
    /// The branches with referenced objects.
    pub parents: Vec<usize>,
    /// The paths of these branches, in the order of their numbers. A tree may lack a branch that it had.
    paths: Vec<Option<String>>,
    /// The processes of the objects, in the order of their numbers.
    processes: Vec<String>,
    /// The number of processes in the file.
    stored: usize,
    /// The table.
    id: Option<ObjectId>,
}

/// The table of the references between the objects of a tree, with its entries, as another tree can have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceTable {
    /// The paths of the branches with referenced objects, in the order of their numbers.
    pub parents: Vec<String>,
    /// The processes of the objects, in the order of their numbers.
    pub processes: Vec<String>,
    /// The bytes of each entry of the tree.
    pub entries: Vec<Vec<u8>>,
}

impl References {
    /// Returns the table without entries.
    ///
    /// # Errors
    /// `Unsupported` for a table with objects of a branch that the tree lacks.
    pub(crate) fn table(&self) -> Result<ReferenceTable> {
        let parents = self.paths.iter().cloned().collect::<Option<_>>();
        let parents = parents.ok_or_else(|| {
            Error::unsupported("it has objects of a branch that is not in the tree")
        })?;
        let processes = self.processes.clone();
        Ok(ReferenceTable { parents, processes, entries: Vec::new() })
    }

    /// Reads the table of a `TBranchRef`, which follows `branches`, given by their objects and paths.
    pub(super) fn read(branch: View<'_>, branches: &[(ObjectId, &str)]) -> Result<Self> {
        let mut this = Self {
            branch: branches.len(),
            parents: Vec::new(),
            paths: Vec::new(),
            processes: Vec::new(),
            stored: 0,
            id: None,
        };
        let Some(table) = branch.view("fRefTable")? else { return Ok(this) };
        this.id = Some(table.id());
        let known: HashMap<ObjectId, usize> =
            branches.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let parents = match table.view("fParents")? {
            Some(parents) => parents.items()?,
            None => Vec::new(),
        };
        for parent in parents {
            let at = parent.and_then(|parent| known.get(&parent.id()).copied());
            this.parents.extend(at);
            this.paths.push(at.map(|at| branches[at].1.to_owned()));
        }
        if let Some(Value::List(processes)) = table.get(PROCESSES) {
            let text = |process: &Value| match process {
                Value::Text(text) => Some(text.to_string()),
                _ => None,
            };
            let processes: Option<Vec<_>> = processes.iter().map(text).collect();
            this.processes =
                processes.ok_or_else(|| Error::out_of_spec("a process that is no text"))?;
            this.stored = this.processes.len();
        }
        Ok(this)
    }

    /// Returns whether the branches of another table have the same numbers here.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.paths.starts_with(&other.paths)
    }

    /// Returns the numbers that the processes of another table have in this table. Processes that this table lacks are added to it.
    pub fn join(&mut self, other: &Self) -> Vec<usize> {
        let mut number = |process: &String| match self.processes.iter().position(|it| it == process)
        {
            Some(number) => number,
            None => {
                self.processes.push(process.clone());
                self.processes.len() - 1
            }
        };
        other.processes.iter().map(&mut number).collect()
    }

    /// Writes the list of processes, if it has more than the file.
    pub(super) fn write(&self, object: &mut EditedObject) -> Result<()> {
        let Some(id) = self.id.filter(|_| self.processes.len() > self.stored) else {
            return Ok(());
        };
        // The version follows the byte count.
        let version = object.bytes(id, PROCESSES).and_then(|bytes| bytes.get(4..6));
        let version = version.ok_or_else(|| Error::unsupported("its list of processes"))?;
        let mut bytes = [&[0; 4], version, &(self.processes.len() as u32).to_be_bytes()].concat();
        for process in &self.processes {
            let len = u8::try_from(process.len()).ok().filter(|len| *len < u8::MAX);
            let len = len.ok_or_else(|| Error::unsupported("the long name of a process"))?;
            bytes.push(len);
            bytes.extend_from_slice(process.as_bytes());
        }
        let count = u32::try_from(bytes.len() - 4).map_err(|_| Error::limit("the processes"))?;
        bytes[..4].copy_from_slice(&(count | BYTE_COUNT).to_be_bytes());
        object.set_bytes(id, PROCESSES, bytes);
        Ok(())
    }
}

/// Appends an entry of a table whose processes have new `numbers`. An entry has minus the number of processes, and for each of
/// them the number of its objects, and the numbers of their branches (`TRefTable::FillBuffer`).
///
/// # Errors
/// `OutOfSpecification` if the entry is damaged; `Unsupported` for the form of old versions of ROOT.
pub(crate) fn renumber(entry: &[u8], numbers: &[usize], out: &mut Vec<u8>) -> Result<()> {
    let mut cursor = Cursor::new(entry, 0);
    let count = cursor.be_i32()?;
    if count > 0 {
        return Err(Error::unsupported("an old version of ROOT has written the table"));
    }
    let count = count.unsigned_abs() as usize;
    let known = numbers.get(..count);
    let known = known.ok_or_else(|| cursor.error(format!("the table has {count} processes")))?;
    let mut lists: Vec<&[u8]> = vec![&[]; known.iter().max().map_or(0, |most| most + 1)];
    for number in known {
        let objects = cursor.clone().be_u32()? as usize;
        lists[*number] = cursor.bytes(objects.saturating_mul(4).saturating_add(4))?;
    }
    out.extend_from_slice(&(-(lists.len() as i32)).to_be_bytes());
    for list in lists {
        out.extend_from_slice(if list.is_empty() { &[0; 4] } else { list });
    }
    match cursor.remaining() {
        [] => Ok(()),
        rest => Err(cursor.error(format!("{} bytes after the processes", rest.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of an entry.
    fn entry(words: &[i32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    fn renumbered(words: &[i32], numbers: &[usize]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        renumber(&entry(words), numbers, &mut out).map(|()| out)
    }

    #[test]
    fn processes_of_an_entry() {
        let two = [-2, 1, 7, 3, 4, 5, 6];
        assert_eq!(renumbered(&two, &[0, 1]).unwrap(), entry(&two));
        assert_eq!(renumbered(&two, &[3, 1]).unwrap(), entry(&[-4, 0, 3, 4, 5, 6, 0, 1, 7]));
        assert_eq!(renumbered(&[0], &[1]).unwrap(), entry(&[0]));
        assert_eq!(renumbered(&[-1, 0], &[1, 0]).unwrap(), entry(&[-2, 0, 0]));
        for damaged in [&two[..6], &[-3, 0, 0, 0], &[-1, 2_000_000_000, 1], &[2, 1, 1], &[-1, 0, 0]]
        {
            assert!(renumbered(damaged, &[1, 0]).is_err(), "{damaged:?}");
        }
    }
}
