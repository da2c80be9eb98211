//! Serializes options as the text that users write, such as `zstd:5`.

/// Implements the traits of `serde` for types by their `Display` and `FromStr`.
#[macro_export]
macro_rules! serde_as_text {
    ($($type:ty),*) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
