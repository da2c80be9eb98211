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

/// The number of characters of a type that a row of a table has room for.
const BRIEF: usize = 72;

/// Returns the start of a text that is too long for a column of a table. A leaf list of some classes of old experiments has
/// thousands of characters.
pub fn brief(text: String) -> String {
    match text.char_indices().nth(BRIEF) {
        Some(_) => text.chars().take(BRIEF - 3).chain("...".chars()).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn long_texts_are_cut() {
        let fits = "é".repeat(72);
        assert_eq!(brief(fits.clone()), fits);
        assert_eq!(brief("é".repeat(73)), format!("{}...", "é".repeat(69)));
    }
}
