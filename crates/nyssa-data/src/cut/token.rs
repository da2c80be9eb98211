//! Splits the text of a cut into tokens.

use super::{Checked, CutError};

/// A token and the byte at which it starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub at: usize,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Integer(i64),
    Real(f64),
    /// A word, or a name in back quotes.
    Name {
        name: String,
        quoted: bool,
    },
    /// Text in quotes.
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// All signs, longer signs first.
const SIGNS: [&str; 24] = [
    "&&", "||", "**", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "!", "~", "&",
    "|", "(", ")", "[", "]", ",", ".",
];

/// Splits `text` into tokens. The last token is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Checked<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let digit = |c: char| c.is_ascii_digit();
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if digit(first) || first == '.' && rest[1..].starts_with(digit) {
            let (kind, length) = number(at, rest)?;
            tokens.push(Token { at, kind });
            length
        } else if is_name(first) {
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let kind = Kind::Name { name: rest[..length].to_owned(), quoted: false };
            tokens.push(Token { at, kind });
            length
        } else if first == '`' {
            let end = rest[1..].find('`');
            let end = end.ok_or_else(|| CutError::new(at, "a back quote is never closed"))?;
            let kind = Kind::Name { name: rest[1..=end].to_owned(), quoted: true };
            tokens.push(Token { at, kind });
            end + 2
        } else if matches!(first, '"' | '\'') {
            let (text, length) = quoted(at, rest)?;
            tokens.push(Token { at, kind: Kind::Text(text) });
            length
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            tokens.push(Token { at, kind: Kind::Sign(sign) });
            sign.len()
        } else {
            return Err(CutError::new(at, format!("{first:?} means nothing here{}", hint(first))));
        };
        at += length;
    }
    tokens.push(Token { at, kind: Kind::End });
    Ok(tokens)
}

fn hint(sign: char) -> &'static str {
    match sign {
        '=' => ": == compares",
        '^' => ": ** is the power",
        '?' => ": where(condition, x, y) chooses",
        ':' => ": a name that has it is in back quotes, as `a:b`, and functions have no namespace",
        '$' => ": sum(x), len(x) and max(x) are what Sum$(x), Length$(x) and Max$(x) are in ROOT",
        _ => "",
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Reads a text in quotes at the start of `rest`. A backslash stands before a quote or another backslash. Returns it
/// with its length.
fn quoted(at: usize, rest: &str) -> Checked<(String, usize)> {
    let mut characters = rest.char_indices();
    let quote = characters.next().map(|(_, quote)| quote);
    let mut text = String::new();
    while let Some((place, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, next)) if next == '\\' || Some(next) == quote => text.push(next),
                _ => {
                    let message = "a backslash in text stands before a quote or a backslash";
                    return Err(CutError::new(at + place, message));
                }
            },
            _ if Some(character) == quote => return Ok((text, place + character.len_utf8())),
            _ => text.push(character),
        }
    }
    Err(CutError::new(at, "a quote is never closed"))
}

/// Reads a number at the start of `rest`. Returns it with its length.
fn number(at: usize, rest: &str) -> Checked<(Kind, usize)> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .map_or(bytes.len(), |n| from + n)
    };
    let mut end = digits(0);
    let mut real = false;
    if bytes.get(end) == Some(&b'.') {
        (end, real) = (digits(end + 1), true);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            (end, real) = (exponent, true);
        }
    }
    let text = &rest[..end];
    let wrong = || CutError::new(at, format!("{text} is not a number that fits 64 bits"));
    if rest[end..].starts_with(is_name) {
        return Err(CutError::new(at + end, "a number and a name must be separated"));
    }
    let kind = match real {
        true => Kind::Real(text.parse().map_err(|_| wrong())?),
        false => Kind::Integer(text.parse().map_err(|_| wrong())?),
    };
    Ok((kind, end))
}
