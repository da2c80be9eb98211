//! Tests real XRootD servers with TLS and tokens.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use nyssa_io::open;
use nyssa_io::testing::{check_source, content};
use nyssa_testdata::run_inside;
use nyssa_xrootd::testing::{DATA_SERVER, Reply, ScriptedXrootd};
use nyssa_xrootd::wire::Status;
use rcgen::CertifiedKey;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;

/// Debian's server does not come with a plug-in that knows tokens.
#[test]
fn tokens_are_shown_over_tls() {
    if let Ok(url) = std::env::var("NYSSA_TEST_URLS") {
        let opened = open(&url);
        match std::env::var("NYSSA_TEST_ERROR") {
            Err(_) => check_source(&opened.unwrap()),
            Ok(expected) => {
                let error = opened.err().unwrap();
                assert_eq!(error.source.kind(), ErrorKind::PermissionDenied);
                assert_eq!(error.to_string(), expected);
            }
        }
        return;
    }
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let server =
        ScriptedXrootd::start_with_tls(content(), DATA_SERVER, tls.into(), |request, answer| {
            let methods = [&[7; 16][..], b"&P=ztn,TLS:0:4096:\0"].concat();
            match (request.id, &request.data[..]) {
                (3007, _) => Reply::Send(request.answer(Status::Ok, &methods)),
                (3000, b"ztn\0\0T\0\0\0\x0feyJ0.eyJz.c2ln\0") => Reply::Send(answer),
                (3000, shown) if shown.ends_with(b"other\0") => {
                    let why = "token of another audience";
                    Reply::Send(request.numbered(Status::Error, 3030, why))
                }
                (3000, _) => Reply::Send(request.numbered(Status::Error, 3030, "token expired")),
                _ => Reply::Send(answer),
            }
        });
    let server = server.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let authorities = ("SSL_CERT_FILE", &*file("authorities.pem", &cert.pem()));
    let token = file("token", "eyJ0.eyJz.c2ln\n");
    let other = file("other", "other\n");
    let plain = server.url("/content.bin");
    for url in [&plain, &plain.replacen("root", "roots", 1)] {
        let inside = |more: &[(&str, &str)]| {
            let all = [&[authorities, ("NYSSA_TEST_URLS", url)], more].concat();
            run_inside("xrootd_tls::tokens_are_shown_over_tls", &all);
        };
        inside(&[("BEARER_TOKEN", "eyJ0.eyJz.c2ln")]);
        inside(&[("BEARER_TOKEN_FILE", &token)]);
        let place = format!("127.0.0.1:{}", server.port());
        let error = |why: &str| {
            format!(
                "cannot open {url}: the server {place} requires a login, and no login method \
                 succeeded: \
                 ztn: {why}"
            )
        };
        let why = "there is no token; set BEARER_TOKEN to a token, or BEARER_TOKEN_FILE to the \
                   path of a file with one";
        inside(&[("NYSSA_TEST_ERROR", &error(why))]);
        let why = "the server says: token expired; nyssa sent the token of BEARER_TOKEN";
        inside(&[("BEARER_TOKEN", "old"), ("NYSSA_TEST_ERROR", &error(why))]);
        let why =
            format!("the server says: token of another audience; nyssa sent the token of {other}",);
        inside(&[("BEARER_TOKEN_FILE", &other), ("NYSSA_TEST_ERROR", &error(&why))]);
    }
    // Without TLS nobody sees a token: a connection that showed one began with TLS.
    let requests = server.requests();
    for shown in requests.iter().filter(|request| request.id == 3000) {
        let first = requests.iter().find(|request| request.connection == shown.connection).unwrap();
        assert_eq!((first.id, first.parameters[4] & 4), (3006, 4));
    }
}
mod real_xrootd {
    use std::fs;
    use std::io::ErrorKind;
    use std::path::Path;

    use nyssa_io::open;
    use nyssa_io::testing::check_source;
    use nyssa_testdata::xrootd::{Xrootd, free_port};
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::run_inside;
    use crate::served_folder::served_folder;

    /// Returns a server whose certificate is of this host.
    fn server(folder: &Path, host: &str, config: &str) -> (Xrootd, String) {
        let mut parameters = CertificateParams::new([host.to_owned()]).unwrap();
        // Authorities are told apart by their names.
        parameters.distinguished_name.push(DnType::CommonName, format!("{host} {}", free_port()));
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap().pem();
        let key = key.serialize_pem();
        (Xrootd::start_with_tls(folder, &certificate, &key, config), certificate)
    }

    fn secure(server: &Xrootd) -> String {
        server.url("/content.bin").replacen("root", "roots", 1)
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn files_come_over_tls() {
        if let Ok(urls) = std::env::var("NYSSA_TEST_URLS") {
            for url in urls.split_whitespace() {
                check_source(&open(url).unwrap());
            }
            return;
        }
        let (wanted, must) = (served_folder(), served_folder());
        let (wanted, first) = server(wanted.path(), "localhost", "xrootd.tls capable tpc");
        // It lets nobody in without TLS.
        let (must, second) = server(must.path(), "localhost", "xrootd.tls all");
        let trusted = served_folder();
        let authorities = trusted.path().join("authorities.pem");
        fs::write(&authorities, first + &second).unwrap();
        let urls = [secure(&wanted), secure(&must), must.url("/content.bin")].join(" ");
        let file = authorities.to_str().unwrap();
        run_inside(
            "xrootd_tls::real_xrootd::files_come_over_tls",
            &[("SSL_CERT_FILE", file), ("NYSSA_TEST_URLS", &urls)],
        );
        assert!(must.log().contains("TLSv1.3"), "{}", must.log());
    }

    #[test]
    #[ignore = "needs xrootd"]
    fn certificates_are_checked() {
        if let Ok(url) = std::env::var("NYSSA_TEST_URLS") {
            let error = open(&url).err().unwrap();
            assert_eq!(error.source.kind(), ErrorKind::PermissionDenied);
            let place = url.trim_start_matches("roots://").trim_end_matches("//content.bin");
            let expected = std::env::var("NYSSA_TEST_ERROR").unwrap();
            let start = format!(
                "cannot open {url}: the server {place}: no secure connection: invalid peer \
                 certificate: {expected}"
            );
            assert!(error.to_string().starts_with(&start), "{error}");
            return;
        }
        let (other, unknown) = (served_folder(), served_folder());
        let (other, certificate) = server(other.path(), "other.host", "");
        let trusted = served_folder();
        let authorities = trusted.path().join("authorities.pem");
        fs::write(&authorities, certificate).unwrap();
        let (unknown, _) = server(unknown.path(), "localhost", "");
        let advice = "UnknownIssuer; set SSL_CERT_FILE or X509_CERT_DIR to the certificates of \
                      its authority";
        for (server, expected) in
            [(&other, "certificate not valid for name \"localhost\""), (&unknown, advice)]
        {
            let environment = [
                ("SSL_CERT_FILE", authorities.to_str().unwrap()),
                ("NYSSA_TEST_URLS", &secure(server)),
                ("NYSSA_TEST_ERROR", expected),
            ];
            run_inside("xrootd_tls::real_xrootd::certificates_are_checked", &environment);
        }
    }
}
