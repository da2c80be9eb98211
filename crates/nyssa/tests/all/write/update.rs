//! Adding to files in place: what is there after every crash.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, StringArray};
use nyssa_data::Dataset;
use nyssa_io::{Result, Sink, WriteAt};
use nyssa_jobs::update::Update;
use nyssa_rntuple::write::{Order, RNTupleWriteOptions, TableWriter};
use nyssa_root::Kind;
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::FileOptions;
use nyssa_ttree as ttree;
use nyssa_ttree::write::{TreeWriteOptions, TreeWriter};

use crate::support::writing::{arrow_schema, context, open, read, reader};

/// The calls that a sink received.
#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Sync,
}

/// Records what it is asked, and does nothing.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Step>>>);

impl Sink for Steps {
    fn name(&self) -> &str {
        "memory.root"
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        WriteAt::write_at(self, offset, data)
    }

    fn beside(&self) -> Option<Arc<dyn WriteAt>> {
        Some(Arc::new(self.clone()))
    }

    fn sync(&mut self) -> Result<()> {
        self.0.lock().unwrap().push(Step::Sync);
        Ok(())
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        self.sync()
    }
}

impl WriteAt for Steps {
    fn write_at(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.0.lock().unwrap().push(Step::Write(offset, data.to_vec()));
        Ok(())
    }
}

fn apply(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let start = offset as usize;
    bytes.resize(bytes.len().max(start + data.len()), 0);
    bytes[start..start + data.len()].copy_from_slice(data);
}

/// The number of disks write sectors of so many bytes in one piece.
const SECTOR: u64 = 512;

/// Every state of a file after a crash: all epochs (writes between two syncs) before are there; of the
/// last one any single sector, any prefix of sectors, or all but one.
fn crashes(old: &[u8], steps: &[Step]) -> Vec<Vec<u8>> {
    let mut states = vec![old.to_vec()];
    let mut durable = old.to_vec();
    for epoch in steps.split(|step| matches!(step, Step::Sync)) {
        let mut sectors: Vec<(u64, Vec<u8>)> = Vec::new();
        for step in epoch {
            let Step::Write(offset, data) = step else { continue };
            let (mut at, mut rest) = (*offset, &data[..]);
            while !rest.is_empty() {
                let room = (SECTOR - at % SECTOR) as usize;
                let (now, later) = rest.split_at(rest.len().min(room));
                sectors.push((at, now.to_vec()));
                (at, rest) = (at + now.len() as u64, later);
            }
        }
        let mut prefix = durable.clone();
        for (index, (offset, data)) in sectors.iter().enumerate() {
            let mut alone = durable.clone();
            apply(&mut alone, *offset, data);
            states.push(alone);
            let mut without = durable.clone();
            for (other, (offset, data)) in sectors.iter().enumerate() {
                if other != index {
                    apply(&mut without, *offset, data);
                }
            }
            states.push(without);
            apply(&mut prefix, *offset, data);
            states.push(prefix.clone());
        }
        durable = prefix;
    }
    states.push(durable);
    states
}

fn columns(first: i32, count: i32) -> Vec<(&'static str, ArrayRef)> {
    let numbers = (first..first + count).collect::<Vec<_>>();
    let names = numbers.iter().map(|number| format!("entry {number}")).collect::<Vec<_>>();
    vec![
        ("number", Arc::new(Int32Array::from(numbers)) as ArrayRef),
        ("name", Arc::new(StringArray::from(names))),
    ]
}

fn arrays(columns: &[(&str, ArrayRef)]) -> Vec<ArrayRef> {
    columns.iter().map(|(_, array)| Arc::clone(array)).collect()
}

/// Makes a file with `dir/Events` and `Other`.
fn base() -> Vec<u8> {
    let (file, handle) = crate::support::writing::file();
    for (path, first) in [("dir/Events", 0), ("Other", 1000)] {
        let columns = columns(first, 100);
        let schema = arrow_schema(&columns);
        let mut table =
            TableWriter::create(&file, path, &schema, RNTupleWriteOptions::default(), &context(1))
                .unwrap();
        table.extend(&arrays(&columns)).unwrap();
        table.finish().unwrap();
    }
    file.finish().unwrap();
    handle.take()
}

fn numbers(bytes: Vec<u8>, path: &str) -> Vec<i32> {
    let arrays = read(&reader(bytes, path));
    arrays[0].as_any().downcast_ref::<Int32Array>().unwrap().values().to_vec()
}

/// Runs `change` on `old`; what it asked of the sink.
fn steps(old: &[u8], change: impl FnOnce(&Update)) -> Vec<Step> {
    let sink = Steps::default();
    let update =
        Update::over(open(old.to_vec()), Box::new(sink.clone()), FileOptions::default()).unwrap();
    change(&update);
    update.finish().unwrap();
    sink.0.lock().unwrap().clone()
}

fn append(update: &Update, path: &str, first: i32) {
    let mut table = update.append(path, RNTupleWriteOptions::default(), &context(1)).unwrap();
    table.extend(&arrays(&columns(first, 50))).unwrap();
    table.finish().unwrap();
}

/// Appends as [`append`] does, by two fill contexts.
fn append_by_contexts(update: &Update, path: &str, first: i32) {
    let options = RNTupleWriteOptions { contexts: Some(1), ..RNTupleWriteOptions::default() };
    let table = update.append(path, options, &context(1)).unwrap();
    let writer = table.into_parallel(Order::Completion, &context(1)).unwrap();
    for start in [first, first + 25] {
        let mut rows = writer.context().unwrap();
        rows.extend(&arrays(&columns(start, 25))).unwrap();
        rows.finish().unwrap();
    }
    writer.finish().unwrap();
}

/// Counts the writes into the old content.
fn inside(old: &[u8], steps: &[Step]) -> usize {
    let is_inside =
        |step: &&Step| matches!(step, Step::Write(offset, _) if *offset < old.len() as u64);
    steps.iter().filter(is_inside).count()
}

#[test]
fn a_crash_leaves_the_old_entries_or_all() {
    let old = base();
    type Append = fn(&Update, &str, i32);
    for (path, append) in
        [("dir/Events", append as Append), ("Other", append), ("dir/Events", append_by_contexts)]
    {
        let first = if path == "Other" { 1000 } else { 0 };
        let steps = steps(&old, |update| append(update, path, first + 100));
        let states = crashes(&old, &steps);
        assert!(states.len() > 10, "{}", states.len());
        let lengths: Vec<usize> = states
            .into_iter()
            .map(|state| {
                let other = if path == "Other" { "dir/Events" } else { "Other" };
                assert_eq!(numbers(state.clone(), other).len(), 100);
                let entries = numbers(state, path);
                assert_eq!(entries, (first..first + entries.len() as i32).collect::<Vec<_>>());
                entries.len()
            })
            .collect();
        assert_eq!(lengths.first(), Some(&100));
        assert_eq!(lengths.last(), Some(&150));
        assert!(lengths.iter().all(|length| [100, 150].contains(length)), "{lengths:?}");
        // Nothing but header and directory record is touched below the old end, at the top in one step.
        assert_eq!(inside(&old, &steps), if path == "Other" { 1 } else { 2 });
    }
}

/// Makes a file with the trees `dir/Events` and `Other`.
fn trees() -> Vec<u8> {
    let (file, handle) = crate::support::writing::file();
    for (path, first) in [("dir/Events", 0), ("Other", 1000)] {
        let columns = columns(first, 100);
        let options = TreeWriteOptions::default();
        let mut tree =
            TreeWriter::create(&file, path, &arrow_schema(&columns), options, &context(1)).unwrap();
        tree.extend(&arrays(&columns)).unwrap();
        tree.finish().unwrap();
    }
    file.finish().unwrap();
    handle.take()
}

/// Returns the rows of a tree.
fn rows(bytes: Vec<u8>, path: &str) -> Vec<(i32, String)> {
    let tree = ttree::Reader::open(&open(bytes), path).unwrap();
    let columns = tree.read(&["number", "name"], 0..tree.num_entries(), &context(1)).unwrap();
    let numbers = columns[0].as_primitive::<Int32Type>().values().iter().copied();
    let names = columns[1].as_binary::<i64>().iter();
    let names = names.map(|name| String::from_utf8(name.unwrap().to_vec()).unwrap());
    numbers.zip(names).collect()
}

fn expected(first: i32, count: usize) -> Vec<(i32, String)> {
    (first..).take(count).map(|number| (number, format!("entry {number}"))).collect()
}

#[test]
fn a_crash_leaves_the_old_tree_or_the_new_one() {
    let old = trees();
    for (path, first) in [("dir/Events", 0), ("Other", 1000)] {
        let steps = steps(&old, |update| {
            let options = TreeWriteOptions::default();
            let (mut tree, notes) = update.append_tree(path, options, &context(1)).unwrap();
            assert!(notes.is_empty());
            tree.extend(&arrays(&columns(first + 100, 50))).unwrap();
            tree.finish().unwrap();
        });
        let other = if path == "Other" { ("dir/Events", 0) } else { ("Other", 1000) };
        let mut lengths = Vec::new();
        for state in crashes(&old, &steps) {
            assert_eq!(rows(state.clone(), other.0), expected(other.1, 100));
            let present = rows(state, path);
            assert_eq!(present, expected(first, present.len()));
            lengths.push(present.len());
        }
        assert_eq!((lengths.first(), lengths.last()), (Some(&100), Some(&150)));
        assert!(lengths.iter().all(|length| [100, 150].contains(length)), "{lengths:?}");
        // Old baskets and the old tree stay as they are. Both directory records lie in the first sector.
        assert_eq!(inside(&old, &steps), 1);
    }
}

#[test]
fn a_crash_while_an_rntuple_is_added() {
    let old = base();
    let steps = steps(&old, |update| {
        let columns = columns(7, 5);
        let schema = arrow_schema(&columns);
        let options = RNTupleWriteOptions::default();
        let table = TableWriter::create(update.file(), "dir/New", &schema, options, &context(1));
        let mut table = table.unwrap();
        table.extend(&arrays(&columns)).unwrap();
        table.finish().unwrap();
    });
    let states = crashes(&old, &steps);
    let mut seen = [false; 2];
    for state in states {
        assert_eq!(numbers(state.clone(), "dir/Events").len(), 100);
        assert_eq!(numbers(state.clone(), "Other").len(), 100);
        let there = open(state.clone()).find("dir/New").is_ok();
        if there {
            assert_eq!(numbers(state, "dir/New"), [7, 8, 9, 10, 11]);
        }
        seen[usize::from(there)] = true;
    }
    assert_eq!(seen, [true, true]);
}

/// A crash while several directories change leaves all of them as they were, or all changed.
#[test]
fn a_crash_while_several_directories_change() {
    let all = ["Other", "dir/Events", "dir/one/E", "dir/one/deep/E", "dir/two/E", "last/E"];
    let (file, handle) = crate::support::writing::file();
    for path in all {
        let columns = columns(0, 100);
        let options = RNTupleWriteOptions::default();
        let mut table =
            TableWriter::create(&file, path, &arrow_schema(&columns), options, &context(1))
                .unwrap();
        table.extend(&arrays(&columns)).unwrap();
        table.finish().unwrap();
    }
    file.finish().unwrap();
    let old = handle.take();
    let lengths = |state: &[u8]| all.map(|path| numbers(state.to_vec(), path).len());
    for (changed, writes) in [
        (&["Other", "dir/Events"][..], 1),
        (&["Other", "dir/one/deep/E", "last/E"], 1),
        (&["dir/two/E", "last/E"], 1),
        (&["dir/one/E", "dir/two/E"], 2),
        (&["dir/one/deep/E", "dir/Events"], 2),
        (&all, 1),
    ] {
        let grow = |bytes: &[u8], first| {
            steps(bytes, |update| changed.iter().for_each(|path| append(update, path, first)))
        };
        let steps = grow(&old, 100);
        assert_eq!(inside(&old, &steps), writes, "{changed:?}");
        let after = all.map(|path| if changed.contains(&path) { 150 } else { 100 });
        let mut seen = [false; 2];
        let mut new = Vec::new();
        for state in crashes(&old, &steps) {
            let lengths = lengths(&state);
            assert!(lengths == [100; 6] || lengths == after, "{changed:?}: {lengths:?}");
            seen[usize::from(lengths == after)] = true;
            new = state;
        }
        assert_eq!(seen, [true, true], "{changed:?}");
        let is_whole = |bytes: &[u8]| {
            let file = open(bytes.to_vec());
            assert!(file.check_container().unwrap().is_empty(), "{changed:?}");
            let unlisted = file.unlisted(&file.walk().unwrap()).unwrap();
            assert!(unlisted.keys.is_empty() && unlisted.lost.is_none(), "{unlisted:?}");
        };
        is_whole(&new);
        // The moved directories move again.
        let again = crashes(&new, &grow(&new, 150)).pop().unwrap();
        assert_eq!(lengths(&again), after.map(|count| if count == 150 { 200 } else { count }));
        is_whole(&again);
    }
}

/// The key list of a directory is damaged if it has a key of another directory.
#[test]
fn a_moved_directory_has_no_keys_of_others() {
    let old = base();
    let steps = steps(&old, |update| {
        append(update, "dir/Events", 100);
        append(update, "Other", 1100);
    });
    let mut new = crashes(&old, &steps).pop().unwrap();
    let file = open(new.clone());
    let entry = file.find("dir/Events").unwrap();
    assert_ne!(entry.parent, file.find("dir").unwrap().seek);
    // The place of the directory in the key, as the list has it.
    let key = [entry.seek as u32, entry.parent as u32].map(u32::to_be_bytes).concat();
    let list = new.windows(8).rposition(|bytes| bytes == key).unwrap();
    let other = file.find("Other").unwrap().seek as u32;
    new[list + 4..list + 8].copy_from_slice(&other.to_be_bytes());
    let problems = open(new).check_container().unwrap();
    assert!(problems[0].to_string().contains("says that it is in a directory at byte"));
}

/// A directory record on the border of two sectors is written anew.
#[test]
fn directory_records_across_two_sectors() {
    const RECORD: u64 = 60;
    let made = |length: usize| {
        let (file, handle) = crate::support::writing::file();
        for path in [format!("{}/A", "n".repeat(length)), "dir/Events".to_owned()] {
            let columns = columns(0, 10);
            let schema = arrow_schema(&columns);
            let options = RNTupleWriteOptions::default();
            let mut table =
                TableWriter::create(&file, &path, &schema, options, &context(1)).unwrap();
            table.extend(&arrays(&columns)).unwrap();
            table.finish().unwrap();
        }
        file.finish().unwrap();
        let bytes = handle.take();
        let entry = open(bytes.clone()).find("dir").unwrap();
        (bytes, entry.seek + u64::from(entry.keylen))
    };
    let (_, first) = made(1);
    let mut moved = 0;
    for place in [SECTOR - RECORD - 2, SECTOR - RECORD + 2, SECTOR - 30, SECTOR - 2, 2] {
        // The name and the title of the other directory lie before the record.
        let longer = (place + 2 * SECTOR - first % SECTOR) % SECTOR / 2;
        let (old, record) = made(1 + longer as usize);
        assert!((record % SECTOR).abs_diff(place) <= 1, "{record} {place}");
        let is_across = record / SECTOR != (record + RECORD - 1) / SECTOR;
        moved += i32::from(is_across);
        let steps = steps(&old, |update| append(update, "dir/Events", 10));
        assert_eq!(inside(&old, &steps), if is_across { 1 } else { 2 }, "{record}");
        for state in crashes(&old, &steps) {
            assert!([10, 60].contains(&numbers(state, "dir/Events").len()));
        }
    }
    assert_eq!(moved, 3);
}

#[test]
fn many_appends_one_after_the_other() {
    let mut bytes = base();
    for round in 0..5 {
        let steps = steps(&bytes, |update| append(update, "dir/Events", 100 + 50 * round));
        bytes = crashes(&bytes, &steps).pop().unwrap();
        let expected = (0..150 + 50 * round).collect::<Vec<_>>();
        assert_eq!(numbers(bytes.clone(), "dir/Events"), expected);
    }
    let reader = reader(bytes.clone(), "dir/Events");
    assert_eq!(reader.footer().cluster_groups.len(), 6);
    let report = nyssa_rntuple::read::verify(&reader, &context(2)).unwrap();
    assert_eq!(report.problems, []);
    let keys = open(bytes).walk().unwrap();
    let paths: Vec<_> = keys.iter().map(|key| format!("{};{}", key.path, key.cycle)).collect();
    assert_eq!(paths, ["dir;1", "dir/Events;1", "Other;1"]);
}

#[test]
fn without_changes_nothing_is_written() {
    assert!(steps(&base(), |_| {}).iter().all(|step| matches!(step, Step::Sync)));
}

#[test]
fn names_that_are_taken() {
    let update =
        Update::over(open(base()), Box::new(Steps::default()), FileOptions::default()).unwrap();
    let schema = arrow_schema(&columns(0, 1));
    for path in ["Other", "dir/Events", "dir"] {
        let new = TableWriter::create(
            update.file(),
            path,
            &schema,
            RNTupleWriteOptions::default(),
            &context(1),
        );
        let error = new.err().unwrap();
        assert_eq!(error.kind(), Kind::InvalidArgument);
        assert_eq!(error.message(), format!("the file already has a {path}"));
    }
    let _first = update.append("Other", RNTupleWriteOptions::default(), &context(1)).unwrap();
    let error = update.append("Other", RNTupleWriteOptions::default(), &context(1)).err().unwrap();
    assert_eq!(error.message(), "Other is being written already");
    let error = update.append("other", RNTupleWriteOptions::default(), &context(1)).err().unwrap();
    assert_eq!(error.kind(), Kind::NotFound);
}

#[test]
fn local_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.root");
    let old = base();
    std::fs::write(&path, &old).unwrap();
    // Given up: the file is as before.
    let update = Update::open(&path, FileOptions::default()).unwrap();
    append(&update, "Other", 1100);
    append_by_contexts(&update, "dir/Events", 100);
    let locked = Update::open(&path, FileOptions::default()).err().unwrap();
    assert!(locked.to_string().contains("another program is writing to it"), "{locked}");
    drop(update);
    assert_eq!(std::fs::read(&path).unwrap(), old);
    // Changed meanwhile: refused, and what the other program wrote stays.
    let update = Update::open(&path, FileOptions::default()).unwrap();
    append(&update, "Other", 1100);
    let mut changed = old.clone();
    changed[50] ^= 1;
    let mut other = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::io::Write::write_all(&mut other, &changed[..100]).unwrap();
    let error = update.finish().unwrap_err();
    assert!(error.to_string().contains("another program has changed it"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), changed);
    // Added to meanwhile, by a program that has not come to the header yet.
    std::fs::write(&path, &old).unwrap();
    let update = Update::open(&path, FileOptions::default()).unwrap();
    append(&update, "Other", 1100);
    let longer = [&old[..], &[0xCD; 5000]].concat();
    std::fs::write(&path, &longer).unwrap();
    let error = update.finish().unwrap_err();
    assert!(error.to_string().contains("another program has changed it"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), longer);
    // Done.
    std::fs::write(&path, &old).unwrap();
    let update = Update::open(&path, FileOptions::default()).unwrap();
    append(&update, "Other", 1100);
    append_by_contexts(&update, "dir/Events", 100);
    let size = update.finish().unwrap();
    assert_eq!(size, std::fs::metadata(&path).unwrap().len());
    assert_eq!(numbers(std::fs::read(&path).unwrap(), "Other").len(), 150);
    assert_eq!(numbers(std::fs::read(&path).unwrap(), "dir/Events"), (0..150).collect::<Vec<_>>());
    // Junk behind the end, as a crash leaves it, is overwritten.
    let mut junk = old.clone();
    junk.extend(vec![0xAB; 100_000]);
    std::fs::write(&path, &junk).unwrap();
    let update = Update::open(&path, FileOptions::default()).unwrap();
    append(&update, "Other", 1100);
    let end = update.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(RootFile::open(nyssa_io::update(&path).unwrap().source).unwrap().header().end, end);
    assert_eq!(numbers(bytes, "Other").len(), 150);
}
