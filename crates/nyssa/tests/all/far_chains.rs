//! Chains of files behind a network: many are opened and read at the same time, and few are open.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use bytes::Bytes;
use nyssa_data::Dataset;
use nyssa_data::dataset::AnyDataset;
use nyssa_data::dataset::steps::{InputPart, Parts, StepSize, Steps};
use nyssa_data::view::{Chain, ChainOptions, Link, MAX_OPEN};
use nyssa_io::testing::{Observed, SlowSource, serve};
use nyssa_io::{Limits, MemorySource, OpenOptions, Result, Source};
use nyssa_jobs::open::{files, link, open_dataset};
use nyssa_root::Error;
use nyssa_root::error::Kind;
use nyssa_root::rootfile::RootFile;

use crate::round_trips::{context, far, name, ntuple};

const FILES: usize = 64;
/// The number of files of different values.
const CONTENTS: usize = 5;

fn contents() -> Vec<Bytes> {
    (0..CONTENTS).map(|cluster| ntuple(cluster..cluster + 1).into()).collect()
}

fn chain(links: Vec<Link>) -> nyssa_root::Result<Chain> {
    Chain::new(links, &ChainOptions::default(), &context())
}

fn opened(source: Arc<dyn Source>) -> nyssa_root::Result<AnyDataset> {
    open_dataset(&RootFile::open(source)?, None)
}

/// Returns the same chain in memory.
fn near(contents: &[Bytes]) -> Chain {
    let link = |file: usize| {
        let bytes = contents[file % CONTENTS].clone();
        Link::new("near.root", move || opened(Arc::new(MemorySource::new("n", bytes.clone()))))
    };
    chain((0..FILES).map(link).collect()).unwrap()
}

/// Ten columns of two chains are equal.
fn check_values(first: &Chain, other: &Chain) {
    let names: Vec<String> = (0..100).step_by(10).map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let read = |chain: &Chain| chain.read(&names, 0..chain.num_entries(), &context()).unwrap();
    assert_eq!(first.num_entries(), (FILES * 2_000) as u64);
    assert!(read(first) == read(other));
}

#[test]
fn files_of_urls_are_opened_and_read_together() {
    let contents = contents();
    let latency = Duration::from_millis(50);
    let limits = far(1024);
    let limits = Limits { cost: nyssa_io::Cost { latency, ..limits.cost }, ..limits };
    let network = SlowSource::new(Arc::new(MemorySource::new("test://unused", "")), limits);
    for file in 0..FILES {
        let url = format!("test://far_chains/{file:02}.root");
        let bytes = contents[file % CONTENTS].clone();
        serve(Arc::new(network.beside(Arc::new(MemorySource::new(url, bytes)))));
    }
    let urls = files("test://far_chains/*.root").unwrap();
    let far =
        chain(urls.into_iter().map(|url| link(url, &OpenOptions::default())).collect()).unwrap();
    let seen = network.observed();
    // One at a time would be as many round trips as requests, two at a time half as many.
    assert!((FILES..=3 * FILES).contains(&seen.requests), "{seen:?}");
    assert!(seen.in_flight >= 12 && 4 * seen.round_trips <= seen.requests, "{seen:?}");

    network.reset();
    check_values(&far, &near(&contents));
    let seen = network.observed();
    let closed = FILES - MAX_OPEN;
    assert!((FILES + closed..=2 * FILES + 3 * closed).contains(&seen.requests), "{seen:?}");
    assert!(seen.in_flight >= 12 && 4 * seen.round_trips <= seen.requests, "{seen:?}");
}

/// The number of open files, and the list of the files that were opened.
#[derive(Default)]
struct Count {
    open: AtomicUsize,
    most: AtomicUsize,
    opened: Mutex<BTreeSet<usize>>,
}

impl Count {
    fn add(&self, file: usize) {
        // A thread that has fetched the last bytes of a file may hold the file for a moment.
        for _ in 0..1_000 {
            if self.open.load(Ordering::SeqCst) < MAX_OPEN {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(open, Ordering::SeqCst);
        self.opened.lock().unwrap().insert(file);
    }
}

/// A source that is counted as long as it is open.
struct Counted(SlowSource, Arc<Count>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Source for Counted {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn limits(&self) -> Limits {
        self.0.limits()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.read_ranges(ranges)
    }
}

fn counted(contents: &[Bytes], count: &Arc<Count>) -> Vec<Link> {
    let link = |file: usize| {
        let (bytes, count) = (contents[file % CONTENTS].clone(), Arc::clone(count));
        let open = move || {
            count.add(file);
            let bytes = Arc::new(MemorySource::new("far.root", bytes.clone()));
            opened(Arc::new(Counted(SlowSource::new(bytes, far(1024)), Arc::clone(&count))))
        };
        Link::new(format!("{file}.root"), open).with_remote(true)
    };
    (0..FILES).map(link).collect()
}

#[test]
fn few_files_are_open_at_the_same_time() {
    let contents = contents();
    let count = Arc::new(Count::default());
    let far = chain(counted(&contents, &count)).unwrap();
    assert_eq!(count.open.load(Ordering::SeqCst), MAX_OPEN);
    check_values(&far, &near(&contents));
    assert_eq!(count.most.load(Ordering::SeqCst), MAX_OPEN);
    assert_eq!(count.opened.lock().unwrap().len(), FILES);
    drop(far);
}

#[test]
fn an_error_names_its_file_and_stops_the_rest() {
    let contents = contents();
    let count = Arc::new(Count::default());
    let mut links = counted(&contents, &count);
    links[37] = Link::new("37.root", || Err(Error::not_found("nothing is here"))).with_remote(true);
    let error = chain(links).err().unwrap();
    assert_eq!(error.kind(), Kind::NotFound);
    assert_eq!(error.to_string(), "nothing is here (file 37.root)");
    let opened = count.opened.lock().unwrap();
    // Those that were begun before it, and about at the same time; not the first ones, which come last.
    assert!(opened.iter().all(|file| (MAX_OPEN..FILES - 8).contains(file)), "{opened:?}");
}

/// While the last entries of a file are read, the next ones are opened, and their first entries are read.
#[test]
fn steps_read_the_next_files_ahead() {
    let contents = contents();
    let near = near(&contents);
    // A step for each file, several steps, steps by memory, and so little memory that only the next file is opened.
    let most = 3 * FILES / 4;
    for (size, most) in [
        (StepSize::Entries(2_000), most),
        (StepSize::Entries(300), most),
        (StepSize::Cluster, most),
        (StepSize::Memory(20_000_000), most),
        (StepSize::Memory(200_000), 10 * FILES),
    ] {
        // On a machine with other work, a thread may begin a request so late that others have ended. With a longer delay
        // it does not, unless the request has to wait for them.
        let mut delays = [20, 100, 500].into_iter().map(Duration::from_millis);
        let mut seen = Observed::default();
        let is_ahead = delays.any(|delay| {
            seen = steps_of(&contents, &near, size, delay);
            // One file after the other would be two round trips for each; with the next one opened ahead, one.
            seen.round_trips <= most
        });
        assert!(is_ahead, "{size:?} {seen:?}");
    }
}

/// Reads ten columns of all files in steps, and checks the values. A request takes `delay`.
fn steps_of(contents: &[Bytes], near: &Chain, size: StepSize, delay: Duration) -> Observed {
    let names: Vec<String> = (0..100).step_by(10).map(name).collect();
    let network = SlowSource::new(Arc::new(MemorySource::new("test://unused", "")), far(1024));
    let network = Arc::new(network.with_delay(delay));
    let count = Arc::new(Count::default());
    let (bytes, files, opens) = (contents.to_vec(), Arc::clone(&network), Arc::clone(&count));
    let parts: Parts = Arc::new(move |number, _, _| {
        if number == FILES {
            return Ok(None);
        }
        let file: Arc<str> = format!("test://far_steps/{number:02}.root").into();
        opens.add(number);
        let source = MemorySource::new(&*file, bytes[number % CONTENTS].clone());
        let source = Counted(files.beside(Arc::new(source)), Arc::clone(&opens));
        let dataset = opened(Arc::new(source))?;
        let entries = 0..dataset.num_entries();
        Ok(Some(InputPart { dataset, entries, origin: 0, file, shown: None }))
    });
    let finish = Arc::new(|_: &[FieldRef], arrays: Vec<ArrayRef>, _, _: &nyssa_root::Context| {
        Ok((arrays, 0))
    });
    let mut steps = Steps::new(parts, names.clone(), false, size, finish, Arc::default());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut all = Vec::new();
    while let Some(step) = steps.next(&context()).unwrap() {
        steps.prepare(&context()).unwrap();
        all.push((step.entries.end - step.entries.start, step.data));
    }
    let mut entry = 0;
    for (entries, arrays) in all {
        let entries = entry..entry + entries;
        assert!(arrays == near.read(&names, entries.clone(), &context()).unwrap());
        entry = entries.end;
    }
    assert_eq!(entry, near.num_entries());
    let seen = network.observed();
    assert!(seen.requests >= 2 * FILES, "{size:?} {seen:?}");
    assert!(count.most.load(Ordering::SeqCst) <= MAX_OPEN, "{size:?}");
    seen
}

/// What was read before an error in a later file is not lost.
#[test]
fn an_error_of_the_next_files_comes_in_its_turn() {
    let contents = contents();
    let parts: Parts = Arc::new(move |number, _, _| {
        if number == 7 {
            return Err(Error::not_found("nothing is here"));
        }
        let file: Arc<str> = format!("test://far_errors/{number}.root").into();
        let source = Arc::new(MemorySource::new(&*file, contents[number % CONTENTS].clone()));
        let dataset = opened(Arc::new(SlowSource::new(source, far(1024))))?;
        let entries = 0..dataset.num_entries();
        Ok(Some(InputPart { dataset, entries, origin: 0, file, shown: None }))
    });
    let finish =
        Arc::new(|_: &[FieldRef], _: Vec<ArrayRef>, _, _: &nyssa_root::Context| Ok(((), 0)));
    let size = StepSize::Entries(2_000);
    let mut steps = Steps::new(parts, vec![name(0)], false, size, finish, Arc::default());
    for number in 0..7 {
        let step = steps.next(&context()).unwrap().unwrap();
        assert_eq!(&*step.file, format!("test://far_errors/{number}.root"));
    }
    assert_eq!(steps.next(&context()).err().unwrap().to_string(), "nothing is here");
    assert!(steps.next(&context()).unwrap().is_none());
}
