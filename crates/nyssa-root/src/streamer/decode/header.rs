//! Decodes version headers.

use super::Decoder;
use crate::cursor::{Cursor, VersionHeader};
use crate::error::{Error, Kind, Result};
use crate::streamer::compile::ClassVersion;
use crate::streamer::info::known;
use crate::streamer::node::{Class, Node, Version};

/// The class version of all `TObject`s (`TObject::Streamer`).
const T_OBJECT_VERSION: u16 = 1;
/// The bit that marks the upper half of a byte count.
const BYTE_COUNT: u16 = 1 << 14;

impl Decoder<'_> {
    /// Returns the version that a header names by its number or by the checksum that follows.
    pub(super) fn class_version<'c>(
        &mut self,
        class: &'c Class,
        version: u16,
    ) -> Result<&'c Version> {
        let number = i32::from(version.cast_signed());
        if number > 0 {
            return class.version(number).ok_or_else(|| {
                self.unshaped(class, number, 0);
                unknown_version(class, &format!("version {number}"))
            });
        }
        let mut ahead = self.cursor.clone();
        let checksum = ahead.be_u32();
        if let Ok(Some(version)) = checksum.as_ref().map(|checksum| class.checksum(*checksum)) {
            self.cursor = ahead;
            return Ok(version);
        }
        // Classes that are not made to be stored have version 0 and no checksum.
        let unnumbered = class.versions.iter().find(|known| known.version == 0);
        match (unnumbered, checksum) {
            (Some(version), _) if number == 0 && !class.fixed => Ok(version),
            (_, Ok(checksum)) => {
                self.unshaped(class, number, checksum);
                Err(unknown_version(class, &format!("checksum {checksum:#010x}")))
            }
            (_, Err(short)) => Err(short),
        }
    }

    /// Records that a version of a class does not have the shape of the class.
    pub(super) fn unshaped(&mut self, class: &Class, number: i32, checksum: u32) {
        self.conflict = Some((class.name.to_string(), ClassVersion { number, checksum }));
    }

    /// Returns the version of an object after its header.
    pub(super) fn object_version<'c>(
        &mut self,
        class: &'c Class,
        header: &VersionHeader,
    ) -> Result<&'c Version> {
        let empty = header.end == Some(self.cursor.position());
        match class.versions.first() {
            // If there is no room for a checksum, there are no members.
            Some(newest) if empty && header.version == 0 => Ok(newest),
            _ => self.class_version(class, header.version),
        }
    }

    /// Returns whether an object without a byte count has no version either. The cursor is after the bytes that
    /// would be the version. Some versions of ROOT write classes without a dictionary in this way, and classes
    /// without members (`TBufferFile::ReadClassEmulated`). If the object begins with its `TObject`, the version
    /// of the `TObject` comes first.
    pub(super) fn headless(&self, class: &Class) -> bool {
        let Some(newest) = class.versions.first() else { return false };
        match newest.steps.first().map(|step| &step.node) {
            None => newest.version != 0,
            Some(Node::TObject) => {
                let next = self.cursor.clone().be_u16();
                next.is_ok_and(|next| next != T_OBJECT_VERSION && next & BYTE_COUNT == 0)
            }
            Some(_) => false,
        }
    }

    /// Checks that an object ends at the byte that its header says.
    pub(super) fn finish(
        &self,
        class: &str,
        header: &VersionHeader,
        start: &Cursor<'_>,
    ) -> Result<()> {
        match header.end {
            Some(end) if end != self.cursor.position() => Err(start.error(format!(
                "{class} says that it ends at byte {end}, its members end at byte {}",
                self.cursor.position()
            ))),
            _ => Ok(()),
        }
    }
}

/// Names the source of the bytes of objects that are not decoded.
pub(super) const RAW: &str = "streamer=\"raw\" where the file is opened gives the objects as bytes";

/// Returns another possible reason why the bytes of an object do not match its class. It is empty for classes
/// of ROOT.
fn own_streamer(class: &str, who: &str) -> String {
    if known::is_known(class) || class.starts_with("TStreamer") {
        return String::new();
    }
    format!(
        "; or {who} has a streamer of its own in its library, so that the streamer info does not \
         describe its bytes: streamer=\"raw\" where the file is opened gives them as they are"
    )
}

/// Adds another possible reason to an error in the bytes of a value.
pub(super) fn of_value(node: &Node, error: Error) -> Error {
    let (Node::Object(class) | Node::Members(class, _), Kind::OutOfSpecification) =
        (node, error.kind())
    else {
        return error;
    };
    let who = format!("{}, or a class in it,", class.name);
    let message = format!("{}{}", error.message(), own_streamer(&class.name, &who));
    let place = error.place().clone();
    Error::new(error.kind(), message).at(|fill| *fill = place)
}

/// Returns the error for a version that the streamer infos do not describe.
pub(super) fn unknown_version(class: &Class, version: &str) -> Error {
    let known: Vec<String> =
        class.versions.iter().map(|version| version.version.to_string()).collect();
    Error::unsupported(format!(
        "no streamer info of {version} of class {}, only of version {}{}",
        class.name,
        known.join(", "),
        own_streamer(&class.name, &class.name)
    ))
}
