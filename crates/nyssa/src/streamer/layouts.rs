//! The classes of one file, looked up and compiled for many branches: what names say is found once.

use std::collections::HashMap;

use super::ObjectLayout;
use super::compile::Compiler;
use super::leaf::Member;
use crate::error::Result;
use crate::streamer::info::{ClassInfo, StreamerInfos, known};
use crate::type_name;

/// Layouts of the branches of one file.
pub struct Layouts<'a> {
    compiler: Compiler<'a>,
    /// Streamer infos by class name in normal form, in the order of the file.
    by_name: HashMap<String, Vec<&'a ClassInfo>>,
    of_today: bool,
    /// Whether objects as a whole are given as their bytes.
    raw: bool,
}

impl<'a> Layouts<'a> {
    /// For the classes that `infos` describe.
    pub fn new(infos: &'a StreamerInfos) -> Self {
        let mut by_name: HashMap<String, Vec<&ClassInfo>> = HashMap::new();
        for info in infos.classes() {
            by_name.entry(type_name::normalize(&info.name)).or_default().push(info);
        }
        Self {
            compiler: Compiler::new(infos.classes()).or_known(),
            by_name,
            of_today: infos.tagged_arrays,
            raw: false,
        }
    }

    /// Whether objects as a whole are to be given as their bytes.
    #[must_use]
    pub fn raw(mut self, raw: bool) -> Self {
        self.raw = raw;
        self
    }

    /// Whether objects as a whole are given as their bytes.
    pub fn is_raw(&self) -> bool {
        self.raw
    }

    /// Whether bytes that objects were streamed to mean the same in a new file.
    pub fn are_of_today(&self) -> bool {
        self.of_today
    }

    /// The streamer infos of a class, in the order of the file; as known by heart where the file leaves
    /// it out.
    pub fn versions(&self, class: &str) -> Vec<&'a ClassInfo> {
        match self.by_name.get(&type_name::normalize(class)) {
            Some(infos) => infos.clone(),
            None if class == "TObject" => vec![known::t_object()],
            None => known::by_heart(class).iter().collect(),
        }
    }

    /// The layout of a branch that holds values of a C++ type as a whole: a class, a standard
    /// container or a string, as ROOT names it. With `version` and checksum objects of a class are the
    /// members of this version, without a header; containers have one in any case.
    ///
    /// # Errors
    /// As [`ObjectLayout::compile`].
    pub fn whole(&mut self, type_name: &str, version: Option<(i32, u32)>) -> Result<ObjectLayout> {
        self.compiler.fresh().whole(type_name, version).map(ObjectLayout::new)
    }

    /// The layout of the objects of a class; see [`ObjectLayout::compile`].
    ///
    /// # Errors
    /// As [`ObjectLayout::compile`].
    pub fn object(&mut self, class: &str) -> Result<ObjectLayout> {
        self.compiler.fresh().root(&[class]).map(ObjectLayout::new)
    }

    /// The layout of a branch that holds one member of a class.
    ///
    /// # Errors
    /// As [`ObjectLayout::compile`]; `OutOfSpecification` when the class has no such member.
    pub fn member(&mut self, member: Member<'_>) -> Result<ObjectLayout> {
        self.compiler.fresh().element(member).map(ObjectLayout::new)
    }

    /// The layout of a branch that holds a `TClonesArray` of objects of the class `item`.
    ///
    /// # Errors
    /// As [`ObjectLayout::compile`].
    pub fn clones(&mut self, item: &str) -> Result<ObjectLayout> {
        self.compiler.fresh().clones(item).map(ObjectLayout::new)
    }
}
