//! Starts real XRootD servers on this machine, for tests.
//!
//! A test that starts one is in a module `real_xrootd` and is ignored: `#[ignore = "needs xrootd"]`. `make
//! test-xrootd` runs these tests if the server is installed.

// A test whose server does not start must end.
#![allow(clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The user and group of a server if the test runs as root, because XRootD refuses to run as root.
const NOBODY: u32 = 65534;
/// The time that a server may take to start.
const START: Duration = Duration::from_secs(30);

/// A server. It is killed when this is dropped.
pub struct Xrootd {
    port: u16,
    folder: PathBuf,
    process: Child,
    config: String,
    program: &'static str,
}

impl Xrootd {
    /// Starts `xrootd` that exports everything in `folder/data`, with more lines of configuration.
    ///
    /// # Panics
    /// When it is not installed or does not start.
    pub fn start(folder: &Path, config: &str) -> Self {
        let port = free_port();
        let data = folder.join("data");
        fs::create_dir_all(&data).expect("a folder");
        let config = format!("oss.localroot {}\nxrd.port {port}\n{config}", data.display());
        let mut server = Self::run("xrootd", folder, port, &config);
        server.wait();
        server
    }

    /// Starts a server like [`Xrootd::start`], with TLS by a certificate and its key, both as PEM.
    ///
    /// # Panics
    /// When it is not installed or does not start.
    pub fn start_with_tls(folder: &Path, certificate: &str, key: &str, config: &str) -> Self {
        let [certificate_path, key_path] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
        fs::write(&certificate_path, certificate).expect("a file");
        owned_by_server(&key_path, key);
        let (certificate, key) = (certificate_path.display(), key_path.display());
        let tls = format!("xrd.tls {certificate} {key}\nxrd.tlsca noverify\n{config}");
        Self::start(folder, &tls)
    }

    /// Starts a proxy, whose origin is `origin` in the words of `pss.origin`: `host:port`, or `=root` for a
    /// proxy that forwards to the URL in the path. With a cache (XCache), blocks are kept in `folder/cache`.
    ///
    /// # Panics
    /// When it is not installed or does not start.
    pub fn proxy(folder: &Path, origin: &str, with_cache: bool) -> Self {
        let port = free_port();
        let mut config = format!("xrd.port {port}\nofs.osslib libXrdPss.so\npss.origin {origin}\n");
        if with_cache {
            let cache = folder.join("cache");
            fs::create_dir_all(&cache).expect("a folder");
            fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).expect("access");
            let lines = "pss.cachelib libXrdPfc.so\npfc.blocksize 64k\npfc.ram 1g\noss.localroot";
            let _ = writeln!(config, "{lines} {}", cache.display());
        }
        let mut server = Self::run("xrootd", folder, port, &config);
        server.wait();
        server
    }

    /// Starts `cmsd` or `xrootd` with a whole configuration, and does not wait for it.
    ///
    /// # Panics
    /// When it is not installed.
    pub fn run(program: &'static str, folder: &Path, port: u16, config: &str) -> Self {
        let work = folder.join(format!("{program}-{port}"));
        fs::create_dir_all(&work).expect("a folder");
        // The programs of one node find each other in this folder.
        let admin = folder.join("admin");
        fs::create_dir_all(&admin).expect("a folder");
        let mut text =
            format!("all.export /\nall.adminpath {0}\nall.pidpath {0}\n", admin.display());
        let _ = writeln!(text, "{config}");
        let path = work.join("server.cfg");
        fs::write(&path, &text).expect("a configuration");
        for open in [folder.to_owned(), folder.join("data"), admin, work.clone()] {
            if open.exists() {
                fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("access");
            }
        }
        let process = spawn(program, &work);
        Self { port, folder: work, process, config: text, program }
    }

    /// Returns the port on which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of a path, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("root://localhost:{}/{path}", self.port)
    }

    /// Returns the configuration in force.
    pub fn config(&self) -> &str {
        &self.config
    }

    /// Returns what it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts it again on the same port.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_again(&mut self) {
        self.kill();
        self.process = spawn(self.program, &self.folder);
        self.wait();
    }

    /// Waits until it takes connections.
    ///
    /// # Panics
    /// When it does not start.
    pub fn wait(&mut self) {
        let begun = Instant::now();
        while TcpStream::connect(("localhost", self.port)).is_err() {
            let ended = self.process.try_wait().expect("a process").is_some();
            assert!(!ended && begun.elapsed() < START, "no server: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A manager and its data servers.
pub struct Cluster {
    /// The manager, to which clients connect first.
    pub manager: Xrootd,
    /// The data servers. Each exports the folder `data` in a folder of its own.
    pub servers: Vec<Xrootd>,
    /// The programs (`cmsd`) by which the servers know each other.
    _daemons: Vec<Xrootd>,
}

impl Cluster {
    /// Starts a manager and a data server for each folder.
    ///
    /// # Panics
    /// When the programs are not installed or do not start.
    pub fn start(folder: &Path, servers: &[PathBuf]) -> Self {
        let meeting = free_port();
        let config = |role: &str, node: &Path, port: u16| {
            format!(
                "all.role {role}\nall.manager localhost:{meeting}\noss.localroot {}/data\n\
                 cms.allow host *\ncms.sched cpu 0\ncms.delay startup 1 servers 1 lookup 1 drop 1\n\
                 if exec xrootd\nxrd.port {port}\nfi\n",
                node.display()
            )
        };
        let mut daemons = Vec::new();
        let mut node = |role: &str, node: &Path| {
            fs::create_dir_all(node.join("data")).expect("a folder");
            let port = free_port();
            daemons.push(Xrootd::run("cmsd", node, meeting, &config(role, node, port)));
            let mut server = Xrootd::run("xrootd", node, port, &config(role, node, port));
            server.wait();
            server
        };
        let manager = node("manager", &folder.join("manager"));
        let servers = servers.iter().map(|folder| node("server", folder)).collect();
        Self { manager, servers, _daemons: daemons }
    }
}

impl Drop for Xrootd {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(program: &str, work: &Path) -> Child {
    let log = fs::File::create(work.join("log")).expect("a log");
    let mut command = Command::new(program);
    command.arg("-c").arg(work.join("server.cfg")).current_dir(work);
    command.stdout(log.try_clone().expect("a log")).stderr(log);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.spawn().unwrap_or_else(|error| panic!("{program} does not start: {error}"))
}

/// Writes a file that only the user of a server can read.
///
/// # Panics
/// When the file cannot be written.
pub fn owned_by_server(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o400)).expect("access");
    if is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("an owner");
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0)
}

/// The ports below those that systems give to connections. The port of a server that starts late, or again, is
/// therefore free.
const PORTS: std::ops::Range<u32> = 20_000..32_000;

/// Returns a port that no program uses.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let count = PORTS.end - PORTS.start;
    // Processes of tests begin at different ports.
    let first = std::process::id().wrapping_mul(7919);
    let mut ports = std::iter::repeat_with(|| {
        let number = first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
        (PORTS.start + number % count) as u16
    });
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.by_ref().take(count as usize).find(is_free).expect("a port")
}
