//! Begins and ends the pages that commands write. A page needs no other file and no network.

use html_escape::encode_quoted_attribute as escaped;

const STYLE: &str = include_str!("web_page.css");

/// The end of a page.
pub const END: &str = "</body></html>\n";

/// Returns the begin of a page with a title, and with more rules of style.
pub fn begin(title: &str, style: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\
         <style>{STYLE}{style}</style></head><body>\n",
        escaped(title)
    )
}
