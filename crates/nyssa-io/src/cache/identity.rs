//! Computes the identity of a resource. It must be equal if the bytes in the cache are to belong to the resource.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::location::scheme;

/// The names of parameters in the query of a URL that say who makes the request or until when, but not what is requested.
const SECRETS: [&str; 22] = [
    "authz",
    "access_token",
    "token",
    "signature",
    "expires",
    "awsaccesskeyid",
    "googleaccessid",
    "sig",
    "se",
    "st",
    "sp",
    "sv",
    "sr",
    "spr",
    "skoid",
    "sktid",
    "skt",
    "ske",
    "sks",
    "skv",
    "tried",
    "triedrc",
];
/// The starts of the names of such parameters: of S3, of Google, and of XRootD and its clients.
const SECRET_PREFIXES: [&str; 5] = ["x-amz-", "x-goog-", "xrd.", "xrdcl.", "scitag."];

/// The identity of a resource and its version. It has no secrets, because it is written into the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    /// The URL without user, password and query.
    pub url: String,
    /// A hash of the parameters of the query that say what is requested, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<u64>,
    /// The size in bytes.
    pub size: u64,
    /// The ETag or the time of the last change, if the server states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Identity {
    /// Makes the identity of the resource that a URL names now.
    pub(super) fn new(url: &str, size: u64, version: Option<String>) -> Self {
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        // Paths of XRootD may have a number sign. The anchors of browsers come after the query, or are part of
        // the path.
        let is_kept = |parameter: &&str| {
            let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
            let is_secret = SECRETS.contains(&name.as_str());
            !name.is_empty()
                && !is_secret
                && !SECRET_PREFIXES.iter().any(|start| name.starts_with(start))
        };
        let pairs: Vec<&str> = query.split('&').filter(is_kept).collect();
        let query = (!pairs.is_empty()).then(|| xxh3_64(pairs.join("&").as_bytes()));
        Self { url: plain(place), query, size, version }
    }

    /// Returns the key of the resource, which is the name of its folder.
    pub(super) fn key(&self) -> u128 {
        let Self { url, query, size, version } = self;
        let query = query.map(|query| query.to_string()).unwrap_or_default();
        let version = version.as_deref().unwrap_or_default();
        xxh3_128(format!("nyssa\0{url}\0{query}\0{size}\0{version}").as_bytes())
    }

    /// Returns the name of the folder of the resource.
    pub(super) fn folder(&self) -> PathBuf {
        format!("{:032x}", self.key()).into()
    }

    /// Returns the URL for messages.
    pub(super) fn shown(&self) -> String {
        format!("{}{}", self.url, if self.query.is_some() { "?..." } else { "" })
    }
}

/// Returns whether a text is the name of the folder of a resource.
pub(super) fn is_folder(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
}

/// Returns a URL without user and password, with the first name of its scheme, and with its hosts in lower
/// case.
fn plain(url: &str) -> String {
    let Some((given, rest)) = scheme(url) else { return url.to_owned() };
    let given = given.to_ascii_lowercase();
    let scheme = match given.as_str() {
        "dav" => "http",
        "davs" => "https",
        "xroot" => "root",
        "xroots" => "roots",
        other => other,
    };
    let (hosts, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host =
        |host: &str| host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
    // The name of a bucket is not a host.
    let hosts: Vec<String> = hosts.split(',').map(host).collect();
    format!("{scheme}://{}{path}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(url: &str) -> Identity {
        Identity::new(url, 10, Some("v".to_owned()))
    }

    #[test]
    fn secrets_are_not_part_of_the_identity() {
        for (url, same) in [
            ("https://me:pass@Host:8443/a/B.root", "https://host:8443/a/B.root"),
            ("davs://host/a", "https://host/a"),
            (
                "root://me@a:1,me:secret@B//d/f.root?authz=Bearer%20x&xrd.wantprot=ztn",
                "xroot://a:1,b//d/f.root",
            ),
            (
                "https://host/a?X-Amz-Date=1&X-Amz-Signature=2&versionId=7",
                "https://host/a?X-Amz-Date=3&versionId=7",
            ),
            ("https://host/a?Expires=1&Signature=x&AWSAccessKeyId=y", "https://host/a"),
        ] {
            assert_eq!(id(url), id(same), "{url}");
            assert_eq!(id(url).key(), id(same).key());
            let text = serde_json::to_string(&id(url)).unwrap();
            assert!(!text.contains("pass") && !text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn other_resources_have_other_keys() {
        let first = id("https://host/a?file=1");
        let others = [
            id("https://host/a?file=2"),
            id("https://host/a"),
            id("http://host/a?file=1"),
            id("https://host:1/a?file=1"),
            id("https://host/b?file=1"),
            Identity { size: 11, ..first.clone() },
            Identity { version: None, ..first.clone() },
            Identity { version: Some("w".to_owned()), ..first.clone() },
        ];
        for other in others {
            assert_ne!(other.key(), first.key(), "{other:?}");
        }
        assert_eq!(first.shown(), "https://host/a?...");
        assert!(is_folder(&first.folder().display().to_string()));
        assert!(!is_folder("nyssa-cache.json") && !is_folder(&"G".repeat(32)));
    }
}
