//! Tests writing on real XRootD servers that end in the middle, or that refuse.

mod real_xrootd {
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use nyssa_io::create;
    use nyssa_io::testing::content;
    use nyssa_testdata::xrootd::Xrootd;

    fn server() -> (Xrootd, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (Xrootd::start(folder.path(), ""), folder)
    }

    /// Returns the unfinished file in the folder of a server.
    fn part(folder: &tempfile::TempDir) -> Option<PathBuf> {
        let entries = fs::read_dir(folder.path().join("data")).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|end| end == "part"))
    }

    /// Writes 36 MB, of which some are on the disk of the server (`sync`) before it ends, and others are under
    /// way.
    #[test]
    #[ignore = "needs xrootd"]
    fn writing_goes_on_when_the_server_comes_back() {
        let (mut server, folder) = server();
        let mut expected: Vec<u8> = Vec::new();
        let mut sink = create(server.url("/out.bin"), false).unwrap();
        for round in 0..30_u8 {
            let mut part = content();
            part.iter_mut().for_each(|byte| *byte ^= round);
            sink.write_at(expected.len() as u64, &part).unwrap();
            expected.extend_from_slice(&part);
            if round % 10 == 8 {
                server.start_again();
            }
        }
        sink.write_at(3, b"header").unwrap();
        expected[3..9].copy_from_slice(b"header");
        server.start_again();
        sink.commit().unwrap();
        assert!(fs::read(folder.path().join("data/out.bin")).unwrap() == expected);
        assert_eq!(part(&folder), None);
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn an_unfinished_file_that_is_lost_is_an_error() {
        type Harm = fn(PathBuf);
        let table: [(Harm, &str); 2] = [
            (|path| fs::remove_file(path).unwrap(), "the server no longer had the unfinished file"),
            (|path| fs::write(path, "").unwrap(), "the unfinished file was shorter than before"),
        ];
        for (harm, why) in table {
            let (mut server, folder) = server();
            let url = server.url("/out.bin");
            let mut sink = create(&url, false).unwrap();
            for index in 0..40_u64 {
                sink.write_at(index * 1_200_000, &content()).unwrap();
            }
            server.kill();
            harm(part(&folder).unwrap());
            server.start_again();
            let error = sink.commit().unwrap_err();
            let text = error.to_string();
            let place = format!(" of {url}: the server localhost:{}: ", server.port());
            let end = format!("; after that {why}, so writing cannot continue");
            assert!(text.contains(&place) && text.ends_with(&end), "{text}");
            assert_eq!(error.source.kind(), ErrorKind::ConnectionAborted);
            assert!(!folder.path().join("data/out.bin").exists());
        }
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn folders_that_refuse_files_are_named() {
        let (server, folder) = server();
        let closed = folder.path().join("data/closed");
        fs::create_dir_all(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
        let url = server.url("/closed/out.bin");
        let error = create(&url, false).err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::PermissionDenied);
        let text = error.to_string();
        let place = format!("localhost:{}", server.port());
        let start = format!(
            "cannot create {url}: the server {place} says: Unable to create /closed/.out.bin."
        );
        let end = ".part; permission denied (kXR_NotAuthorized); check that your credentials are \
                   valid and allow this";
        assert!(text.starts_with(&start) && text.ends_with(end), "{text}");
    }
}
