//! Defines the other names that fields and members have in some files.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use nyssa_root::error::{Error, Result};

/// New names of fields and members, and the old names that are used if a file does not have the new names.
///
/// A name is the name of a top-level field or the dotted path of a member, such as `jets.pt`. The levels of
/// lists are not part of the path. A member keeps its parent, so its old name can be given without the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases(Vec<Alias>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Alias {
    /// The path of the parent. It is empty for a top-level field.
    parent: Vec<String>,
    new: String,
    old: String,
}

impl Aliases {
    /// Makes aliases from pairs of new and old name.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty name, or an old name whose parent differs from the parent of the new name.
    pub fn new<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        names.into_iter().map(|(new, old)| Alias::new(new, old)).collect::<Result<_>>().map(Self)
    }

    /// Gives a field and its members their new names. `has` tells which top-level names the file has. An old
    /// name does not replace a new name that the file has.
    pub(in crate::view) fn rename(&self, field: &Field, has: impl Fn(&str) -> bool) -> Field {
        let top = self.0.iter().filter(|alias| alias.parent.is_empty());
        let alias = top.into_iter().find(|alias| alias.old == *field.name() && !has(&alias.new));
        let field = alias.map_or_else(|| field.clone(), |a| field.clone().with_name(&a.new));
        self.0.iter().fold(field, |field, alias| match alias.parent.split_first() {
            Some((first, path)) if first == field.name() => rename_member(&field, path, alias),
            _ => field,
        })
    }
}

impl Alias {
    fn new(new: &str, old: &str) -> Result<Self> {
        let refused = |why| Error::invalid_argument(format!("the alias {new:?} for {old:?} {why}"));
        let split = |path: &str| {
            let mut path = path.split('.').map(str::to_owned).collect::<Vec<_>>();
            let name = path.pop().unwrap_or_default();
            let empty = name.is_empty() || path.iter().any(String::is_empty);
            if empty { Err(refused("has an empty name")) } else { Ok((path, name)) }
        };
        let ((parent, new), (old_parent, old)) = (split(new)?, split(old)?);
        if !old_parent.is_empty() && old_parent != parent {
            return Err(refused("moves a member to another record; only its name may change"));
        }
        Ok(Self { parent, new, old })
    }
}

/// Renames the member at a path below `field`, through lists.
fn rename_member(field: &Field, path: &[String], alias: &Alias) -> Field {
    let through = |item: &FieldRef| Arc::new(rename_member(item, path, alias));
    let data_type = match field.data_type() {
        DataType::LargeList(item) => DataType::LargeList(through(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(through(item), *size),
        DataType::Struct(members) => {
            let taken = members.iter().any(|member| *member.name() == alias.new);
            let rename = |member: &FieldRef| match path.split_first() {
                None if *member.name() == alias.old && !taken => {
                    Arc::new(member.as_ref().clone().with_name(&alias.new))
                }
                Some((first, rest)) if first == member.name() => {
                    Arc::new(rename_member(member, rest, alias))
                }
                _ => Arc::clone(member),
            };
            DataType::Struct(members.iter().map(rename).collect())
        }
        _ => return field.clone(),
    };
    field.clone().with_data_type(data_type)
}
