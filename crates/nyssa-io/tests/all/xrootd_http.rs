//! Tests HTTP with real XRootD servers.

mod real_xrootd {
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;

    use nyssa_testdata::xrootd::Xrootd;

    use nyssa_io::testing::check_source;
    use nyssa_io::{EntryKind, FolderEntry, create, kind, list};

    /// Returns what lies in a folder, sorted by name.
    fn names(url: &str) -> Vec<(String, EntryKind)> {
        let name = |entry: FolderEntry| (entry.name.into_string().unwrap(), entry.kind);
        let mut names: Vec<_> = list(url).unwrap().into_iter().map(name).collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        names
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn files_and_folders_are_there_over_http() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("data/dir/sub")).unwrap();
        // The server may run as another user.
        let all = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder.path().join("data/dir"), all).unwrap();
        let content = nyssa_io::testing::content();
        fs::write(folder.path().join("data/dir/a b.root"), &content).unwrap();
        // Both protocols are on one port.
        let server = Xrootd::start(folder.path(), "xrd.protocol http libXrdHttp.so\n");
        let url = |path: &str| format!("dav://localhost:{}{path}", server.port());
        let (file, folder) = (EntryKind::File, EntryKind::Folder);
        let expected = [("a b.root".to_owned(), file), ("sub".to_owned(), folder)];
        assert_eq!(names(&url("/dir")), expected);
        assert_eq!(names(&url("/")), [("dir".to_owned(), folder)]);
        assert_eq!(list(url("/dir/sub")).unwrap(), []);
        assert_eq!(kind(url("/dir")).unwrap(), Some(folder));
        assert_eq!(kind(url("/dir/a b.root")).unwrap(), Some(file));
        assert_eq!(kind(url("/none")).unwrap(), None);
        let source = nyssa_io::open(url("/dir/a b.root")).unwrap();
        check_source(&source);
        // Short ranges come together when the server has proven that it answers that.
        for step in 0..16 {
            source.read_range(300_000 + step..300_010 + step).unwrap();
        }
        assert_eq!(source.limits().max_ranges, 32);
        let ranges = [300_000..300_010, 400_000..400_010, 500_000..500_010];
        let read = source.read_ranges(&ranges).unwrap();
        for (range, bytes) in ranges.iter().zip(read) {
            assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
        }
        // A file gets its name when it is complete.
        let mut sink = create(url("/dir/new/out.root"), false).unwrap();
        sink.write_at(0, &content).unwrap();
        sink.commit().unwrap();
        assert_eq!(names(&url("/dir/new")), [("out.root".to_owned(), file)]);
        assert_eq!(nyssa_io::read(url("/dir/new/out.root")).unwrap(), content);
        let error = create(url("/dir/new/out.root"), false).err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
        let mut sink = create(url("/dir/new/out.root"), true).unwrap();
        sink.write_at(0, b"other").unwrap();
        sink.commit().unwrap();
        assert_eq!(nyssa_io::read(url("/dir/new/out.root")).unwrap(), b"other");
    }
}
