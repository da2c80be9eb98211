//! Tests the cache: the bytes that it stores and fetches, and files that are damaged, removed or full.

use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use nyssa_io::cache::{Cache, CacheOptions, Form, UnpackedPage};
use nyssa_io::testing::{RecordingSource, check_closed, check_source, content};
use nyssa_io::{Cost, Limits, MemorySource, Result, Source};

const URL: &str = "https://host/file.root";

/// A remote resource with a version.
struct Origin {
    source: MemorySource,
    version: Option<String>,
    limits: Limits,
}

impl Source for Origin {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn size(&self) -> u64 {
        self.source.size()
    }

    fn version(&self) -> Option<String> {
        self.version.clone()
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        assert!(ranges.len() <= self.limits.max_ranges, "{} ranges", ranges.len());
        self.source.read_ranges(ranges)
    }
}

/// The limits of a server that is 10 ms away and sends 1 MB/s, so that gaps of up to 10 bytes are read over.
const FAR: Limits = Limits {
    max_ranges: 1000,
    max_range_bytes: 1 << 20,
    concurrency: 1,
    cost: Cost { latency: Duration::from_millis(10), range: Duration::ZERO, bandwidth: 1_000_000 },
    ..Limits::NONE
};

fn origin_with(data: &[u8], version: Option<&str>, limits: Limits) -> Arc<RecordingSource> {
    let source = MemorySource::new(URL, data.to_vec());
    let origin = Origin { source, version: version.map(str::to_owned), limits };
    Arc::new(RecordingSource::new(Arc::new(origin)))
}

fn origin() -> Arc<RecordingSource> {
    origin_with(&content(), Some("ETag 1"), FAR)
}

fn cache(folder: &Path) -> Cache {
    Cache::open(folder, CacheOptions::default()).unwrap()
}

fn limited(folder: &Path, limit: u64) -> Cache {
    let mut options = CacheOptions::default();
    options.limit = Some(limit);
    Cache::open(folder, options).unwrap()
}

/// Returns the folders of the resources in a cache.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = all.filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let entries = entries(folder);
    assert_eq!(entries.len(), 1);
    entries[0].join(name)
}

fn flip(path: &Path, place: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[place] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn check(source: &Arc<dyn Source>, ranges: &[Range<u64>]) {
    let content = content();
    let expected: Vec<_> =
        ranges.iter().map(|range| &content[range.start as usize..range.end as usize]).collect();
    assert_eq!(source.read_ranges(ranges).unwrap(), expected);
}

#[test]
fn a_cached_source_keeps_the_promises_of_sources() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    for _ in ["cold", "warm"] {
        let source = cache.source(URL, origin());
        check_source(&source);
        check_closed(&source, false);
    }
}

#[test]
fn what_was_read_is_not_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    let ranges = [100_000..400_000, 5..5, 7..20];
    let cold = origin();
    check(&cache(folder.path()).source(URL, cold.clone()), &ranges);
    assert_eq!(cold.trace(), [[100_000..400_000, 7..20]]);

    let warm = origin();
    let source = cache(folder.path()).source(URL, warm.clone());
    assert_eq!(source.limits(), FAR);
    assert_eq!(source.limits_of(&[vec![7..20, 100_000..400_000]]), Limits::NONE);
    assert_eq!(source.limits_of(&[vec![7..21]]), FAR);
    check(&source, &ranges);
    check(&source, &[150_000..399_999, 8..9]);
    assert!(warm.trace().is_empty());
}

/// Tests a folder on a disk, because only such a file system can remove bytes from its memory.
#[test]
#[cfg(target_os = "linux")]
fn bytes_that_are_on_a_disk_are_read_by_several_requests() {
    use rustix::fs::{Advice, fadvise};
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let origin = origin();
    let source = cache(folder.path()).source(URL, origin.clone());
    check(&source, &[0..1_200_000]);
    let plan = [vec![100..500_000, 600_000..1_100_000]];
    assert_eq!(source.limits_of(&plan), Limits::NONE);
    let data = fs::File::open(file_of(folder.path(), "data")).unwrap();
    data.sync_all().unwrap();
    // A busy system may keep the bytes for a moment.
    let evicted = || {
        fadvise(&data, 0, None, Advice::DontNeed).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
        source.limits_of(&plan)
    };
    let limits = std::iter::repeat_with(evicted).take(200).find(|limits| !limits.is_near());
    let limits = limits.expect("the system removes the bytes from its memory");
    assert_eq!(limits.concurrency, 8, "{limits:?}");
    assert_eq!(limits.coalesce_gap(), 0);
    origin.reset();
    check(&source, &plan[0]);
    assert!(origin.trace().is_empty());
}

#[test]
fn ranges_found_in_part_are_completed_by_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let origin = origin();
    let source = cache(folder.path()).source(URL, origin.clone());
    check(&source, &[1000..2000, 3000..3005, 5000..6000]);
    origin.reset();
    // The 5 bytes between two missing parts are cheaper to read than to skip.
    check(&source, &[500..4000, 5500..7000, 5200..5300]);
    assert_eq!(origin.trace(), [vec![500..1000, 2000..4000, 6000..7000]]);
    origin.reset();
    check(&source, &[500..4000, 5000..7000]);
    assert!(origin.trace().is_empty());
}

#[test]
fn a_source_of_few_ranges_gets_no_more_than_it_takes() {
    for (max_ranges, expected) in [
        (1, vec![500..8000]),
        (2, vec![500..3500, 6000..8000]),
        (3, vec![500..1000, 2000..3500, 6000..8000]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // Gaps of ten bytes and less are read over.
        let cost = Cost { bandwidth: 1000, ..FAR.cost };
        let limits = Limits { max_ranges, cost, ..FAR };
        let origin = origin_with(&content(), None, limits);
        let source = cache(folder.path()).source(URL, origin.clone());
        for range in [1000..2000, 3500..6000] {
            check(&source, &[range]);
        }
        origin.reset();
        check(&source, &[500..8000]);
        assert_eq!(origin.trace(), [expected], "{max_ranges} ranges");
    }
    // More ranges are missing than were requested together: everything had been there.
    let folder = tempfile::tempdir().unwrap();
    let origin = origin_with(&content(), None, Limits { max_ranges: 1, ..FAR });
    let source = cache(folder.path()).source(URL, origin.clone());
    check(&source, &[100..200, 500_000..500_100]);
    assert_eq!(origin.counters().ranges, 2);
}

#[test]
fn two_readers_share_what_each_has_read() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (origin(), origin());
    let cached = cache(folder.path()).source(URL, first.clone());
    let other = cache(folder.path()).source(URL, second.clone());
    check(&cached, &[0..100_000]);
    check(&other, &[0..200_000]);
    check(&cached, &[50_000..200_000]);
    assert_eq!(first.trace(), [[0..100_000]]);
    assert_eq!(second.trace(), [[100_000..200_000]]);
    assert_eq!(fs::metadata(file_of(folder.path(), "data")).unwrap().len(), 200_000);
}

#[test]
fn a_flipped_byte_of_the_data_is_fetched_anew() {
    let folder = tempfile::tempdir().unwrap();
    check(&cache(folder.path()).source(URL, origin()), &[0..300_000]);
    flip(&file_of(folder.path(), "data"), 70_000);
    let report = cache(folder.path()).verify().unwrap();
    assert_eq!((report.len(), report[0].damaged_blocks, report[0].damaged_records), (1, 1, 0));
    assert!(!report[0].is_sound());

    let origin = origin();
    let source = cache(folder.path()).source(URL, origin.clone());
    check(&source, &[60_000..75_000, 200_000..200_010]);
    check(&source, &[0..300_000]);
    // The second block of 64 KiB is damaged; 60,000 to 65,536 are in the first.
    assert_eq!(origin.trace(), [vec![65_536..75_000], vec![75_000..131_072]]);
    let report = cache(folder.path()).verify().unwrap();
    assert!(report[0].is_sound(), "{report:?}");
    assert_eq!(report[0].name, URL);
}

#[test]
fn a_flipped_byte_of_the_index_is_fetched_anew() {
    let folder = tempfile::tempdir().unwrap();
    check(&cache(folder.path()).source(URL, origin()), &[0..300_000]);
    flip(&file_of(folder.path(), "index"), 64 + 9);
    let origin = origin();
    let source = cache(folder.path()).source(URL, origin.clone());
    check(&source, &[0..300_000]);
    assert_eq!(origin.trace(), [[65_536..131_072]]);
    let report = cache(folder.path()).verify().unwrap();
    assert_eq!((report[0].damaged_blocks, report[0].damaged_records), (0, 1));
}

#[test]
fn a_data_file_that_was_cut_is_fetched_anew() {
    let folder = tempfile::tempdir().unwrap();
    check(&cache(folder.path()).source(URL, origin()), &[0..200_000]);
    let data = fs::OpenOptions::new().write(true).open(file_of(folder.path(), "data")).unwrap();
    data.set_len(150_000).unwrap();
    let origin = origin();
    check(&cache(folder.path()).source(URL, origin.clone()), &[0..200_000]);
    assert_eq!(origin.counters().requests, 1);
    assert!(cache(folder.path()).verify().unwrap()[0].is_sound());
}

#[test]
fn a_record_that_was_not_completed_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    check(&cache(folder.path()).source(URL, origin()), &[0..1000]);
    let index = file_of(folder.path(), "index");
    let mut bytes = fs::read(&index).unwrap();
    let record = bytes.clone();
    bytes.extend_from_slice(&record[..63]);
    fs::write(&index, bytes).unwrap();
    let source = cache(folder.path()).source(URL, origin());
    check(&source, &[0..1000]);
    check(&source, &[5000..6000]);
    assert_eq!(fs::metadata(&index).unwrap().len(), 128);
    let origin = origin();
    check(&cache(folder.path()).source(URL, origin.clone()), &[0..1000, 5000..6000]);
    assert!(origin.trace().is_empty());
}

#[test]
fn a_resource_that_has_changed_is_another_resource() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    let bytes = vec![1; 1000];
    let all = [
        origin_with(&bytes, Some("ETag 1"), FAR),
        origin_with(&[2; 1000], Some("ETag 2"), FAR),
        origin_with(&[3; 1001], Some("ETag 2"), FAR),
        origin_with(&[4; 1000], None, FAR),
    ];
    for (number, origin) in all.iter().enumerate() {
        let read = cache.source(URL, origin.clone()).read_range(0..1000).unwrap();
        assert_eq!(read, vec![number as u8 + 1; 1000]);
    }
    // Users, passwords, tokens and signatures do not make another resource.
    let again = origin_with(&bytes, Some("ETag 1"), FAR);
    let url = "https://me:secret@HOST/file.root?X-Amz-Signature=5&authz=token";
    assert_eq!(cache.source(url, again.clone()).read_range(0..1000).unwrap(), bytes);
    assert!(again.trace().is_empty());
    let report = cache.report().unwrap();
    assert_eq!(report.resources.len(), 4);
    assert!(report.resources.iter().all(|resource| resource.url.as_deref() == Some(URL)));
    for entry in entries(folder.path()) {
        let about = fs::read_to_string(entry.join("about.json")).unwrap();
        assert!(!about.contains("secret") && !about.contains("token"), "{about}");
    }
}

#[test]
fn damaged_descriptions_and_foreign_folders() {
    let folder = tempfile::tempdir().unwrap();
    check(&cache(folder.path()).source(URL, origin()), &[0..1000]);
    let about = file_of(folder.path(), "about.json");
    let text = fs::read_to_string(&about).unwrap();
    fs::write(&about, &text[..10]).unwrap();
    let report = cache(folder.path()).verify().unwrap();
    assert!(report[0].is_unknown && !report[0].is_sound());
    // The next process that opens the resource writes the file again.
    let known = origin();
    check(&cache(folder.path()).source(URL, known.clone()), &[0..1000]);
    assert!(known.trace().is_empty());
    assert_eq!(fs::read_to_string(&about).unwrap(), text);
    // The description of another resource in this folder: nothing of it is used.
    fs::write(&about, text.replace("file.root", "else.root")).unwrap();
    let other = origin();
    check(&cache(folder.path()).source(URL, other.clone()), &[0..1000]);
    assert_eq!(other.trace(), [[0..1000]]);
}

#[test]
fn what_was_not_used_for_longest_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let url = |number: u64| format!("https://host/{number}.root");
    let cache = limited(folder.path(), 1_020_000);
    let mut held = Vec::new();
    for number in 0..3 {
        let source = cache.source(&url(number), origin());
        check(&source, &[0..300_000]);
        held.push(source);
        let about = entries(folder.path()).into_iter().map(|entry| entry.join("about.json"));
        // All that is there is one hour older than what comes next.
        for about in about {
            let file = fs::OpenOptions::new().write(true).open(about).unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            file.set_modified(modified - Duration::from_secs(3600)).unwrap();
        }
    }
    // The first is used again; the second goes.
    let first = origin();
    check(&cache.source(&url(0), first.clone()), &[0..300_000]);
    assert!(first.trace().is_empty());
    check(&cache.source(&url(3), origin()), &[0..300_000]);
    let report = cache.report().unwrap();
    let mut urls: Vec<_> =
        report.resources.iter().map(|resource| resource.url.clone().unwrap()).collect();
    urls.sort();
    assert_eq!(urls, [url(0), url(2), url(3)]);
    assert!(report.resources.iter().map(|resource| resource.disk_bytes).sum::<u64>() <= 1_020_000);
    // A reader with an open resource continues after the removal, and stores what it reads in a new folder.
    #[cfg(unix)]
    check(&held[1], &[0..300_000]);
    check(&held[1], &[300_000..310_000]);
    check(&held[1], &[310_000..320_000]);
    assert_eq!(entries(folder.path()).len(), 4);
    // One resource does not take more than the limit.
    let large = origin();
    let source = cache.source("https://host/large.root", large.clone());
    for start in (0..1_200_000).step_by(100_000) {
        check(&source, &[start..start + 100_000]);
    }
    let report = cache.report().unwrap();
    assert!(report.resources.iter().map(|resource| resource.disk_bytes).sum::<u64>() <= 1_020_000);
    assert!(report.resources[0].stored_bytes >= 800_000, "{:?}", report.resources[0]);
}

#[test]
fn folders_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| Cache::open(path, CacheOptions::default()).unwrap_err();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    let error = open(&file);
    let expected = format!("cannot use the cache folder {}: it is not a folder", file.display());
    assert_eq!(error.to_string(), expected);
    let error = open(&file.join("below"));
    assert_eq!(error.source.kind(), ErrorKind::NotADirectory, "{error}");
    let error = open(folder.path());
    let expected = format!(
        "cannot use the cache folder {}: it has other files, such as file; name an empty folder",
        folder.path().display()
    );
    assert_eq!(error.to_string(), expected);
    let error = Cache::find(folder.path()).unwrap_err();
    assert!(error.to_string().ends_with(": it is not a cache of nyssa"), "{error}");

    let later = folder.path().join("later");
    fs::create_dir(&later).unwrap();
    fs::write(later.join("nyssa-cache.json"), "{\"format\": 2}").unwrap();
    let error = open(&later);
    let why = ": its format is 2, which this version of nyssa does not know; name another folder";
    assert!(error.to_string().ends_with(why), "{error}");
    fs::write(later.join("nyssa-cache.json"), "{").unwrap();
    let why = ": its file nyssa-cache.json is damaged; remove the folder";
    assert!(open(&later).to_string().ends_with(why));
}

#[test]
fn resources_are_removed_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    for name in ["a", "b"] {
        check(&cache.source(&format!("https://host/{name}.root"), origin()), &[0..1000]);
    }
    // The remains of a process that was killed during a removal are removed, too.
    fs::create_dir(folder.path().join(".nyssa-removed-1-0")).unwrap();
    let (count, bytes) = cache.clear(|url| url.is_some_and(|url| url.ends_with("a.root"))).unwrap();
    assert!(count == 1 && bytes > 1000);
    assert_eq!(entries(folder.path()).len(), 1);
    assert_eq!(cache.clear(|_| true).unwrap().0, 1);
    assert_eq!(entries(folder.path()).len(), 0);
}

#[test]
fn unpacked_forms_are_kept_beside_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = CacheOptions::default();
    options.form = Form::Raw;
    let origin = origin();
    let source = Cache::open(folder.path(), options).unwrap().source(URL, origin.clone());
    let unpacked = source.unpacked().unwrap();
    assert_eq!(unpacked.wanted(), Some(Form::Raw));
    let raw = |size: usize| UnpackedPage {
        form: Form::Raw,
        size: size as u64,
        bytes: vec![size as u8; size].into(),
    };
    let lz4 = UnpackedPage { form: Form::Lz4, size: 500, bytes: vec![9; 50].into() };
    unpacked.keep(vec![(100..120, raw(100_000)), (120..140, lz4.clone()), (140..150, raw(3))]);
    // Pages are read by this source, and only what is unpacked of them is kept.
    assert_eq!(source.without_keeping().unwrap().read_range(0..500).unwrap(), content()[..500]);

    let ranges = [120..140, 100..120, 100..121, 140..150];
    let read = |cache: Cache| {
        let source = cache.source(URL, origin.clone());
        let unpacked = source.unpacked().unwrap();
        assert_eq!(unpacked.wanted(), None);
        assert!(unpacked.is_in_use());
        assert_eq!(unpacked.knows(&ranges), [true, true, false, true]);
        unpacked.read(&ranges)
    };
    let all = [Some(lz4.clone()), Some(raw(100_000)), None, Some(raw(3))];
    assert_eq!(read(cache(folder.path())), all);
    let report = cache(folder.path()).report().unwrap();
    assert_eq!((report.resources[0].stored_bytes, report.resources[0].unpacked_bytes), (0, 50));
    flip(&file_of(folder.path(), "data"), 50_000);
    assert_eq!(read(cache(folder.path())), [Some(lz4), None, None, Some(raw(3))]);
}

#[test]
fn a_use_is_noted_and_a_look_is_not() {
    let folder = tempfile::tempdir().unwrap();
    check(&cache(folder.path()).source(URL, origin()), &[0..10]);
    let about = file_of(folder.path(), "about.json");
    let old = SystemTime::now() - Duration::from_secs(3600);
    let file = fs::OpenOptions::new().write(true).open(about).unwrap();
    file.set_modified(old).unwrap();
    let cache_of_folder = Cache::find(folder.path()).unwrap();
    assert_eq!(
        cache_of_folder.report().unwrap().resources[0].used,
        file.metadata().unwrap().modified().unwrap()
    );
    check(&cache(folder.path()).source(URL, origin()), &[0..10]);
    assert!(file.metadata().unwrap().modified().unwrap() > old + Duration::from_secs(3000));
}

/// Opens a file of a test server by the cache in `folder`, which must not stop it.
#[cfg(unix)]
fn opens_by(folder: &std::path::Path) -> bool {
    use nyssa_io::cache::CacheChoice;

    let choice = CacheChoice::of(folder, CacheOptions::default()).unwrap();
    matches!(choice, CacheChoice::In(_))
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_used_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("nyssa-cache.json"), "{").unwrap();
    assert!(!opens_by(folder.path()));
    // The marker of a damaged cache may also be a link, or have no end.
    fs::remove_file(folder.path().join("nyssa-cache.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("nyssa-cache.json")).unwrap();
    assert!(!opens_by(folder.path()));
    // There is no space in this file system for anything.
    assert!(!opens_by(std::path::Path::new("/proc/nyssa-cache")));
}

/// A user who is root can give a folder to another user, and only then this is tested.
#[cfg(unix)]
#[test]
fn the_folder_of_another_user_is_not_used() {
    use std::os::unix::fs::{PermissionsExt, chown};

    let folder = tempfile::tempdir().unwrap();
    drop(cache(folder.path()));
    assert!(opens_by(folder.path()));
    if chown(folder.path(), Some(12345), Some(12345)).is_err() {
        return;
    }
    assert!(!opens_by(folder.path()));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(!opens_by(folder.path()));
    // A group of this process may write into it, so it is shared on purpose.
    chown(folder.path(), None, Some(0)).unwrap();
    assert!(opens_by(folder.path()));
}

#[cfg(unix)]
#[test]
fn links_in_a_cache_are_not_followed() {
    use std::os::unix::fs::symlink;

    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = "https://host/links.root";
    let place = |name: &str| folder.path().join(name);
    let own = cache(folder.path());
    check(&own.source(url, origin()), &[0..1000]);
    let entries = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let resource = entries().find(|name| name.len() == 32).unwrap();
    let resource = resource.to_str().unwrap();
    // The folder of the resource is elsewhere: what is there is neither read nor changed.
    fs::rename(place(resource), elsewhere.path().join("moved")).unwrap();
    symlink(elsewhere.path().join("moved"), place(resource)).unwrap();
    let data = elsewhere.path().join("moved/data");
    let before = fs::metadata(&data).unwrap().len();
    check(&own.source(url, origin()), &[0..5000]);
    assert_eq!(fs::metadata(&data).unwrap().len(), before);
    fs::remove_file(place(resource)).unwrap();
    // A data file and a lock elsewhere are not written.
    fs::create_dir(place(resource)).unwrap();
    let target = elsewhere.path().join("target");
    fs::write(&target, "mine").unwrap();
    symlink(&target, place(resource).join("data")).unwrap();
    let _ = fs::remove_file(place("lock"));
    symlink(elsewhere.path().join("made"), place("lock")).unwrap();
    check(&cache(folder.path()).source(url, origin()), &[0..5000]);
    assert_eq!(fs::read(&target).unwrap(), b"mine");
    assert!(!elsewhere.path().join("made").exists());
}

#[test]
fn an_index_is_not_larger_than_its_file_needs() {
    let folder = tempfile::tempdir().unwrap();
    let own = cache(folder.path());
    let url = "https://host/index.root";
    check(&own.source(url, origin()), &[0..1000]);
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let index = entries.map(|path| path.join("index")).find(|index| index.exists()).unwrap();
    let file = fs::OpenOptions::new().write(true).open(index).unwrap();
    file.set_len(1 << 30).unwrap();
    let start = std::time::Instant::now();
    check(&own.source(url, origin()), &[0..1000]);
    assert!(start.elapsed() < std::time::Duration::from_secs(2), "{:?}", start.elapsed());
}
