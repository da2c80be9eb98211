//! Faults on the way from a web server: what is wrong is named, and never returned.

use nyssa_io::testing::{WebAnswer, WebServer};
use nyssa_jobs::open::open_dataset;
use nyssa_root::rootfile::RootFile;

use crate::round_trips::{context, ntuple};

#[test]
fn a_byte_that_is_flipped_on_the_way_names_the_page() {
    let content = ntuple(0..2);
    let size = content.len() as u64;
    // It lies in a page, and comes neither with the first nor with the last bytes of the file.
    let flipped = size / 2;
    let server = WebServer::start(move |request, _| {
        let mut answer = WebAnswer::of(request, &content);
        if let Some(range) = request.range(size).filter(|range| range.contains(&flipped)) {
            let place = usize::try_from(flipped - range.start).unwrap();
            // An answer with several ranges has a place of its own for each.
            answer.body.get_mut(place).into_iter().for_each(|byte| *byte ^= 1);
        }
        answer
    });
    let server = server.unwrap();
    let url = server.url("/a.root");
    let file = RootFile::open(nyssa_io::open(&url).unwrap()).unwrap();
    let dataset = open_dataset(&file, None).unwrap();
    let mut errors = Vec::new();
    for column in dataset.columns() {
        let read = dataset.read(&[column.name.as_str()], 0..dataset.num_entries(), &context());
        errors.extend(read.err().map(|error| error.to_string()));
    }
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert!(error.starts_with("page checksum is "), "{error}");
    // The first page of the second cluster lies in the middle of the file.
    let place = format!(
        " is stored: the file is damaged here (file {url}, object Events, field c0, column 0, cluster 1, page 0, \
         byte "
    );
    let (_, begin) = error.split_once(&place).unwrap_or_else(|| panic!("{error}"));
    let begin: u64 = begin.trim_end_matches(')').parse().unwrap();
    assert!((begin..begin + 8_000).contains(&flipped), "{error}");
}
