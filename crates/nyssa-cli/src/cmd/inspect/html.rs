//! Makes the page of a dataset: its bytes by field, and where they lie in the file.
//!
//! The page has the data as JSON, and a script (`page.js`) that draws them. It needs no other file and no network.

use std::time::Duration;

use minijinja::context;
use nyssa_io::trace::{Link, LinkProtocol};
use nyssa_jobs::tune::inspect::{Inspection, MappedPage, PageMap};
use nyssa_root::{Error, Result};
use serde::Serialize;

use crate::web_page;

/// The largest number of pages or baskets that the page has. Those at the end of the file are left out.
const MOST: usize = 200_000;
/// The link over which requests are counted: its round trip, and its bandwidth in bytes per second.
const LATENCY: Duration = Duration::from_millis(10);
const BANDWIDTH: u64 = 125_000_000;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The data of the script.
#[derive(Serialize)]
struct Data<'a> {
    inspection: &'a Inspection,
    /// Four numbers for each page: the gap before it, its bytes, its column, and its cluster.
    pages: Vec<i64>,
    /// The number of pages that are left out.
    left_out: usize,
    /// The name, the offset and the size in bytes of each part of the metadata.
    metadata: Vec<(&'static str, u64, u64)>,
    clusters: u64,
    /// For each column, the indices of the other columns that reading it needs.
    needs: &'a [Vec<u32>],
    /// The indices of the fields that are chosen at first.
    chosen: Vec<usize>,
    links: [Requests; 2],
}

/// The rules by which ranges become requests over a link.
#[derive(Serialize)]
struct Requests {
    name: &'static str,
    /// The largest gap between ranges that is read over.
    gap: u64,
    /// The largest size of ranges that are merged.
    merged: u64,
    /// The number of bytes that a request should bring.
    bytes: u64,
    /// The largest number of ranges in a request.
    ranges: usize,
}

/// Returns the page of a dataset on which the fields that match the globs are chosen.
///
/// # Errors
/// The fields of [`Inspection::matching`].
pub fn page(inspection: &Inspection, map: &PageMap, fields: &[String]) -> Result<String> {
    let shown = &map.pages[..map.pages.len().min(MOST)];
    let data = Data {
        inspection,
        pages: flat(shown),
        left_out: map.pages.len() - shown.len(),
        metadata: map.metadata.iter().map(|item| (item.name, item.offset, item.bytes)).collect(),
        clusters: map.clusters,
        needs: &map.needs,
        chosen: inspection.matching(fields)?,
        links: [
            requests("root:// over 10 ms and 1 Gbit/s", LinkProtocol::Root),
            requests("http:// over 10 ms and 1 Gbit/s", LinkProtocol::Http),
        ],
    };
    let data = serde_json::to_string(&data).map_err(|error| {
        Error::invalid_argument(
            "the data of the page cannot be written as \
                                                  JSON",
        )
        .with_source(error)
    })?;
    let title = format!("{}:{}", inspection.file, inspection.name);
    let data = data.replace('<', "\\u003c");
    let body = web_page::body("inspect.html", context! { title, data, script => SCRIPT });
    Ok(web_page::page(&title, STYLE, &body))
}

fn flat(pages: &[MappedPage]) -> Vec<i64> {
    let mut end = 0;
    let mut numbers = Vec::with_capacity(4 * pages.len());
    for page in pages {
        // Offsets and sizes are less than 2⁶³ in every file.
        let gap = page.offset.cast_signed().wrapping_sub(end);
        end = page.offset.wrapping_add(page.bytes).cast_signed();
        numbers.extend([gap, page.bytes.cast_signed(), page.column.into(), page.cluster.into()]);
    }
    numbers
}

fn requests(name: &'static str, protocol: LinkProtocol) -> Requests {
    let link = Link {
        latency: LATENCY,
        bandwidth: BANDWIDTH,
        protocol,
        connections: None,
        window: u64::MAX,
        seek: Duration::ZERO,
        servers: 1,
    };
    let limits = link.limits();
    Requests {
        name,
        gap: limits.coalesce_gap(),
        merged: limits.merged_bytes().min(limits.request_bytes()),
        bytes: limits.request_bytes(),
        ranges: limits.max_ranges,
    }
}
