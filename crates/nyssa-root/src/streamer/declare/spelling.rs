//! Spells C++ types as ROOT does in streamer infos: `vector<vector<int> >` for `std::vector<std::vector<int>>`.

use crate::error::Result;
use crate::type_name::{self, Argument, TypeName};

/// Returns ROOT's name of a fundamental type, such as `unsigned short` for `std::uint16_t`. Returns `None` for other
/// types.
pub(super) fn fundamental(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let long_long = text.contains("long long") || matches!(text, "Long64_t" | "ULong64_t");
    Some(match text {
        "Double32_t" => "Double32_t",
        "Float16_t" => "Float16_t",
        _ => match type_name::fundamental(text).unwrap_or(text) {
            "bool" => "bool",
            "char" => "char",
            "float" => "float",
            "double" => "double",
            "std::int8_t" => "signed char",
            "std::uint8_t" => "unsigned char",
            "std::int16_t" => "short",
            "std::uint16_t" => "unsigned short",
            "std::int32_t" => "int",
            "std::uint32_t" => "unsigned int",
            "std::int64_t" if long_long => "Long64_t",
            "std::uint64_t" if long_long => "ULong64_t",
            "std::int64_t" => "long",
            "std::uint64_t" => "unsigned long",
            _ => return None,
        },
    })
}

/// Returns the template of a type without `std::`, and its arguments as they are written in `text`. ROOT does not
/// store allocators, comparisons and hashes, which are left out.
///
/// # Errors
/// `InvalidArgument` for a text that is not a C++ type.
pub(super) fn template(text: &str) -> Result<(String, Vec<String>)> {
    let name = TypeName::parse_with_typedefs(text)?;
    let (template, arguments) = name.template();
    let written = arguments_of(text);
    let spelt = |(at, argument): (usize, &Argument)| match (written.get(at), argument) {
        (Some(text), _) => text.clone(),
        (None, Argument::Type(name)) => name.to_string(),
        (None, Argument::Value(value)) => value.clone(),
    };
    let arguments = arguments.iter().enumerate().map(spelt).collect();
    Ok((template.strip_prefix("std::").unwrap_or(&template).to_owned(), arguments))
}

/// Returns ROOT's name of a type. Numbers in it are numbers of templates.
pub(super) fn spelt(text: &str) -> Result<String> {
    if let Some(known) = fundamental(text) {
        return Ok(known.to_owned());
    }
    if text.trim().parse::<u64>().is_ok() {
        return Ok(text.trim().to_owned());
    }
    let (template, arguments) = template(text)?;
    if arguments.is_empty() {
        return Ok(template);
    }
    let arguments = arguments.iter().map(|argument| spelt(argument)).collect::<Result<Vec<_>>>()?;
    Ok(joined(&template, &arguments))
}

/// Returns a template with its arguments, as ROOT spells it.
pub(super) fn joined(template: &str, arguments: &[String]) -> String {
    let inside = arguments.join(",");
    let space = if inside.ends_with('>') { " " } else { "" };
    format!("{template}<{inside}{space}>")
}

/// Splits the text between the outer brackets at its commas.
fn arguments_of(text: &str) -> Vec<String> {
    let Some((_, rest)) = text.split_once('<') else { return Vec::new() };
    let inside = rest.trim_end().strip_suffix('>').unwrap_or(rest);
    let (mut depth, mut parts) = (0_usize, vec![String::new()]);
    for character in inside.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}
