//! Kills processes that share a cache at random moments. No other process may read wrong bytes.

#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
#![cfg(unix)]

use std::env;
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nyssa_io::MemorySource;
use nyssa_io::cache::{Cache, CacheOptions, Form, UnpackedPage};

/// The test, which the processes that are killed run, too.
const TEST: &str = "no_process_reads_wrong_bytes_when_others_are_killed";
/// The environment variable with the cache folder of the processes that are killed.
const FOLDER: &str = "NYSSA_TEST_CACHE_FOLDER";
/// Gives the limit of the cache to them.
const LIMIT: &str = "NYSSA_TEST_CACHE_LIMIT";
/// Changes the number of kills.
const KILLS: &str = "NYSSA_TEST_CACHE_KILLS";
/// The number of kills of one run of the tests.
const FEW_KILLS: u64 = 40;
const PROCESSES: usize = 8;
const RESOURCES: u64 = 6;
const SIZE: u64 = 1_000_000;

/// Makes random numbers.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Self(now.as_nanos() as u64 ^ u64::from(std::process::id()) << 32)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn content(resource: u64) -> Vec<u8> {
    let word = |i: u32| (i.wrapping_mul(2_654_435_761) >> 5) ^ (resource as u32) << 28;
    (0..SIZE as u32 / 4).flat_map(|i| word(i).to_le_bytes()).collect()
}

fn url(resource: u64) -> String {
    format!("https://host/{resource}.root")
}

fn page(resource: u64, range: &Range<u64>) -> Vec<u8> {
    format!("{resource} {range:?} ").repeat((range.end - range.start) as usize / 10).into_bytes()
}

fn cache(folder: &Path, limit: Option<u64>) -> Cache {
    let mut options = CacheOptions::default();
    options.limit = limit;
    options.form = Form::Raw;
    Cache::open(folder, options).unwrap()
}

/// Reads random ranges and unpacked forms of a resource. Panics if one of them is wrong.
fn read(cache: &Cache, resource: u64, content: &[u8], random: &mut Random) {
    let origin = Arc::new(MemorySource::new(url(resource), content.to_vec()));
    let source = cache.source(&url(resource), origin);
    for _ in 0..10 {
        let mut range = || {
            let start = random.below(SIZE);
            start..(start + 1 + random.below(100_000)).min(SIZE)
        };
        let ranges = [range(), range(), range()];
        let bytes = source.read_ranges(&ranges).unwrap();
        for (range, bytes) in ranges.iter().zip(bytes) {
            assert!(bytes == content[range.start as usize..range.end as usize], "{range:?}");
        }
        let start = random.below(SIZE / 10_000) * 10_000;
        let range = start..start + 10_000;
        let unpacked = source.unpacked().unwrap();
        let expected = page(resource, &range);
        match unpacked.read(std::slice::from_ref(&range)).pop().unwrap() {
            Some(page) => assert!(page.bytes == expected, "unpacked {range:?}"),
            None => {
                let size = expected.len() as u64;
                let page = UnpackedPage { form: Form::Raw, size, bytes: expected.into() };
                unpacked.keep(vec![(range, page)]);
            }
        }
    }
}

/// Reads until this process is killed.
fn read_until_killed(folder: &str) -> ! {
    let limit = env::var(LIMIT).ok().map(|limit| limit.parse().unwrap());
    let contents: Vec<Vec<u8>> = (0..RESOURCES).map(content).collect();
    let mut random = Random::new();
    let cache = cache(folder.as_ref(), limit);
    loop {
        let resource = random.below(RESOURCES);
        read(&cache, resource, &contents[resource as usize], &mut random);
    }
}

/// Starts a process that runs the same test with a folder, and so reads until it is killed.
fn start(folder: &Path, limit: Option<u64>) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", TEST, "--nocapture"]).env(FOLDER, folder);
    if let Some(limit) = limit {
        command.env(LIMIT, limit.to_string());
    }
    // The message of a process that reads wrong bytes is shown.
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// Kills processes one after the other and starts others. Returns the number of processes that read wrong bytes.
fn kill(folder: &Path, limit: Option<u64>, kills: u64) -> u64 {
    let mut random = Random::new();
    let mut wrong = 0;
    let mut processes: Vec<Child> = (0..PROCESSES).map(|_| start(folder, limit)).collect();
    let end = Instant::now() + Duration::from_secs(60);
    while Cache::find(folder).map_or(true, |cache| cache.report().unwrap().resources.is_empty()) {
        assert!(Instant::now() < end, "no process has added anything");
        std::thread::sleep(Duration::from_millis(10));
    }
    for number in 0..kills {
        std::thread::sleep(Duration::from_millis(random.below(40)));
        // The bytes are removed from time to time, so that there is always something to add.
        if number % 50 == 25 {
            cache(folder, None).clear(|_| true).unwrap();
        }
        let index = random.below(PROCESSES as u64) as usize;
        let mut process = std::mem::replace(&mut processes[index], start(folder, limit));
        wrong += u64::from(process.try_wait().unwrap().is_some());
        process.kill().unwrap();
        process.wait().unwrap();
    }
    for mut process in processes {
        wrong += u64::from(process.try_wait().unwrap().is_some());
        process.kill().unwrap();
        process.wait().unwrap();
    }
    wrong
}

#[test]
fn no_process_reads_wrong_bytes_when_others_are_killed() {
    if let Ok(folder) = env::var(FOLDER) {
        read_until_killed(&folder);
    }
    let kills = env::var(KILLS).map_or(FEW_KILLS, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    for limit in [None, Some(4_000_000)] {
        assert_eq!(kill(folder.path(), limit, kills / 2), 0, "limit {limit:?}");
        let cache = cache(folder.path(), None);
        let report = cache.verify().unwrap();
        // Below a limit, processes may have removed what the others had.
        assert!(limit.is_some() || !report.is_empty());
        for resource in &report {
            assert_eq!((resource.damaged_blocks, resource.damaged_records), (0, 0), "{resource:?}");
        }
        println!(
            "{} resources, {} bytes",
            report.len(),
            report.iter().map(|resource| resource.bytes).sum::<u64>()
        );
        let mut random = Random::new();
        for resource in 0..RESOURCES {
            read(&cache, resource, &content(resource), &mut random);
        }
    }
}
