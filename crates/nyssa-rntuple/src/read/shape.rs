//! Defines how a field is read: by a tree of nodes over streams, which is made from the schema.
//!
//! Specification: "Mapping of C++ Types to Fields and Columns".

use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, UnionFields, UnionMode};
use nyssa_root::arrow::{NONE, Number, field as arrow_field, streamer_field, typed_field};
use nyssa_root::streamer::ObjectLayout;

use super::element::Element;
use super::stream::Stream;
use super::streamers::Streamers;
use crate::schema::{Field, FieldId, MAX_ALTERNATIVES, Schema, Structure};

/// The maximum depth of nested fields. Real data have less than 20 levels.
const MAX_DEPTH: usize = 200;

/// A field in the form in which it is read.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The field.
    pub field: FieldId,
    /// The kind of the node.
    pub kind: NodeKind,
    /// The C++ type, if the Arrow type does not determine it.
    pub(super) type_name: Option<String>,
}

/// The kind of a node.
#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// A number or a boolean.
    Values(StreamSlot),
    /// Bitsets of a fixed size.
    Bitset { bits: StreamSlot, size: u64 },
    /// The sizes of a collection. `wide` means 64 bits.
    Cardinality { offsets: StreamSlot, wide: bool },
    /// A collection. Strings and optional values are collections, too.
    List { offsets: StreamSlot, item: Box<Node>, form: CollectionForm },
    /// A record with its members. An empty class has no members.
    Record(Vec<(String, Node)>),
    /// A fixed-size array.
    Array { size: u64, item: Box<Node> },
    /// A variant: one of several alternatives, or none.
    Variant { switch: StreamSlot, alternatives: Vec<(String, Node)> },
}

/// The form in which a collection is read.
#[derive(Clone, Debug)]
pub(super) enum CollectionForm {
    /// A `LargeList`.
    List,
    /// A `LargeBinary` that is marked as a string.
    String,
    /// A nullable value.
    Optional,
    /// A `LargeBinary` with the bytes of an object of this class, as ROOT's streamer wrote them.
    Streamer(String),
    /// The record to which such an object is decoded.
    Object(Arc<ObjectLayout>),
}

/// A stream, and its index in the plan.
#[derive(Clone, Debug)]
pub(super) struct StreamSlot {
    /// The stream that is read.
    pub stream: Stream,
    /// The index among the streams of the current read, once it is planned.
    pub index: Option<usize>,
}

/// A value, or the reason why nyssa cannot read a field.
type Reason<T> = std::result::Result<T, String>;

/// The reason why a field cannot be read, and the field that is the cause.
enum Cause {
    /// The field itself. The reason does not contain its name yet.
    Field(String),
    /// A subfield, whose name is in the reason.
    Subfield(String),
}

impl From<String> for Cause {
    fn from(reason: String) -> Self {
        Self::Field(reason)
    }
}

impl Node {
    /// Makes the node of a field, or returns the reason why nyssa cannot read it.
    pub(super) fn new(schema: &Schema, id: FieldId) -> Reason<Self> {
        build(schema, id, 0)
    }

    /// Makes the node of the last field of `field_path`, with the surrounding collections, or returns the reason why
    /// nyssa cannot read it.
    pub(super) fn part(schema: &Schema, field_path: &[FieldId]) -> Reason<Self> {
        let Some((&id, above)) = field_path.split_last() else {
            return Err("no field is named".to_owned());
        };
        above.iter().rev().try_fold(build(schema, id, 0)?, |inner, &id| around(schema, id, inner))
    }

    /// Sets all streamer fields to be decoded with the layouts of `streamers`.
    pub(super) fn decode_objects(&mut self, schema: &Schema, streamers: &Streamers) -> Reason<()> {
        match &mut self.kind {
            NodeKind::List { form, item, .. } => {
                if let CollectionForm::Streamer(class) = form {
                    let layout = streamers.layout(class).map_err(|reason| {
                        let path = schema.path(self.field);
                        format!(
                            "field {path}: objects of class {class} cannot be decoded: {reason}"
                        )
                    });
                    *form = CollectionForm::Object(layout?);
                    return Ok(());
                }
                item.decode_objects(schema, streamers)
            }
            NodeKind::Array { item, .. } => item.decode_objects(schema, streamers),
            NodeKind::Record(nodes) | NodeKind::Variant { alternatives: nodes, .. } => {
                nodes.iter_mut().try_for_each(|(_, node)| node.decode_objects(schema, streamers))
            }
            NodeKind::Values(_) | NodeKind::Bitset { .. } | NodeKind::Cardinality { .. } => Ok(()),
        }
    }

    /// Returns the Arrow type.
    pub(super) fn data_type(&self) -> DataType {
        match &self.kind {
            NodeKind::Values(slot) => slot.stream.element.data_type(),
            NodeKind::Bitset { size, .. } => {
                DataType::FixedSizeList(item_field(DataType::Boolean, false), array_size(*size))
            }
            NodeKind::Cardinality { wide: false, .. } => DataType::UInt32,
            NodeKind::Cardinality { wide: true, .. } => DataType::UInt64,
            NodeKind::List {
                form: CollectionForm::String | CollectionForm::Streamer(_), ..
            } => DataType::LargeBinary,
            NodeKind::List { form: CollectionForm::Object(layout), .. } => layout.data_type(),
            NodeKind::List { form: CollectionForm::Optional, item, .. } => item.data_type(),
            NodeKind::List { form: CollectionForm::List, item, .. } => {
                DataType::LargeList(item.item_field())
            }
            NodeKind::Record(members) => DataType::Struct(
                members.iter().map(|(name, node)| node.arrow_field(name)).collect(),
            ),
            NodeKind::Array { size, item } => {
                DataType::FixedSizeList(item.item_field(), array_size(*size))
            }
            NodeKind::Variant { alternatives, .. } => {
                DataType::Union(union_fields(alternatives), UnionMode::Dense)
            }
        }
    }

    /// Returns the Arrow field with this name.
    pub(super) fn arrow_field(&self, name: &str) -> ArrowField {
        let field = match &self.kind {
            NodeKind::List { form: CollectionForm::Streamer(class), .. } => {
                streamer_field(name, class)
            }
            NodeKind::List { form: CollectionForm::Optional, item, .. } => {
                item.arrow_field(name).with_nullable(true)
            }
            NodeKind::List { form: CollectionForm::Object(layout), .. } => layout.arrow_field(name),
            _ => arrow_field(name, self.data_type()).with_nullable(self.hides_null()),
        };
        match &self.type_name {
            Some(type_name) => typed_field(field, type_name),
            None => field,
        }
    }

    /// Returns the Arrow field of list items.
    pub(super) fn item_field(&self) -> Arc<ArrowField> {
        Arc::new(self.arrow_field("item"))
    }

    /// Returns whether values take no bytes: objects of a class without members, and arrays of them.
    pub(super) fn is_empty(&self) -> bool {
        match &self.kind {
            NodeKind::Record(members) => members.iter().all(|(_, node)| node.is_empty()),
            NodeKind::Array { size, item } => *size == 0 || item.is_empty(),
            _ => false,
        }
    }

    fn is_nullable(&self) -> bool {
        matches!(self.kind, NodeKind::List { form: CollectionForm::Optional, .. })
    }

    /// Returns whether Arrow shows some values as nulls, like variants without a value. A null around such a value
    /// would not be distinguishable.
    fn hides_null(&self) -> bool {
        self.is_nullable() || matches!(self.kind, NodeKind::Variant { .. })
    }
}

fn item_field(data_type: DataType, nullable: bool) -> Arc<ArrowField> {
    Arc::new(arrow_field("item", data_type).with_nullable(nullable))
}

/// Returns the children of a union: first the child for variants without a value, then the alternatives by their
/// tags.
pub(super) fn union_fields(alternatives: &[(String, Node)]) -> UnionFields {
    let none = arrow_field(NONE, DataType::Null).with_nullable(true);
    let some = alternatives.iter().map(|(name, node)| node.arrow_field(name));
    std::iter::once(none).chain(some).enumerate().map(|(tag, f)| (tag as i8, Arc::new(f))).collect()
}

/// Returns the size of a fixed-size list in Arrow. [`build`] refuses larger sizes.
pub(super) fn array_size(size: u64) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

fn build(schema: &Schema, id: FieldId, depth: usize) -> Reason<Node> {
    let kind = if depth > MAX_DEPTH {
        Err(format!("fields are nested more than {MAX_DEPTH} levels deep").into())
    } else {
        kind(schema, id, depth)
    };
    match kind {
        Ok(kind) => {
            let type_name = untold_type(schema.field(id), &kind);
            Ok(Node { field: id, kind, type_name })
        }
        Err(Cause::Subfield(reason)) => Err(reason),
        Err(Cause::Field(reason)) => Err(format!("field {}: {reason}", schema.path(id))),
    }
}

/// Puts the node of a subfield into the collection of field `id`, if this field is a collection.
fn around(schema: &Schema, id: FieldId, inner: Node) -> Reason<Node> {
    let field = schema.field(id);
    let kind = match field.structure {
        Structure::Record => return Ok(inner),
        Structure::Collection => collection(schema, field, inner),
        _ => match field.array_size.map(|size| (size, i32::try_from(size))) {
            Some((size, Ok(_))) => Ok(NodeKind::Array { size, item: Box::new(inner) }),
            _ => Err("its parts cannot be read without it".to_owned()),
        },
    };
    let kind = kind.map_err(|reason| format!("field {}: {reason}", schema.path(id)))?;
    Ok(Node { field: id, kind, type_name: None })
}

fn collection(schema: &Schema, field: &Field, item: Node) -> Reason<NodeKind> {
    let optional = ["std::optional<", "std::unique_ptr<"]
        .iter()
        .any(|prefix| field.type_name.starts_with(prefix));
    // A null inside a null would not be distinguishable, so the outer optional is read as a list.
    let form = if optional && !item.hides_null() {
        CollectionForm::Optional
    } else {
        CollectionForm::List
    };
    let offsets = slot(schema, field, 0, 1, Element::Index)?;
    Ok(NodeKind::List { offsets, item: Box::new(item), form })
}

fn slot(
    schema: &Schema,
    field: &Field,
    slot: usize,
    slots: usize,
    element: Element,
) -> Reason<StreamSlot> {
    let stream = Stream::new(schema, field, slot, slots, element)?;
    Ok(StreamSlot { stream, index: None })
}

fn kind(schema: &Schema, id: FieldId, depth: usize) -> Result<NodeKind, Cause> {
    let field = schema.field(id);
    let child = |id: FieldId| build(schema, id, depth + 1).map_err(Cause::Subfield);
    let slot = |number, slots, element| slot(schema, field, number, slots, element);
    match field.structure {
        Structure::Leaf => leaf(schema, id, child, slot),
        Structure::Record => {
            let members =
                field.children.iter().map(|&id| Ok((schema.field(id).name.clone(), child(id)?)));
            Ok(NodeKind::Record(members.collect::<Result<_, Cause>>()?))
        }
        Structure::Collection => Ok(collection(schema, field, child(only_child(field)?)?)?),
        Structure::Variant => {
            let alternatives =
                field.children.iter().map(|&id| Ok((schema.field(id).name.clone(), child(id)?)));
            let alternatives = alternatives.collect::<Result<Vec<_>, Cause>>()?;
            if alternatives.len() > MAX_ALTERNATIVES {
                return Err(format!("has {} alternatives", alternatives.len()).into());
            }
            Ok(NodeKind::Variant { switch: slot(0, 1, Element::Switch)?, alternatives })
        }
        Structure::Unknown(code) => Err(format!("structural role {code:#06x} is not known").into()),
        Structure::Streamer => {
            Ok(bytes(id, CollectionForm::Streamer(field.type_name.clone()), slot)?)
        }
    }
}

fn leaf(
    schema: &Schema,
    id: FieldId,
    child: impl Fn(FieldId) -> Result<Node, Cause>,
    slot: impl Fn(usize, usize, Element) -> Reason<StreamSlot>,
) -> Result<NodeKind, Cause> {
    let field = schema.field(id);
    if let Some(size) = field.array_size {
        if i32::try_from(size).is_err() {
            return Err(format!("arrays of {size} elements are too large for Arrow").into());
        }
        if field.columns.is_empty() {
            return Ok(NodeKind::Array { size, item: Box::new(child(only_child(field)?)?) });
        }
        return Ok(NodeKind::Bitset { bits: slot(0, 1, Element::BIT)?, size });
    }
    if let Some(inner) = field.type_name.strip_prefix("ROOT::RNTupleCardinality<") {
        let wide = match inner.trim_end_matches('>').trim() {
            "std::uint32_t" => false,
            "std::uint64_t" => true,
            other => return Err(format!("cardinalities of type {other} are not known").into()),
        };
        return Ok(NodeKind::Cardinality { offsets: slot(0, 1, Element::Index)?, wide });
    }
    if field.type_name == "std::string" {
        return Ok(bytes(id, CollectionForm::String, slot)?);
    }
    match (field.columns.as_slice(), field.children.as_slice()) {
        // The value of an enum or atomic is in its only subfield.
        ([], &[inner]) => child(inner).map(|node| node.kind),
        ([], _) => Err(format!("type {} has no column", field.type_name).into()),
        ([first, ..], _) => {
            // A type name that is not fundamental, such as a typedef, is read as the type of its column.
            let stored = || schema.column(*first).column_type.map(Element::of_column);
            let element = match Element::from_cpp(&field.type_name).or_else(stored) {
                Some(Element::Float16) => Element::Number(Number::Float32),
                Some(Element::Index | Element::Switch) | None => {
                    return Err(format!("type {} is not known", field.type_name).into());
                }
                Some(element) => element,
            };
            Ok(NodeKind::Values(slot(0, 1, element)?))
        }
    }
}

/// Returns the C++ type of a field, unless it is the default type for its Arrow type.
fn untold_type(field: &Field, kind: &NodeKind) -> Option<String> {
    let name = field.type_name.as_str();
    let told = match kind {
        NodeKind::Values(slot) => {
            Element::from_cpp(name) == Some(slot.stream.element)
                && !matches!(name, "char" | "std::byte")
                && field.type_alias != "Double32_t"
        }
        NodeKind::Cardinality { .. } | NodeKind::Variant { .. } | NodeKind::Array { .. } => true,
        NodeKind::List {
            form: CollectionForm::String | CollectionForm::Streamer(_) | CollectionForm::Object(_),
            ..
        } => true,
        NodeKind::List { form: CollectionForm::List, .. } => name.starts_with("std::vector<"),
        NodeKind::List { form: CollectionForm::Optional, .. } | NodeKind::Record(_) => false,
        NodeKind::Bitset { .. } => false,
    };
    match field.type_alias.as_str() {
        "Double32_t" => Some(field.type_alias.clone()),
        _ => (!told && !name.is_empty()).then(|| name.to_owned()),
    }
}

/// Makes the node of a field with two columns: offsets and bytes.
fn bytes(
    field: FieldId,
    form: CollectionForm,
    slot: impl Fn(usize, usize, Element) -> Reason<StreamSlot>,
) -> Reason<NodeKind> {
    let kind = NodeKind::Values(slot(1, 2, Element::Byte)?);
    let item = Node { field, kind, type_name: None };
    Ok(NodeKind::List { offsets: slot(0, 2, Element::Index)?, item: Box::new(item), form })
}

fn only_child(field: &Field) -> Reason<FieldId> {
    match field.children.as_slice() {
        &[only] => Ok(only),
        children => Err(format!("has {} subfields instead of one", children.len())),
    }
}
