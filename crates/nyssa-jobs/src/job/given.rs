//! Finds the options that differ from their defaults, by their declaration. A new option with its default therefore
//! changes nothing.

use std::collections::BTreeMap;

use nyssa_root::error::{Error, Result};
use serde::Serialize;
use serde_json::Value;

/// The options that differ from others, by their names in the declaration.
pub(crate) type Given = BTreeMap<String, Value>;

/// Returns the options that differ from `Default`.
///
/// # Errors
/// `InvalidArgument` for options that are no object of JSON.
pub(crate) fn given<T: Serialize + Default>(options: &T) -> Result<Given> {
    differences(options, &T::default())
}

/// Returns the options that differ from `default`.
///
/// # Errors
/// `InvalidArgument` for options that are no object of JSON.
pub(crate) fn differences<T: Serialize>(options: &T, default: &T) -> Result<Given> {
    let (own, default) = (members(options)?, members(default)?);
    Ok(own.into_iter().filter(|(name, value)| default.get(name) != Some(value)).collect())
}

fn members(options: &impl Serialize) -> Result<Given> {
    let members = serde_json::to_value(options).and_then(serde_json::from_value);
    members.map_err(|error| Error::invalid_argument(format!("the options are no object: {error}")))
}

/// Returns the names of options as the command line has them.
pub(crate) fn flags(given: &Given) -> Vec<String> {
    given.keys().map(|name| name.replace('_', "-")).collect()
}

/// Returns a job with its options as text: `convert(layout="vectors", page_size=4096)`. URLs have no secrets in it,
/// because journals have this text.
pub(crate) fn job_text(job: &str, given: &Given) -> String {
    let option = |(name, value): (&String, &Value)| format!("{name}={}", shown(value));
    let options: Vec<_> = given.iter().map(option).collect();
    format!("{job}({})", options.join(", "))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => Value::from(nyssa_io::shown(text)).to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::StorageOptions;

    #[test]
    fn only_what_differs_from_the_defaults_is_given() {
        let none = given(&StorageOptions::default()).unwrap();
        assert_eq!(job_text("convert", &none), "convert()");
        let options = StorageOptions {
            profile: Some("https://me:word@host/p.toml?sig=secret".to_owned()),
            page_size: Some(4096),
            field_options: vec![
                nyssa_rntuple::choose::FieldOptions::new("Jet_*")
                    .and_then(|options| options.with("column", "Real32Trunc:16"))
                    .unwrap(),
            ],
            ..StorageOptions::default()
        };
        let given = given(&options).unwrap();
        assert_eq!(flags(&given), ["field-options", "page-size", "profile"]);
        assert_eq!(
            job_text("convert", &given),
            r#"convert(field_options=[{"column":"Real32Trunc:16","glob":"Jet_*"}], page_size=4096, profile="https://host/p.toml?...")"#
        );
    }
}
