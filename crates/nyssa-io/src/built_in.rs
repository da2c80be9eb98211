//! Lists the schemes of URLs that are built in.

/// A protocol that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    Http,
    S3,
    Xrootd,
}

/// The schemes, each with its protocol and the port of URLs that name none. The buckets of `s3://` have no ports.
const SCHEMES: [(&str, BuiltIn, Option<u16>); 9] = [
    ("http", BuiltIn::Http, Some(80)),
    ("https", BuiltIn::Http, Some(443)),
    ("dav", BuiltIn::Http, Some(80)),
    ("davs", BuiltIn::Http, Some(443)),
    ("s3", BuiltIn::S3, None),
    ("root", BuiltIn::Xrootd, Some(1094)),
    ("roots", BuiltIn::Xrootd, Some(1094)),
    ("xroot", BuiltIn::Xrootd, Some(1094)),
    ("xroots", BuiltIn::Xrootd, Some(1094)),
];

/// Returns the built-in protocol of a scheme.
pub(crate) fn built_in(scheme: &str) -> Option<BuiltIn> {
    find(scheme).map(|(protocol, _)| protocol)
}

/// Returns the port of the URLs of a scheme that name none.
pub(crate) fn usual_port(scheme: &str) -> Option<u16> {
    find(scheme).and_then(|(_, port)| port)
}

fn find(scheme: &str) -> Option<(BuiltIn, Option<u16>)> {
    let row = SCHEMES.iter().find(|(known, ..)| scheme.eq_ignore_ascii_case(known));
    row.map(|&(_, protocol, port)| (protocol, port))
}
