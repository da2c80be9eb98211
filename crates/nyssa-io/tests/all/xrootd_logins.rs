//! Tests methods of authentication on real XRootD servers that ask for exactly one of them.

mod real_xrootd {
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;

    use nyssa_io::testing::check_source;
    use nyssa_io::{MemorySource, NamedFile, OtherFilesAllowed, create, open};
    use nyssa_testdata::run_inside;
    use nyssa_testdata::xrootd::{Xrootd, owned_by_server};

    use crate::served_folder::served_folder;

    /// Returns a server that takes one method only.
    fn server(folder: &tempfile::TempDir, method: &str, more: &str) -> Xrootd {
        let name = method.split(' ').next().unwrap();
        let config = format!(
            "xrootd.seclib libXrdSec.so\nsec.protocol {method}\nsec.protbind * only {name}\n{more}"
        );
        Xrootd::start(folder.path(), &config)
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn names_and_hosts_are_taken() {
        let folders = [served_folder(), served_folder()];
        let unix = server(&folders[0], "unix", "");
        let host = server(&folders[1], "host", "");
        let url = unix.url("/content.bin").replacen("root://", "root://somebody@", 1);
        check_source(&open(&url).unwrap());
        assert!(unix.log().contains("login as somebody"), "{}", unix.log());
        check_source(&open(host.url("/content.bin")).unwrap());
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn a_server_that_a_file_names_gets_no_login() {
        let folders = [served_folder(), served_folder()];
        let unix = server(&folders[0], "unix", "");
        let none = Xrootd::start(folders[1].path(), "");
        let _allowed = OtherFilesAllowed::for_process();
        let named = |url: String| {
            let url = url.replacen("root://", "root://somebody@", 1);
            NamedFile::of(&MemorySource::new("a.root", ""), &url).unwrap().open()
        };
        check_source(&named(none.url("/content.bin")).unwrap());
        assert!(!none.log().contains("somebody"), "{}", none.log());
        let error = named(unix.url("/content.bin")).err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::PermissionDenied);
        let why = "nyssa sends no credentials to servers that a file names";
        assert!(error.to_string().ends_with(why), "{error}");
        assert!(!unix.log().contains("login as"), "{}", unix.log());
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn shared_secrets_are_used() {
        if let Ok(url) = std::env::var("NYSSA_TEST_URL") {
            let opened = open(&url);
            match std::env::var("NYSSA_TEST_ERROR") {
                Err(_) => check_source(&opened.unwrap()),
                Ok(expected) => {
                    let error = opened.err().unwrap();
                    assert_eq!(error.to_string(), expected);
                    assert_eq!(error.source.kind(), ErrorKind::PermissionDenied);
                }
            }
            return;
        }
        let folder = served_folder();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
        let line = |number: u64, key: &str| {
            format!("0 u:somebody g:nogroup n:test N:{number} c:1 e:0 f:0 k:{key}\n")
        };
        let number = 7_135_846_391_038_377_985;
        owned_by_server(path("server.keytab").as_ref(), &line(number, key));
        let server = server(&folder, &format!("sss -s {}", path("server.keytab")), "");
        let keytab = |name: &str, text: &str, mode: u32| {
            fs::write(path(name), text).unwrap();
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
            path(name)
        };
        let good = keytab("good", &line(number, key), 0o600);
        let url = server.url("/content.bin");
        let inside = |more: &[(&str, &str)]| {
            let home = ("HOME", folder.path().to_str().unwrap());
            let all = [&[home, ("NYSSA_TEST_URL", &url)], more].concat();
            run_inside("xrootd_logins::real_xrootd::shared_secrets_are_used", &all);
        };
        inside(&[("XrdSecSSSKT", &good)]);
        inside(&[("XrdSecsssKT", &good)]);
        assert!(server.log().contains("login as somebody"), "{}", server.log());
        let place = format!("localhost:{}", server.port());
        let fails = |keytab: &str, why: &str| {
            let error = format!(
                "cannot open {url}: the server {place} requires a login, and no login method \
                 succeeded: sss: {why}"
            );
            inside(&[("XrdSecSSSKT", keytab), ("NYSSA_TEST_ERROR", &error)]);
        };
        let other = keytab("other", &line(number + 1, key), 0o600);
        fails(&other, "the server says: Decryption key not found");
        let wrong = keytab("wrong", &line(number, &key.replace('0', "1")), 0o600);
        fails(&wrong, "the server says: Unable to decrypt credentials");
        let open = keytab("open", &line(number, key), 0o644);
        fails(&open, &format!("other users can read the keytab {open}; run chmod go-rwx {open}"));
        let empty = keytab("empty", "", 0o600);
        fails(&empty, &format!("the keytab {empty} has no keys"));
        let (none, home) = (path("none"), path(".xrd/sss.keytab"));
        fails(
            &none,
            &format!(
                "there is no keytab (nyssa looked for {none}, {home}); set XrdSecSSSKT to the \
                 path of one"
            ),
        );
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn signed_requests_are_named() {
        let folder = served_folder();
        let server = server(&folder, "unix", "sec.level all relaxed pedantic force\n");
        let place = format!("localhost:{}", server.port());
        let why = format!(
            "the server {place} wants signed requests, which nyssa does not support; install \
             nyssa[xrootd], and nyssa uses XRootD's own client for it"
        );
        let url = server.url("/content.bin");
        let error = open(&url).err().unwrap();
        assert_eq!(error.to_string(), format!("cannot open {url}: {why}"));
        // At the lowest level, only what changes files is to be signed.
        let folder = served_folder();
        let server = self::server(&folder, "unix", "sec.level all relaxed compatible force\n");
        check_source(&open(server.url("/content.bin")).unwrap());
        let url = server.url("/new.bin");
        let error = create(&url, false).err().unwrap();
        let why = format!(
            "the server localhost:{} wants signed requests, which nyssa does not support; it says: \
             Request not signed (kXR_SigVerErr); install nyssa[xrootd], and nyssa uses XRootD's own \
             client for it",
            server.port()
        );
        assert_eq!(error.to_string(), format!("cannot create {url}: {why}"));
    }
}
