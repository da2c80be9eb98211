//! Parses answers of WebDAV to a request for properties: `multistatus`. It does no I/O.
//!
//! Only two properties are read: the location (`href`), and whether it is a folder (`resourcetype` with
//! `collection`). The names of elements can have any prefix.

use percent_encoding::percent_decode_str;

use crate::location::in_web_url;

/// A thing in the answer of a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Its path, with one slash before each part. Each part is the text by which a URL names it; what no URL can name
    /// stays as it is.
    pub path: String,
    pub is_folder: bool,
}

/// Returns the things in an answer, or `None` if it is not such an answer.
pub(super) fn parse(text: &str) -> Option<Vec<Named>> {
    let mut entries = Vec::new();
    let mut now: Option<Named> = None;
    let mut in_type = false;
    let mut is_multistatus = false;
    for piece in text.split('<').skip(1) {
        let (tag, after) = piece.split_once('>')?;
        let is_end = tag.starts_with('/');
        let is_empty = tag.ends_with('/');
        let name = tag.trim_matches('/').split(char::is_whitespace).next().unwrap_or_default();
        let name = name.rsplit_once(':').map_or(name, |(_, name)| name).trim_end_matches('/');
        match (name, is_end) {
            ("multistatus", false) => is_multistatus = true,
            ("response", false) => now = Some(Named::default()),
            ("response", true) => entries.extend(now.take().filter(|named| !named.path.is_empty())),
            ("href", false) => {
                // Other properties may have locations, too. The first location belongs to the file or folder.
                if let Some(named) = now.as_mut().filter(|named| named.path.is_empty()) {
                    named.path = path(after.trim());
                }
            }
            ("resourcetype", is_end) => in_type = !is_end && !is_empty,
            ("collection", false) if in_type => {
                if let Some(named) = &mut now {
                    named.is_folder = true;
                }
            }
            _ => (),
        }
    }
    is_multistatus.then_some(entries)
}

/// Returns the path of a location, which is a path or a URL. All ways to write a name become one.
pub(super) fn path(place: &str) -> String {
    let place = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
        .iter()
        .fold(place.to_owned(), |text, (from, to)| text.replace(from, to));
    let path = match place.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => &place,
    };
    let name = |part: &str| {
        let bytes: Vec<u8> = percent_decode_str(part).collect();
        in_web_url(&bytes).unwrap_or_else(|| part.to_owned())
    };
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).map(name).collect();
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_write_names_in_their_own_way() {
        let text = "<?xml version=\"1.0\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n<D:response xmlns:l=\"DAV:\">\
            <D:href>/dir/</D:href><D:prop><l:resourcetype><D:collection/></l:resourcetype></D:prop>\
            </D:response><D:response><D:href>/dir//a b.root</D:href><D:prop><l:resourcetype/>\
            <l:iscollection>1</l:iscollection><x:href>/other</x:href></D:prop></D:response>\
            <response><href>https://host:1/dir/c%20%26&amp;d</href><resourcetype ><collection /></resourcetype>\
            </response></D:multistatus>";
        let named = |path: &str, is_folder| Named { path: path.to_owned(), is_folder };
        let expected =
            [named("/dir", true), named("/dir/a b.root", false), named("/dir/c &&d", true)];
        assert_eq!(parse(text).unwrap(), expected);
        assert_eq!(parse("<multistatus/>").unwrap(), []);
        // Names that parsers of URLs would change stay what they are.
        for (href, expected) in [
            ("/d/a%5Cb", "/d/a%5Cb"),
            ("/d/%0A%09x%20", "/d/%0A%09x%20"),
            ("/d/e%2Ff", "/d/e%2Ff"),
            ("/d/%FF%C3%A9", "/d/%FFé"),
            ("/d/p%2541", "/d/p%2541"),
            ("/d/%2e%2E/x", "/d/%2e%2E/x"),
        ] {
            assert_eq!(path(href), expected);
        }
        for odd in ["", "<html>x</html>", "<D:multistatus", "no"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
        assert_eq!((path("/"), path("http://host")), ("/".to_owned(), "/".to_owned()));
    }
}
