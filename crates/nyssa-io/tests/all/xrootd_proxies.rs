//! Tests real proxies of XRootD: one that caches (XCache), and one that forwards to the URL in the path.

mod real_xrootd {
    use std::fs;
    use std::io::ErrorKind;

    use nyssa_io::testing::{check_closed, check_source, content};
    use nyssa_io::{EntryKind, FolderEntry, kind, list, open};
    use nyssa_testdata::xrootd::Xrootd;

    /// Makes an origin with a file of [`content`], and a folder for a proxy.
    fn origin() -> (Xrootd, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let origin = folder.path().join("origin");
        fs::create_dir_all(origin.join("data/sub")).unwrap();
        fs::create_dir_all(folder.path().join("proxy")).unwrap();
        fs::write(origin.join("data/content.bin"), content()).unwrap();
        open_to_all(folder.path());
        (Xrootd::start(&origin, ""), folder)
    }

    /// Lets the user of the servers into a folder.
    fn open_to_all(folder: &std::path::Path) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn all_ranges() -> Vec<std::ops::Range<u64>> {
        (0..1_500).map(|i| i * 800..i * 800 + 300).collect()
    }

    /// Checks reads of all kinds.
    fn check_reads(url: &str) {
        let (source, content) = (open(url).unwrap(), content());
        assert_eq!((source.name(), source.size()), (url, content.len() as u64));
        check_source(&source);
        for part in all_ranges().chunks(source.limits().max_ranges) {
            for (bytes, range) in source.read_ranges(part).unwrap().iter().zip(part) {
                assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
            }
        }
        check_closed(&source, true);
    }

    fn check_folders(folder: &str) {
        let mut entries = list(folder).unwrap();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let entry = |name: &str, kind| FolderEntry { name: name.into(), kind };
        let expected = [entry("content.bin", EntryKind::File), entry("sub", EntryKind::Folder)];
        assert_eq!(entries, expected);
        assert_eq!(kind(format!("{folder}sub")).unwrap(), Some(EntryKind::Folder));
        assert_eq!(kind(format!("{folder}content.bin")).unwrap(), Some(EntryKind::File));
        assert_eq!(kind(format!("{folder}no")).unwrap(), None);
        let error = open(format!("{folder}no.bin")).err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::NotFound, "{error}");
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn a_cache_gives_the_bytes_of_its_origin() {
        let (mut origin, folder) = origin();
        let server = format!("localhost:{}", origin.port());
        let proxy = Xrootd::proxy(&folder.path().join("proxy"), &server, true);
        check_folders(&proxy.url("/"));
        // What was read once comes from the cache, also when the origin is gone.
        check_reads(&proxy.url("/content.bin"));
        let source = open(proxy.url("/content.bin")).unwrap();
        origin.kill();
        let all = source.read_range(0..source.size()).unwrap();
        assert!(all[..] == content()[..]);
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn a_url_in_the_path_names_the_origin() {
        let (origin, folder) = origin();
        let proxy = Xrootd::proxy(&folder.path().join("proxy"), "=root,xroot", false);
        let url = |scheme: &str, path: &str| {
            let origin = origin.port();
            format!("{}{scheme}://localhost:{origin}/{path}", proxy.url("/"))
        };
        check_reads(&url("root", "/content.bin"));
        check_folders(&url("root", "/"));
        let source = open(url("xroot", "/content.bin")).unwrap();
        assert_eq!(source.read_range(5..500_000).unwrap()[..], content()[5..500_000]);
        let error = open(format!("{}http://localhost:1//a.root", proxy.url("/"))).err().unwrap();
        let start = format!(
            "cannot open {}http://localhost:1//a.root: the server localhost:{} says: ",
            proxy.url("/"),
            proxy.port()
        );
        assert!(error.to_string().starts_with(&start), "{error}");
    }
}
