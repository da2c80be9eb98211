//! Compares the parts of a tree besides its branches and entries. Trees that are joined can have only one of each
//! part.

use std::collections::HashMap;

use nyssa_root::streamer::values::{ObjectId, Value, View};

use super::tree::StoredTree;

/// The names of the parts of a tree for messages, with the members that hold them.
const PARTS: [(&str, &str); 5] = [
    ("title", "fTitle"),
    ("weight (TTree::SetWeight)", "fWeight"),
    ("aliases", "fAliases"),
    ("friends", "fFriends"),
    ("user information", "fUserInfo"),
];
/// The members of every object that do not describe its content.
const BOOKKEEPING: [&str; 2] = ["fBits", "fUniqueID"];

impl StoredTree {
    /// Returns the name of each part, and its content as text. A part that cannot be read has no text.
    pub fn parts(&self) -> Vec<(&'static str, Option<String>)> {
        let root = self.object.object().root();
        let part = |(name, member)| (name, text(root, root.get(member)));
        let mut titles: Vec<_> = self.branches.iter().collect();
        titles.sort_by(|a, b| a.path.cmp(&b.path));
        let title = |id| root.of(id).str("fTitle").unwrap_or_default();
        let titles = titles.into_iter().map(|item| format!("{}:{}\n", item.path, title(item.id)));
        let titles = ("titles of branches", Some(titles.collect()));
        PARTS.into_iter().map(part).chain([titles]).collect()
    }
}

/// Returns the text of a value with the objects that it leads to. A list without items counts as no list.
fn text(root: View<'_>, value: Option<&Value>) -> Option<String> {
    let mut text = Text::default();
    match value {
        Some(Value::Object(id)) if root.of(*id).items().is_ok_and(|all| all.is_empty()) => {}
        None | Some(Value::Null) => {}
        Some(value) => text.put(value),
    }
    let mut next = 0;
    while let Some(&id) = text.objects.get(next) {
        let view = root.of(id);
        text.out.push_str(view.class());
        for (name, value) in view.members().filter(|(name, _)| !BOOKKEEPING.contains(name)) {
            text.out.push_str(name);
            text.put(value);
        }
        next += 1;
    }
    (!text.is_unknown).then_some(text.out)
}

#[derive(Default)]
struct Text {
    out: String,
    /// The objects in the order of their first mention, and their numbers in this order.
    objects: Vec<ObjectId>,
    numbers: HashMap<ObjectId, usize>,
    is_unknown: bool,
}

impl Text {
    fn put(&mut self, value: &Value) {
        match value {
            Value::Object(id) => {
                let number = *self.numbers.entry(*id).or_insert_with(|| {
                    self.objects.push(*id);
                    self.objects.len()
                });
                self.out.push_str(&format!("object {number},"));
            }
            Value::List(items) => items.iter().for_each(|item| self.put(item)),
            Value::Unknown(_) => self.is_unknown = true,
            value => self.out.push_str(&format!("{value:?},")),
        }
    }
}
