//! Reads and writes options as the text of users, such as `zstd:5` or `auto`.

use crate::error::Error;

/// Implements the traits of `serde` for a type by its `Display` and `FromStr`.
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(
                &self,
                to: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                from: D,
            ) -> std::result::Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Gives each variant of an enum its text: `named_variants!(Effort, "effort", Auto = "auto", Full = "full")`.
#[macro_export]
macro_rules! named_variants {
    ($type:ident, $what:literal, $($variant:ident = $name:literal),+) => {
        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err($crate::as_text::unknown($what, text, &[$($name),+])),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $name),+ })
            }
        }

        $crate::serde_as_text!($type);
    };
}

/// Returns the error of a text that names no variant.
#[doc(hidden)]
pub fn unknown(what: &str, text: &str, names: &[&str]) -> Error {
    let known = match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        names => names.join(", "),
    };
    Error::invalid_argument(format!("{what} {text:?} is not known: use {known}"))
}
