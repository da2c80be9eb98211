//! Tests that real XRootD servers give the same bytes as the local file.

mod real_xrootd {
    use std::fs;
    use std::io::ErrorKind;
    use std::time::Duration;

    use nyssa_io::testing::{check_closed, check_source, content};
    use nyssa_io::{
        EntryKind, FolderEntry, OpenOptions, create, kind, list, open, open_with, read, stage,
    };
    use nyssa_testdata::xrootd::{Cluster, Xrootd};

    use crate::served_folder::served_folder;

    /// Returns a server with a file of [`content`].
    fn server(config: &str) -> (Xrootd, tempfile::TempDir) {
        let folder = served_folder();
        fs::create_dir(folder.path().join("data/sub")).unwrap();
        (Xrootd::start(folder.path(), config), folder)
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn a_file_keeps_the_promises_of_sources() {
        let (server, _folder) = server("");
        let source = open(server.url("/content.bin")).unwrap();
        assert_eq!(source.name(), server.url("/content.bin"));
        check_source(&source);
        check_closed(&source, true);
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn what_the_server_says_is_told() {
        let (server, _folder) = server("");
        let table = [
            (
                "/no.bin",
                ErrorKind::NotFound,
                "Unable to open /no.bin; no such file or directory (kXR_NotFound)",
            ),
            (
                "/sub",
                ErrorKind::IsADirectory,
                "Unable to open /sub; is a directory (kXR_isDirectory)",
            ),
            (
                "content.bin",
                ErrorKind::PermissionDenied,
                "Opening relative path 'content.bin' is disallowed (kXR_NotAuthorized); write the path \
                 with two slashes: root://host//path",
            ),
        ];
        for (path, kind, said) in table {
            let url = server.url(path);
            let error = open(&url).err().unwrap();
            let place = format!("localhost:{}", server.port());
            assert_eq!(
                error.to_string(),
                format!("cannot open {url}: the server {place} says: {said}")
            );
            assert_eq!(error.source.kind(), kind, "{error}");
        }
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn folders_are_listed() {
        let (server, _folder) = server("");
        let mut entries = list(server.url("/")).unwrap();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let entry = |name: &str, kind| FolderEntry { name: name.into(), kind };
        let expected = [entry("content.bin", EntryKind::File), entry("sub", EntryKind::Folder)];
        assert_eq!(entries, expected);
        assert_eq!(list(server.url("/sub/")).unwrap(), []);
        assert_eq!(kind(server.url("/sub")).unwrap(), Some(EntryKind::Folder));
        assert_eq!(kind(server.url("/content.bin")).unwrap(), Some(EntryKind::File));
        assert_eq!(kind(server.url("/no")).unwrap(), None);
        assert_eq!(read(server.url("/content.bin")).unwrap(), content());
        let url = server.url("/no/");
        let error = list(&url).err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::NotFound);
        let start =
            format!("cannot list the folder {url}: the server localhost:{} says: ", server.port());
        assert!(error.to_string().starts_with(&start), "{error}");
    }

    /// Returns the names of the files in the folder of a server.
    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path().join("data")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn files_are_written_and_seen_when_they_are_complete() {
        let (server, folder) = server("");
        let url = server.url("/out.bin");
        let path = folder.path().join("data/out.bin");
        let mut sink = create(&url, false).unwrap();
        for (index, part) in content().chunks(70_000).enumerate() {
            sink.write_at(index as u64 * 70_000, part).unwrap();
        }
        sink.write_at(3, b"header").unwrap();
        assert!(!path.exists());
        sink.commit().unwrap();
        let mut expected = content();
        expected[3..9].copy_from_slice(b"header");
        assert!(fs::read(&path).unwrap() == expected);
        assert_eq!(names(&folder), ["content.bin", "out.bin", "sub"]);

        let error = create(&url, false).err().unwrap();
        let why = "it exists already";
        assert_eq!(error.to_string(), format!("cannot create {url}: {why}"));
        assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
        let (mut sink, staging) = stage(&url, true).unwrap();
        sink.write_at(5_000_000, b"two").unwrap();
        sink.commit().unwrap();
        let source = staging.open().unwrap();
        assert_eq!(source.read_range(4_999_999..5_000_003).unwrap()[..], *b"\0two");
        source.close();
        assert!(fs::read(&path).unwrap() == expected);
        staging.publish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 5_000_003);

        // A file that is not committed or published is removed.
        drop(create(&url, true).unwrap());
        let (sink, staging) = stage(server.url("/new.bin"), false).unwrap();
        sink.commit().unwrap();
        drop(staging);
        assert_eq!(names(&folder), ["content.bin", "out.bin", "sub"]);
        // Another program was faster.
        let (sink, staging) = stage(server.url("/new.bin"), false).unwrap();
        sink.commit().unwrap();
        fs::write(folder.path().join("data/new.bin"), "other").unwrap();
        let error = staging.publish().err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::AlreadyExists, "{error}");
        assert_eq!(fs::read(folder.path().join("data/new.bin")).unwrap(), b"other");
        let error = create(server.url("/sub"), true).err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::IsADirectory);
    }

    /// Tests a read of more ranges than fit into one vector.
    #[test]
    #[ignore = "needs xrootd"]
    fn many_ranges_come_in_vectors() {
        let (server, _folder) = server("xrootd.async off\n");
        let source = open(server.url("/content.bin")).unwrap();
        let ranges: Vec<_> = (0..3_000).map(|i| i * 400..i * 400 + 300).collect();
        let content = content();
        for part in ranges.chunks(source.limits().max_ranges) {
            for (bytes, range) in source.read_ranges(part).unwrap().iter().zip(part) {
                assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
            }
        }
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn a_server_that_comes_back_goes_on() {
        let (mut server, _folder) = server("");
        let source = open(server.url("/content.bin")).unwrap();
        assert_eq!(source.read_range(0..100).unwrap()[..], content()[..100]);
        server.kill();
        std::thread::scope(|scope| {
            let reads =
                scope.spawn(|| source.read_ranges(&[5..100_005, 500_000..500_010]).unwrap());
            std::thread::sleep(Duration::from_millis(500));
            server.start_again();
            let bytes = reads.join().unwrap();
            assert!(bytes[0][..] == content()[5..100_005]);
            assert_eq!(bytes[1][..], content()[500_000..500_010]);
        });
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn a_manager_knows_the_other_replica() {
        let folder = tempfile::tempdir().unwrap();
        let nodes = ["a", "b"].map(|name| folder.path().join(name));
        for node in &nodes {
            fs::create_dir_all(node.join("data")).unwrap();
            fs::write(node.join("data/content.bin"), content()).unwrap();
        }
        fs::write(nodes[1].join("data/only.bin"), "b").unwrap();
        let mut cluster = Cluster::start(folder.path(), &nodes);
        let mut options = OpenOptions::default();
        options.xrootd.request_timeout = Some(Duration::from_secs(60));
        let source = open_with(cluster.manager.url("/content.bin"), &options).unwrap();
        let mut names: Vec<_> =
            list(cluster.manager.url("/")).unwrap().into_iter().map(|entry| entry.name).collect();
        names.sort();
        assert_eq!(names, ["content.bin", "only.bin"]);
        for (dies, at) in [(0, 10), (1, 20_000)] {
            cluster.servers[dies].kill();
            let range = at..at + 300_000;
            let bytes = source.read_range(range.clone()).unwrap();
            assert!(bytes[..] == content()[range.start as usize..range.end as usize]);
            cluster.servers[dies].start_again();
        }
        let missing = cluster.manager.url("/missing.bin");
        let error = open(&missing).err().unwrap();
        let said = "No servers are available to read the file (kXR_NotFound)";
        let place = format!("localhost:{}", cluster.manager.port());
        let expected = format!("cannot open {missing}: the server {place} says: {said}");
        assert_eq!(error.to_string(), expected);
    }
}
