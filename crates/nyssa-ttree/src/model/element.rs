//! Reads `TBranchElement` and `TBranchObject`, which are branches of classes, by the streamer info of their file.

use std::collections::HashMap;
use std::sync::Arc;

use nyssa_root::arrow::Number;
use nyssa_root::error::{Error, Kind, Result};
use nyssa_root::streamer::Basic;
use nyssa_root::streamer::values::{ObjectId, View};
use nyssa_root::streamer::{Layouts, Member, ObjectLayout};

use super::leaf::{self, LeafInfo, OrReason};
use super::split::{class_of, info, newest};
use super::{ClassName, CountSource, Element, Leaf, Plain, Shape, Streamed};

/// The kinds of branches that `TBranchElement::fType` distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds {
    /// The number of items of a split `TClonesArray` (`fType` 3) or standard container (4).
    Collection,
    /// A member of the items of a split collection (`fType` 31 and 41).
    Items,
    /// Anything else: a member of an object, or a value as a whole.
    Value,
}

impl Kinds {
    fn of(code: i64) -> Self {
        match code {
            3 | 4 => Self::Collection,
            31 | 41 => Self::Items,
            _ => Self::Value,
        }
    }
}

/// Returns the contents of the baskets of a `TBranchElement`, or the reason why they cannot be read.
pub(super) fn shape(
    view: View<'_>,
    leaves: &[LeafInfo],
    split: bool,
    path: &str,
    layouts: &mut Layouts<'_>,
    owners: &HashMap<ObjectId, CountSource>,
) -> Result<OrReason<Shape>> {
    let class = view.str("fClassName")?;
    let kind = Kinds::of(view.i64("fType")?);
    if kind == Kinds::Collection && !split {
        return Ok(Err(format!(
            "it is a split collection ({class}) without the members of its items: only their number is stored"
        )));
    }
    if kind == Kinds::Collection {
        let counts = Plain { element: Number::Int32.into(), dimensions: Vec::new(), counter: None };
        return Ok(Ok(Shape::Plain(counts)));
    }
    if split {
        return Ok(Err(format!("it is split: its data are in its sub-branches (class {class})")));
    }
    let Ok(index) = usize::try_from(view.i64("fID")?) else {
        return unsupported(object_shape(view, layouts));
    };
    let [leaf] = leaves else {
        return Ok(Err(format!("it has {} leaves", leaves.len())));
    };
    let member = Member {
        class,
        version: i32::try_from(view.i64("fClassVersion")?).unwrap_or(0),
        checksum: checksum(view),
        index,
    };
    let counter = match (kind, &leaf.leaf.counter) {
        (Kinds::Items, None) => {
            return Ok(
                Err("the branch with the number of its items is not in the tree".to_owned()),
            );
        }
        (Kinds::Items, counter) => counter.clone(),
        _ => None,
    };
    let layout = match layouts.member(member) {
        Ok(layout) => layout,
        Err(error) => return without_info(view, leaf, counter, error),
    };
    Ok(Ok(match plain(&layout) {
        Some((element, dimensions)) => Shape::Plain(Plain { element, dimensions, counter }),
        None => Shape::Streamed(Streamed {
            lengths: lengths(view, &layout, kind, path, owners)?,
            layout: Arc::new(layout),
            type_name: member_type(layouts, member),
            counter,
            named: false,
        }),
    }))
}

/// Returns the element type and the fixed dimensions of numbers that are stored as they are in memory.
fn plain(layout: &ObjectLayout) -> Option<(Element, Vec<u64>)> {
    let (basic, dimensions) = layout.numbers()?;
    let Basic::Plain(number) = basic else { return None };
    Some((number.into(), dimensions.iter().map(|&size| size as u64).collect()))
}

/// Returns the shape of numbers from their leaf, when there is no streamer info.
fn without_info(
    view: View<'_>,
    leaf: &LeafInfo,
    counter: Option<CountSource>,
    error: Error,
) -> Result<OrReason<Shape>> {
    let element = leaf::element_of_code(view.i64("fStreamerType")?);
    match element {
        Some(element) if counter.is_some() => {
            let dimensions = leaf.leaf.dimensions.clone();
            Ok(Ok(Shape::Plain(Plain { element, dimensions, counter })))
        }
        Some(element) => Ok(leaf::plain(&leaf.leaf, element).map(Shape::Plain)),
        None => unsupported(Err(error)),
    }
}

/// Finds the branch with the lengths of the arrays that pointers refer to. This is the branch `fBranchCount`
/// for a member of an object, and `fBranchCount2` for a member of items. Without it, this is the branch at
/// the same level with the name of the counter.
fn lengths(
    view: View<'_>,
    layout: &ObjectLayout,
    kind: Kinds,
    path: &str,
    owners: &HashMap<ObjectId, CountSource>,
) -> Result<Option<CountSource>> {
    let Some(counter) = layout.counter() else { return Ok(None) };
    let name = if kind == Kinds::Items { "fBranchCount2" } else { "fBranchCount" };
    if view.get(name).is_some()
        && let Some(branch) = view.view(name)?
    {
        let mut leaves = branch.list("fLeaves")?.into_iter().flatten();
        return Ok(leaves.next().and_then(|leaf| owners.get(&leaf.id()).cloned()));
    }
    let beside = path.rfind(['.', '/']).map_or("", |end| &path[..=end]);
    let beside = format!("{beside}{counter}");
    Ok(owners.values().find(|source| source.branch == beside).cloned())
}

/// Returns the shape of a `TBranchObject`. Each entry is the object, after the name of its class if the class can
/// vary.
pub(super) fn object(view: View<'_>, layouts: &mut Layouts<'_>) -> Result<OrReason<Shape>> {
    let class = view.str("fClassName")?;
    if layouts.is_raw() {
        return Ok(Ok(bytes(class)));
    }
    let leaf = view.list("fLeaves")?.into_iter().flatten().next();
    let named = match leaf {
        Some(leaf) => leaf.i64("fVirtual")? != 0,
        None => return Ok(Err("it has no leaf".to_owned())),
    };
    unsupported(
        layouts
            .whole(class, None)
            .map(|layout| Shape::Streamed(Streamed { named, ..Streamed::new(layout, class) })),
    )
}

/// Returns the shape of objects of a class as the bytes that its streamer wrote.
fn bytes(class: &str) -> Shape {
    Shape::Streamed(Streamed::new(ObjectLayout::of_bytes(), class))
}

/// Returns the shape of a value that is not split.
fn object_shape(view: View<'_>, layouts: &mut Layouts<'_>) -> Result<Shape> {
    let class = view.str("fClassName")?;
    let item = view.str_or_empty("fClonesName")?;
    let object = !ObjectLayout::is_container(class) && !matches!(class, "string" | "TString");
    if layouts.is_raw() && object {
        return Ok(bytes(class));
    }
    let layout = if !item.is_empty() && class == "TClonesArray" {
        layouts.clones(item)?
    } else {
        // The custom streamer of the class writes a branch of type -1, with a header. The streamer info
        // writes a branch of type 0, without a header.
        let version = i32::try_from(view.i64("fClassVersion")?).unwrap_or(0);
        let members = (view.i64("fType")? == 0).then(|| (version, checksum(view)));
        layouts.whole(class, members)?
    };
    Ok(Shape::Streamed(Streamed::new(layout, class)))
}

/// Returns the class of the objects that the sub-branches of a branch form, and the collection whose items they are.
pub(super) fn whole(
    view: View<'_>,
    layouts: &Layouts<'_>,
    path: &str,
    leaves: &[Leaf],
) -> Result<(ClassName, Option<(String, CountSource)>)> {
    let own = ClassName {
        name: view.str("fClassName")?.to_owned(),
        version: i32::try_from(view.i64("fClassVersion")?).unwrap_or(0),
        checksum: checksum(view),
    };
    let element = usize::try_from(view.i64("fID")?)
        .ok()
        .and_then(|index| info(layouts, &own).and_then(|info| info.elements.get(index)));
    if Kinds::of(view.i64("fType")?) != Kinds::Collection {
        return Ok((element.map_or(own, |element| class_of(layouts, element)), None));
    }
    // A branch that is not a member has the number 0, which is not a member of the collection.
    let member = element.filter(|element| element.class != "TStreamerBase");
    let type_name = member.map_or(own.name, |member| member.type_name.clone());
    let type_name = type_name.trim_end_matches(['*', ' ']).to_owned();
    let item = match view.str_or_empty("fClonesName")? {
        "" => item_name(&type_name).to_owned(),
        name => name.to_owned(),
    };
    let leaf = leaves.first().map_or_else(String::new, |leaf| leaf.name.clone());
    let counter = CountSource { branch: path.to_owned(), leaf };
    Ok((newest(layouts, &item), Some((type_name, counter))))
}

/// Returns the text between the brackets of a container's type.
fn item_name(type_name: &str) -> &str {
    let inside = type_name.split_once('<').and_then(|(_, rest)| rest.trim_end().strip_suffix('>'));
    inside.unwrap_or(type_name).trim().trim_end_matches('*')
}

fn checksum(view: View<'_>) -> u32 {
    let value = view.get("fCheckSum").and_then(|value| value.as_i64()).unwrap_or(0);
    u32::try_from(value).unwrap_or(0)
}

/// Returns the C++ type of a member.
fn member_type(layouts: &Layouts<'_>, member: Member<'_>) -> String {
    let class = ClassName {
        name: member.class.to_owned(),
        version: member.version,
        checksum: member.checksum,
    };
    let element = info(layouts, &class).and_then(|info| info.elements.get(member.index));
    element.map_or_else(String::new, |element| match element.class.as_str() {
        "TStreamerBase" => element.name.clone(),
        _ => {
            let sizes = element.dimensions.iter().filter(|_| element.array_length > 0);
            let sizes: String = sizes.map(|size| format!("[{size}]")).collect();
            format!("{}{sizes}", element.type_name)
        }
    })
}

/// Turns an `Unsupported` error into the reason why a branch cannot be read. Other errors are errors of the
/// file.
fn unsupported(shape: Result<Shape>) -> Result<OrReason<Shape>> {
    match shape {
        Ok(shape) => Ok(Ok(shape)),
        Err(error) if error.kind() == Kind::Unsupported => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}
