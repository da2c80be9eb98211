//! Tests files that are opened from the cache alone, as long as the answer of their server is not too old.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use nyssa_io::cache::{Cache, CacheChoice, CacheOptions};
use nyssa_io::testing::{
    WebAnswer, WebServer, check_source, content, impatient, serve, times_opened,
};
use nyssa_io::{MemorySource, OpenOptions, Result, Source, open_with};
use nyssa_xrootd::testing::{CHECKED_SERVER, Reply, ScriptedXrootd};

const HOUR: Duration = Duration::from_secs(3600);

/// Returns options with a cache that asks servers again after `age`.
fn aged(folder: &Path, age: Duration) -> OpenOptions {
    let mut cache = CacheOptions::default();
    cache.max_age = age;
    let mut options = impatient();
    options.cache = CacheChoice::In(Cache::open(folder, cache).unwrap());
    options
}

fn open(url: &str, folder: &Path, age: Duration) -> Result<Arc<dyn Source>> {
    open_with(url, &aged(folder, age))
}

/// Returns the files that say what servers had.
fn seen(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.join("seen")).into_iter().flatten();
    files.map(|file| file.unwrap().path()).collect()
}

/// The content of a file and its ETag, which a test can replace.
type Replaceable = Arc<Mutex<(Vec<u8>, &'static str)>>;

/// Returns a server with one file.
fn web() -> (WebServer, Replaceable) {
    let file = Arc::new(Mutex::new((content(), "\"one\"")));
    let shared = Arc::clone(&file);
    let server = WebServer::start(move |request, _| {
        let (bytes, etag) = &*shared.lock().unwrap();
        WebAnswer::of(request, bytes).with("ETag", *etag)
    });
    (server.unwrap(), file)
}

/// Opens and reads a file, cold and warm. `requests` counts what its server was asked.
fn check(url: &str, requests: impl Fn() -> usize) {
    let (folder, content) = (tempfile::tempdir().unwrap(), content());
    let ranges = [0..1000, 700_000..900_000];
    let wanted = [&content[..1000], &content[700_000..900_000]];
    let cold = open(url, folder.path(), HOUR).unwrap();
    assert_eq!(cold.read_ranges(&ranges).unwrap(), wanted);
    let before = requests();
    let warm = open(url, folder.path(), HOUR).unwrap();
    assert_eq!((warm.name(), warm.size(), warm.version()), (url, cold.size(), cold.version()));
    assert!(warm.limits().is_near() && warm.limits_of(&[ranges.to_vec()]).is_near());
    assert_eq!(warm.read_ranges(&ranges).unwrap(), wanted);
    assert_eq!(requests(), before, "a warm cache asks for nothing");
    // Without an age, the server is asked.
    assert_eq!(open(url, folder.path(), Duration::ZERO).unwrap().size(), warm.size());
    let opened = requests();
    assert!(opened > before);
    // The missing bytes come from the server, which is then known to be far.
    assert!(!warm.limits_of(&[vec![400_000..500_000]]).is_near());
    assert_eq!(warm.read_range(400_000..500_000).unwrap(), content[400_000..500_000]);
    assert!(requests() > opened && !warm.limits().is_near());
    warm.close();
    assert_eq!(warm.read_range(0..10).unwrap_err().source.kind(), ErrorKind::InvalidInput);
    // A source that is closed before its server was asked stays closed.
    let closed = open(url, folder.path(), HOUR).unwrap();
    closed.close();
    assert!(closed.check_open().is_err() && closed.read_range(0..10).is_err());
}

#[test]
fn a_warm_file_asks_a_web_server_for_nothing() {
    let (server, _) = web();
    check(&server.url("/file.root"), || server.requests().len());
}

#[test]
fn a_warm_file_asks_an_xrootd_server_for_nothing() {
    let sound = |_: &_, answer| Reply::Send(answer);
    let server = ScriptedXrootd::start(content(), CHECKED_SERVER, sound).unwrap();
    check(&server.url("/file.root"), || server.requests().len());
}

#[test]
fn a_changed_file_is_an_error_at_the_first_miss() {
    for change in ["version", "size"] {
        let (server, file) = web();
        let (folder, url) = (tempfile::tempdir().unwrap(), server.url("/file.root"));
        let old = content();
        let read = open(&url, folder.path(), HOUR).unwrap().read_range(0..900_000).unwrap();
        assert_eq!(read, old[..900_000]);
        let mut new: Vec<u8> = old.iter().map(|byte| byte ^ 0x55).collect();
        if change == "size" {
            new.push(1);
        }
        *file.lock().unwrap() = (new.clone(), "\"two\"");
        // The bytes in the cache belong to one version, which is that of the server.
        let warm = open(&url, folder.path(), HOUR).unwrap();
        let plan = [vec![0..1000, 950_000..951_000]];
        // No plan is made for a server that has another file. The read says why.
        assert!(warm.limits_of(&plan).is_near());
        let error = warm.read_ranges(&plan[0]).unwrap_err();
        let expected = format!(
            "cannot read {url}: it was changed on the server after the cache last requested it (it has \
             another {change}); open it again"
        );
        assert_eq!((error.to_string(), error.source.kind()), (expected, ErrorKind::InvalidData));
        assert_eq!(warm.read_range(0..1000).unwrap(), old[..1000]);
        assert!(warm.read_range(899_999..900_001).is_err());
        // The next opening gives the new file.
        let anew = open(&url, folder.path(), HOUR).unwrap();
        assert_eq!(anew.size(), new.len() as u64);
        assert_eq!(anew.read_range(0..960_000).unwrap(), new[..960_000]);
    }
}

#[test]
fn an_old_answer_does_not_count() {
    let (server, file) = web();
    let (folder, url) = (tempfile::tempdir().unwrap(), server.url("/file.root"));
    open(&url, folder.path(), HOUR).unwrap().read_range(0..100).unwrap();
    *file.lock().unwrap() = (vec![7; 1000], "\"two\"");
    thread::sleep(Duration::from_millis(20));
    assert_eq!(open(&url, folder.path(), HOUR).unwrap().size(), content().len() as u64);
    assert_eq!(open(&url, folder.path(), Duration::from_millis(10)).unwrap().size(), 1000);
    // That was an answer, which counts for others.
    assert_eq!(open(&url, folder.path(), HOUR).unwrap().size(), 1000);
}

#[test]
fn damaged_and_missing_answers_do_not_count() {
    let (server, _) = web();
    let (folder, url) = (tempfile::tempdir().unwrap(), server.url("/file.root"));
    let requests_of_opening = || {
        let before = server.requests().len();
        let source = open(&url, folder.path(), HOUR).unwrap();
        assert_eq!(source.read_range(0..100).unwrap(), content()[..100]);
        server.requests().len() - before
    };
    assert!(requests_of_opening() > 0);
    let [path] = &seen(folder.path())[..] else { panic!("one URL") };
    let sound = fs::read_to_string(path).unwrap();
    let size = format!("\"size\":{}", content().len());
    let damages = [
        sound.replace(&size, "\"size\":1000"),
        sound.replace("\"time\":1", "\"time\":2"),
        sound.replace("one", "two"),
        sound[..sound.len() / 2].to_owned(),
        String::new(),
        "null".to_owned(),
    ];
    for damaged in damages {
        assert_ne!(damaged, sound);
        fs::write(path, &damaged).unwrap();
        assert!(requests_of_opening() > 0, "{damaged}");
        // It was written anew.
        assert_eq!(requests_of_opening(), 0);
    }
    // The bytes of the resource were removed from the cache.
    let cache = Cache::find(folder.path()).unwrap();
    cache.clear(|url| url.is_none()).unwrap();
    assert_eq!((seen(folder.path()).len(), requests_of_opening()), (1, 0));
    cache.clear(|_| true).unwrap();
    assert!(seen(folder.path()).is_empty());
    assert!(requests_of_opening() > 0);
    let resources = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let resource = resources.into_iter().find(|path| path.join("about.json").exists()).unwrap();
    fs::remove_dir_all(resource).unwrap();
    assert!(requests_of_opening() > 0);
}

#[test]
fn secrets_are_not_written_and_make_no_other_resource() {
    let (server, _) = web();
    let folder = tempfile::tempdir().unwrap();
    let url = server.url("/file.root?X-Amz-Signature=secret1&file=1");
    open(&url, folder.path(), HOUR).unwrap().read_range(0..100).unwrap();
    let before = server.requests().len();
    let again = server.url("/file.root?X-Amz-Signature=secret2&file=1");
    let opened = open(&again, folder.path(), HOUR).unwrap();
    assert_eq!(opened.name(), server.url("/file.root?..."));
    assert_eq!(opened.location(), Path::new(&again));
    assert_eq!(server.requests().len(), before);
    open(&server.url("/file.root?file=2"), folder.path(), HOUR).unwrap();
    assert!(server.requests().len() > before);
    for file in seen(folder.path()) {
        assert!(!fs::read_to_string(file).unwrap().contains("secret"));
    }
}

#[test]
fn a_server_that_is_gone_is_an_error_once_something_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let url = {
        let sound = |_: &_, answer| Reply::Send(answer);
        let server = ScriptedXrootd::start(content(), CHECKED_SERVER, sound).unwrap();
        let url = server.url("/gone.root");
        open(&url, folder.path(), HOUR).unwrap().read_range(0..100_000).unwrap();
        url
    };
    let options = {
        let mut options = aged(folder.path(), HOUR);
        options.xrootd.connection_window = Some(Duration::from_millis(300));
        options.xrootd.request_timeout = Some(Duration::from_millis(600));
        options
    };
    let warm = open_with(&url, &options).unwrap();
    assert_eq!(warm.read_range(5..100_000).unwrap(), content()[5..100_000]);
    // The fetcher, which only asks for limits, cannot be told. Its read is.
    assert!(warm.limits_of(&[vec![0..200_000]]).is_near());
    let error = warm.read_range(0..200_000).unwrap_err().to_string();
    assert!(error.starts_with("cannot open root://127.0.0.1:"), "{error}");
    assert_eq!(warm.read_range(5..100_000).unwrap(), content()[5..100_000]);
}

#[test]
fn many_threads_open_the_server_once() {
    let url = "test://max-age/file.root";
    serve(Arc::new(MemorySource::new(url, content())));
    let folder = tempfile::tempdir().unwrap();
    open(url, folder.path(), HOUR).unwrap().read_range(0..10_000).unwrap();
    assert_eq!(times_opened(url), 1);
    let warm = open(url, folder.path(), HOUR).unwrap();
    let failures = AtomicUsize::new(0);
    thread::scope(|scope| {
        for start in 0..8 {
            let (warm, failures) = (&warm, &failures);
            scope.spawn(move || {
                let range = start * 100_000..start * 100_000 + 50_000;
                let expected = &content()[range.start as usize..range.end as usize];
                if warm.read_range(range).unwrap() != expected {
                    failures.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!((failures.into_inner(), times_opened(url)), (0, 2));
    check_source(&warm);
}
