//! Writes the objects of a graph, each where the first pointer leads to it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{self, Write};

use nyssa_data::dataset::CppType;
use nyssa_root::streamer::{Linked, ObjectGraph};

use super::{How, JsonStyle};

/// The largest number of objects around an object. Programs that read JSON have such limits as well.
const MAX_DEPTH: usize = 100;

/// The objects of a graph, and which of them were written.
pub(super) struct Objects<'a> {
    graph: &'a ObjectGraph,
    types: Vec<CppType>,
    /// The number of JSON objects in the text.
    count: Cell<usize>,
    /// The numbers that the objects of the graph have in the text.
    written: RefCell<HashMap<u32, usize>>,
}

impl Objects<'_> {
    /// Counts a JSON object.
    pub(super) fn begin(&self) {
        self.count.set(self.count.get() + 1);
    }
}

/// Writes an object with all objects that it leads to. An object that is written already is named by its number among
/// the JSON objects of the text, which count from 0.
///
/// # Errors
/// `out` cannot be written; `Unsupported` for objects that are nested too deep.
pub(crate) fn write_object(out: &mut dyn Write, graph: &ObjectGraph) -> io::Result<()> {
    let types = graph.tables().iter().map(|table| CppType::of_arrow(&table.field)).collect();
    let (count, written) = (Cell::new(0), RefCell::default());
    let objects = Objects { graph, types, count, written };
    write(out, 1, How { style: JsonStyle::Object, objects: Some(&objects), depth: 0 })
}

/// Writes the object with this number.
pub(super) fn write(out: &mut dyn Write, number: u32, how: How<'_>) -> io::Result<()> {
    let Some(objects) = how.objects else { return out.write_all(b"null") };
    if how.depth > MAX_DEPTH {
        let message = format!("there is no JSON for objects in more than {MAX_DEPTH} others");
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    let index = (number as usize).checked_sub(1);
    let undecoded = match index.and_then(|index| objects.graph.objects().get(index)) {
        None | Some(Linked::Null) => return out.write_all(b"null"),
        Some(Linked::Undecoded(undecoded)) => undecoded,
        Some(Linked::Row { table, row }) => {
            if let Some(known) = objects.written.borrow().get(&number) {
                return write!(out, "{{\"$ref\":{known}}}");
            }
            let (Some(table), Some(cpp_type)) =
                (objects.graph.tables().get(*table), objects.types.get(*table))
            else {
                return out.write_all(b"null");
            };
            objects.written.borrow_mut().insert(number, objects.count.get());
            let how = How { depth: how.depth + 1, ..how };
            return super::value(out, &table.array, *row, cpp_type, how);
        }
    };
    objects.begin();
    out.write_all(b"{\"_typename\":")?;
    serde_json::to_writer(&mut *out, &undecoded.class)?;
    out.write_all(b",\"_undecoded\":")?;
    serde_json::to_writer(&mut *out, &undecoded.reason)?;
    out.write_all(b"}")
}
