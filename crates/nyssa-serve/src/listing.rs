//! Makes lists of folders: pages for people, and answers of WebDAV for programs. It does no I/O.

use std::fmt::Write as _;

use html_escape::encode_quoted_attribute as escaped;

use crate::path::{encoded, joined};
use crate::roots::Listed;

/// Returns the page of a folder.
pub(crate) fn page(names: &[String], entries: &[Listed]) -> String {
    let place = format!("/{}", names.join("/"));
    let place = escaped(&place);
    let mut page = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{place}</title></head>\n<body><h1>{place}</h1>\n<table>\n"
    );
    if !names.is_empty() {
        page.push_str("<tr><td><a href=\"../\">../</a></td></tr>\n");
    }
    for Listed { name, is_folder, size, modified } in entries {
        let slash = if *is_folder { "/" } else { "" };
        let size = size.map(|size| size.to_string()).unwrap_or_default();
        let modified = modified.map(httpdate::fmt_http_date).unwrap_or_default();
        let _ = writeln!(
            page,
            "<tr><td><a href=\"./{}{slash}\">{}{slash}</a></td><td align=\"right\">{size}</td><td>{modified}</td></tr>",
            encoded(name),
            escaped(name)
        );
    }
    page.push_str("</table>\n</body></html>\n");
    page
}

/// Returns the answer to `PROPFIND` for a folder or file, and for the entries of the folder.
pub(crate) fn multistatus(names: &[String], own: &Listed, entries: &[Listed]) -> String {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n".to_owned();
    response(&joined(names, own.is_folder), own, &mut text);
    for entry in entries {
        let slash = if entry.is_folder { "/" } else { "" };
        let place = format!("{}{}{slash}", joined(names, true), encoded(&entry.name));
        response(&place, entry, &mut text);
    }
    text.push_str("</D:multistatus>\n");
    text
}

fn response(place: &str, entry: &Listed, text: &mut String) {
    let kind = if entry.is_folder { "<D:collection/>" } else { "" };
    let _ = write!(
        text,
        "<D:response><D:href>{place}</D:href><D:propstat><D:prop><D:resourcetype>{kind}</D:resourcetype>"
    );
    if let Some(size) = entry.size {
        let _ = write!(text, "<D:getcontentlength>{size}</D:getcontentlength>");
    }
    if let Some(modified) = entry.modified {
        let date = httpdate::fmt_http_date(modified);
        let _ = write!(text, "<D:getlastmodified>{date}</D:getlastmodified>");
    }
    text.push_str("</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\n");
}
