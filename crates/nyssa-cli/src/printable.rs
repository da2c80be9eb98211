//! Makes text that does not move the cursor of a terminal.

/// Returns the text on one line, with control characters escaped.
pub fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let (plain, escaped) =
                if c.is_control() { (None, Some(c.escape_default())) } else { (Some(c), None) };
            plain.into_iter().chain(escaped.into_iter().flatten())
        })
        .collect()
}
