//! Makes the nodes of containers from the names of their types.

use super::{Compiler, MAX_ARRAY, refused};
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::container::Item;
use crate::streamer::info::{Element, ElementForm};
use crate::streamer::node::{Class, Node, Pair, Step, Version};
use crate::type_name;

/// The name of the only member in the streamer info of a class that is a collection.
pub(super) const THIS: &str = "This";

impl Compiler<'_> {
    /// Makes the node of a member that is a standard container or string, or a pointer to one.
    pub(super) fn container(
        &mut self,
        element: &Element,
        dimensions: Option<Vec<usize>>,
    ) -> Result<Node> {
        let mut item = Item::parse(element.type_name.trim_end_matches('*'));
        if element.name == THIS
            && matches!(item, Some(Item::Object(_)))
            && let Some(items) = items_of_collection(element)
        {
            item = Item::parse(&items);
        }
        if !self.links && item.as_ref().is_some_and(|item| self.holds_itself(item)) {
            return match dimensions {
                None => Ok(Node::Opaque(item.and_then(|item| only_class(&item)))),
                Some(_) => Err(refused(element)),
            };
        }
        let content = match self.content(item.as_ref()) {
            Ok(content) => content,
            // The type of items that are collections of such items is infinite.
            Err(_) if element.name == THIS && dimensions.is_none() && !self.links => {
                return Ok(Node::Opaque(item.and_then(|item| only_class(&item))));
            }
            Err(error) => return Err(error),
        };
        if item.is_none_or(|item| matches!(item, Item::Object(_))) {
            return Err(refused(element));
        }
        Ok(Node::Container(Box::new(content), dimensions))
    }

    /// Returns whether a container has items of a class that is being compiled. The type of such items is
    /// infinite.
    fn holds_itself(&self, item: &Item) -> bool {
        match item {
            Item::Object(class) => {
                self.find(class).is_some_and(|name| self.stack.iter().any(|outer| outer == name))
            }
            Item::Sequence(inner) => self.holds_itself(inner),
            Item::Pair(first, second, _) | Item::Map(first, second, _) => {
                self.holds_itself(first) || self.holds_itself(second)
            }
            _ => false,
        }
    }

    /// Makes the node of the content of a container that is a member.
    fn content(&mut self, item: Option<&Item>) -> Result<Node> {
        let Some(Item::Sequence(inner)) = item else { return self.item(item) };
        match self.enum_number(inner) {
            // In the container of a member, enums take 32 bits, whatever their type is.
            Some(number) => {
                let signed = number.is_float() || *number.integers().start() < 0;
                let number = if signed { Number::Int32 } else { Number::UInt32 };
                Ok(Node::Sequence(Box::new(Node::Number(Basic::Plain(number)))))
            }
            None => self.item(item),
        }
    }

    /// Returns the type of the numbers of an enum. Returns `None` for other types.
    fn enum_number(&self, item: &Item) -> Option<Number> {
        let Item::Object(class) = item else { return None };
        let name = Some(class).filter(|name| !self.by_name && !self.knows(name))?;
        self.enums.get(&type_name::normalize(name)).copied()
    }

    /// Makes the node of an item of a container.
    pub(super) fn item(&mut self, item: Option<&Item>) -> Result<Node> {
        self.nodes += 1;
        Ok(match item {
            None => return Err(Error::unsupported("a container that nyssa does not know")),
            Some(Item::Basic(basic)) => Node::Number(*basic),
            Some(Item::Text | Item::RootText) => Node::Text,
            Some(item @ Item::Object(class)) if !self.by_name && !self.knows(class) => {
                match self.enum_number(item) {
                    Some(number) => Node::Number(Basic::Plain(number)),
                    // A class whose containers are always empty has no streamer info.
                    None => Node::Unknown(class.clone()),
                }
            }
            Some(Item::Object(class)) => self.class(class)?,
            Some(Item::Pointer(class)) => self.pointer(class)?,
            Some(Item::Sequence(inner)) => Node::Sequence(Box::new(self.item(Some(inner))?)),
            Some(Item::Bitset(size)) if *size <= MAX_ARRAY => Node::Bitset(*size),
            Some(Item::Bitset(size)) => {
                return Err(Error::unsupported(format!("a bitset of {size} bits")));
            }
            Some(Item::Pair(first, second, name)) => {
                Node::Object(Box::new(self.pair("pair", (first, second, name))?))
            }
            Some(Item::Map(key, value, name)) => Node::Map(Box::new(Pair {
                key: self.item(Some(key))?,
                value: self.item(Some(value))?,
                class: self.pair("pair", (key, value, name))?,
            })),
        })
    }

    /// Returns the checksum of a pair, or 0 if there is no streamer info for it. The streamer info of its name counts most:
    /// pairs with other containers may have the same members.
    fn pair_checksum(&self, first: &Item, second: &Item, name: &str) -> u32 {
        let pairs = self.order.iter().filter(|name| name.starts_with("pair<"));
        let mut pairs =
            pairs.filter_map(|name| self.classes.get(name)?.first()).filter_map(|info| {
                match Item::parse(&info.name) {
                    Some(Item::Pair(key, two, own)) if same(first, &key) && same(second, &two) => {
                        Some((own == name, info.checksum))
                    }
                    _ => None,
                }
            });
        let other = pairs.next();
        let named = other.into_iter().chain(pairs).find(|(is_named, _)| *is_named);
        named.or(other).map_or(0, |(_, checksum)| checksum)
    }

    /// Makes the class of a pair.
    pub(super) fn pair(
        &mut self,
        class: &str,
        (first, second, pair): (&Item, &Item, &str),
    ) -> Result<Class> {
        let mut steps = Vec::new();
        for (name, member, item) in [("_0", "first", first), ("_1", "second", second)] {
            let node = self.content(Some(item))?;
            let container =
                matches!(item, Item::Text | Item::Sequence(_) | Item::Map(..) | Item::Bitset(_));
            let node = if container { Node::Container(Box::new(node), None) } else { node };
            steps.push(Step {
                place: format!("{class}::{member}"),
                name: name.to_owned(),
                node,
                base: false,
                base_version: 0,
                target: None,
                widened: None,
            });
        }
        let missing = Vec::new();
        let checksum = self.pair_checksum(first, second, pair);
        let version = Version { version: 0, checksum, steps, missing, conflict: None };
        let mut class = Class { name: class.into(), versions: vec![version], fixed: true };
        class.align();
        Ok(class)
    }
}

/// Returns whether two types are the same, even if their classes are spelt in different ways.
fn same(this: &Item, other: &Item) -> bool {
    match (this, other) {
        (Item::Object(this), Item::Object(other)) | (Item::Pointer(this), Item::Pointer(other)) => {
            type_name::normalize(this) == type_name::normalize(other)
        }
        (Item::Sequence(this), Item::Sequence(other)) => same(this, other),
        (Item::Pair(this, more, _), Item::Pair(other, rest, _))
        | (Item::Map(this, more, _), Item::Map(other, rest, _)) => {
            same(this, other) && same(more, rest)
        }
        _ => this == other,
    }
}

/// Returns the container type of a class that is a collection. Its streamer info names the class itself, and
/// the title names the items (`TStreamerInfo::Build`).
fn items_of_collection(this: &Element) -> Option<String> {
    let end = this.title.starts_with('<').then(|| this.title.rfind('>'))??;
    Some(format!("vector{}", this.title.get(..=end)?))
}

/// Returns the name and the number type of the enum of a member or of its items. The streamer info of an enum has the
/// name of the enum and the code of a number.
pub(super) fn enumerated(element: &Element) -> Option<(String, Number)> {
    let item = Item::parse(&element.type_name)?;
    let (item, number) = match (element.class.as_str(), item, element.form()) {
        ("TStreamerBasicType", item, ElementForm::Number(basic) | ElementForm::Numbers(basic)) => {
            (item, basic.number())
        }
        ("TStreamerSTL", Item::Sequence(item), _) => (*item, element.item_number()?),
        _ => return None,
    };
    let Item::Object(class) = item else { return None };
    Some((type_name::normalize(&class), number))
}

/// Returns the class of the objects in a container if there is only one.
fn only_class(item: &Item) -> Option<String> {
    match item {
        Item::Object(class) => Some(class.clone()),
        Item::Sequence(inner) => only_class(inner),
        Item::Map(first, second, _) if !matches!(**first, Item::Object(_) | Item::Pointer(_)) => {
            only_class(second)
        }
        _ => None,
    }
}

/// Returns whether a type is a standard container.
pub(in crate::streamer) fn is_container(type_name: &str) -> bool {
    matches!(Item::parse(type_name), Some(Item::Sequence(_) | Item::Map(..) | Item::Bitset(_)))
}
