//! Makes text that does not move the cursor of a terminal.

use std::io::{self, Write};

use nyssa_io::printable_lines;

pub(crate) use nyssa_io::printable;

/// An output through which all text leaves for the terminal. What would move its cursor is escaped, except ends of lines. JSON
/// stays the same document, because the escapes are escapes of JSON, too.
pub(crate) struct Printable<'a>(pub &'a mut dyn Write);

impl Write for Printable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // All writers give whole characters.
        self.0.write_all(printable_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The number of characters of a type that a row of a table has room for.
const BRIEF: usize = 72;

/// Returns the start of a text that is too long for a column of a table. A leaf list of some classes of old experiments has
/// thousands of characters.
pub(crate) fn brief(text: String) -> String {
    match text.char_indices().nth(BRIEF) {
        Some(_) => text.chars().take(BRIEF - 3).chain("...".chars()).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        let fits = "é".repeat(72);
        assert_eq!(brief(fits.clone()), fits);
        assert_eq!(brief("é".repeat(73)), format!("{}...", "é".repeat(69)));
    }

    #[test]
    fn all_output_is_printable() {
        let mut out = Vec::new();
        let mut printed = Printable(&mut out);
        writeln!(printed, "\u{1b}[31m\u{9b}é a").unwrap();
        serde_json::to_writer(&mut printed, "\u{7f}\u{202e}\u{85}").unwrap();
        let (line, json) = (r"\u001b[31m\u009bé a", r#""\u007f\u202e\u0085""#);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{line}\n{json}"));
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), "\u{7f}\u{202e}\u{85}");
    }
}
