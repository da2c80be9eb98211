//! Describes a branch by the members that must be equal in trees that are joined.

use nyssa_root::error::Result;
use nyssa_root::streamer::values::{Value, View};

/// The properties of branches that are names of classes.
pub(super) const CLASS_NAMES: [&str; 2] = ["fClassName", "fClonesName"];

/// The items of a leaf.
pub(super) struct LeafForm {
    pub(super) class: String,
    /// The number of numbers of an item.
    pub(super) len: usize,
    /// The size of a number in bytes.
    pub(super) size: usize,
}

impl LeafForm {
    /// Returns the form of the only leaf of a branch with these properties.
    pub(super) fn of(form: &[(String, String)]) -> Option<Self> {
        let of_leaf = |end: &str| {
            let mut form = form.iter();
            form.find(|(name, _)| name.starts_with("leaf ") && name.ends_with(end))
                .map(|(_, value)| value.clone())
        };
        let number = |end: &str| of_leaf(end)?.parse().ok();
        Some(Self {
            class: of_leaf(": class")?,
            len: number(": fLen")?,
            size: number(": fLenType")?,
        })
    }
}

/// Returns the properties that must be equal in trees that are joined.
pub(super) fn form(view: View<'_>, leaves: &[View<'_>]) -> Result<Vec<(String, String)>> {
    let mut form = vec![("class".to_owned(), view.class().to_owned())];
    let offsets = view.i64("fEntryOffsetLen")? != 0;
    form.push(("entry offsets".to_owned(), if offsets { "some" } else { "none" }.to_owned()));
    let add = |form: &mut Vec<_>, owner: &str, view: View<'_>, names: &[&str]| {
        for &name in names {
            let value = match view.get(name) {
                Some(Value::Text(text)) => text.to_string(),
                Some(value) => value.as_i64().map_or_else(String::new, |value| value.to_string()),
                None => continue,
            };
            form.push((format!("{owner}{name}"), value));
        }
    };
    let element = [
        CLASS_NAMES[0],
        CLASS_NAMES[1],
        "fClassVersion",
        "fCheckSum",
        "fID",
        "fType",
        "fStreamerType",
    ];
    add(&mut form, "", view, &element);
    for leaf in leaves {
        let (class, name) = (leaf.class(), leaf.str("fName")?);
        let owner = format!("leaf {name}: ");
        add(&mut form, &owner, *leaf, &["fTitle", "fIsUnsigned", "fLenType", "fID", "fType"]);
        if class != "TLeafC" {
            add(&mut form, &owner, *leaf, &["fLen"]);
        }
        let counter = leaf.view("fLeafCount")?.map_or(Ok(""), |counter| counter.str("fName"))?;
        form.push((format!("{owner}class"), class.to_owned()));
        form.push((format!("{owner}counter"), counter.to_owned()));
    }
    Ok(form)
}
