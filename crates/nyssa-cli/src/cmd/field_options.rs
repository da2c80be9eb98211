//! Parses `--field-options GLOB:NAME=VALUE,...` and `--branch-options` of the commands that write.

use nyssa_jobs::convert::BranchOptions;
use nyssa_rntuple::write::FieldOptions;

use crate::units::parse_size;

/// Parses one value of `--field-options`: `Jet_*:column=Real32Trunc:16,compression=zstd:9,page-size=64kB`.
pub fn parse(text: &str) -> Result<FieldOptions, String> {
    let example = "Jet_*:column=Real32Trunc:16,compression=zstd:9,page-size=64kB";
    let (glob, pairs) = split(text, example)?;
    let options = FieldOptions::new(glob).map_err(|error| error.message().to_owned())?;
    pairs.into_iter().try_fold(options, |options, (name, value)| {
        let done = match name {
            "page-size" => options.with("page_size", &parse_size(value)?.to_string()),
            "column" | "compression" => options.with(name, value),
            _ => {
                return Err(format!(
                    "{name:?} is not an option of a field: use column, compression or page-size"
                ));
            }
        };
        done.map_err(|error| error.message().to_owned())
    })
}

/// Parses one value of `--branch-options`: `Jet_*:compression=zstd:9,basket-size=64kB`.
pub fn of_branches(text: &str) -> Result<BranchOptions, String> {
    let (glob, pairs) = split(text, "Jet_*:compression=zstd:9,basket-size=64kB")?;
    let options = BranchOptions::new(glob).map_err(|error| error.message().to_owned())?;
    pairs.into_iter().try_fold(options, |options, (name, value)| {
        let done = match name {
            "basket-size" => options.with("basket_size", &parse_size(value)?.to_string()),
            "compression" | "title" => options.with(name, value),
            _ => {
                return Err(format!(
                    "{name:?} is not an option of a branch: use compression, basket-size or title"
                ));
            }
        };
        done.map_err(|error| error.message().to_owned())
    })
}

/// A glob, and pairs of the name and the value of an option.
type ByGlob<'t> = (&'t str, Vec<(&'t str, &'t str)>);

/// Splits a value into the glob and the pairs of name and value.
fn split<'t>(text: &'t str, example: &str) -> Result<ByGlob<'t>, String> {
    let wrong = || format!("{text:?} is not GLOB:NAME=VALUE,..., such as '{example}'");
    // Paths may have colons: the path of a base class begins with one.
    let (head, _) = text.split_once('=').ok_or_else(wrong)?;
    let (glob, _) = head.rsplit_once(':').ok_or_else(wrong)?;
    let pairs = text[glob.len() + 1..].split(',');
    let pairs = pairs.map(|pair| pair.split_once('=').ok_or_else(wrong));
    Ok((glob, pairs.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_by_glob() {
        let options =
            parse("{a,b}.:_0.x:column=Real32Quant:12:0:1,compression=lz4,page-size=64kB").unwrap();
        assert_eq!(options.glob(), "{a,b}.:_0.x");
        assert_eq!(options.column, Some("Real32Quant:12:0:1".parse().unwrap()));
        assert_eq!(options.compression, Some("lz4".parse().unwrap()));
        assert_eq!(options.page_bytes, Some(64_000));
    }

    #[test]
    fn what_is_no_option() {
        for (text, message) in [
            ("Jet_*", "\"Jet_*\" is not GLOB:NAME=VALUE"),
            ("Jet_*=4", "\"Jet_*=4\" is not GLOB:NAME=VALUE"),
            (
                "x:size=4",
                "\"size\" is not an option of a field: use column, compression or \
              page-size",
            ),
            ("x:page-size=big", "\"big\" is not a size"),
            ("x:page-size=1", "a page size of 1 bytes, for the fields \"x\", is outside"),
            ("x:column=Int7", "\"Int7\" is not a column type"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn options_of_branches() {
        let options = of_branches("Jet_*:compression=zstd:9,basket-size=64kB").unwrap();
        assert_eq!(options.glob.glob().glob(), "Jet_*");
        assert_eq!(options.compression, Some("zstd:9".parse().unwrap()));
        assert_eq!(options.basket_size, Some(64_000));
        let error = of_branches("x:page-size=64kB").unwrap_err();
        assert!(error.starts_with("\"page-size\" is not an option of a branch"), "{error}");
    }
}
