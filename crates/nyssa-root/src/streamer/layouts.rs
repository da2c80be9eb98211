//! Compiles the layouts of many branches of one file. Each class name is looked up once.

use std::collections::HashMap;

use super::ObjectLayout;
use super::compile::Compiler;
use super::leaf::Member;
use crate::error::Result;
use crate::streamer::info::{ClassInfo, StreamerInfos, known};
use crate::type_name;

/// How the objects of branches are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectsAs {
    /// As values, with the objects behind their pointers.
    #[default]
    Values,
    /// Objects that are not split, as the bytes that the streamers of their classes wrote.
    Bytes,
    /// As values whose pointers are the numbers of other objects.
    Links,
}

/// The maker of the layouts of the branches of one file.
pub struct Layouts<'a> {
    compiler: Compiler<'a>,
    /// The streamer infos by normalised class name, in the order of the file.
    by_name: HashMap<String, Vec<&'a ClassInfo>>,
    of_today: bool,
    objects: ObjectsAs,
}

impl<'a> Layouts<'a> {
    /// Makes layouts of the classes that `infos` describe.
    pub fn new(infos: &'a StreamerInfos) -> Self {
        let mut by_name: HashMap<String, Vec<&ClassInfo>> = HashMap::new();
        for info in infos.classes() {
            by_name.entry(type_name::normalize(&info.name)).or_default().push(info);
        }
        Self {
            compiler: Compiler::new(infos.classes()).or_known(),
            by_name,
            of_today: infos.tagged_arrays,
            objects: ObjectsAs::Values,
        }
    }

    /// Sets how objects are read.
    #[must_use]
    pub fn objects(mut self, objects: ObjectsAs) -> Self {
        self.objects = objects;
        if objects == ObjectsAs::Links {
            self.compiler = self.compiler.linked();
        }
        self
    }

    /// Returns whether whole objects are read as bytes.
    pub fn is_raw(&self) -> bool {
        self.objects == ObjectsAs::Bytes
    }

    /// Returns whether the streamed bytes of objects can be copied to a new file without change.
    pub fn are_of_today(&self) -> bool {
        self.of_today
    }

    /// Returns the streamer infos of a class in the order of the file. If the file has none, they come from
    /// nyssa's own tables.
    pub fn versions(&self, class: &str) -> Vec<&'a ClassInfo> {
        match self.by_name.get(&type_name::normalize(class)) {
            Some(infos) => infos.clone(),
            None if class == "TObject" => vec![known::t_object()],
            None => known::built_in(class).iter().collect(),
        }
    }

    /// Makes the layout of a branch with whole values of a C++ type. `type_name` is ROOT's name of a class, a
    /// standard container or a string. With `version`, a class version and a checksum, objects have the members
    /// of this version and no header. Containers always have a header.
    ///
    /// # Errors
    /// `Unsupported` with class and member if a member cannot be read or a class has no streamer info.
    pub fn whole(&mut self, type_name: &str, version: Option<(i32, u32)>) -> Result<ObjectLayout> {
        self.compiler.fresh().whole(type_name, version).map(ObjectLayout::new)
    }

    /// Makes the layout of the objects of a class.
    ///
    /// # Errors
    /// `Unsupported` with class and member if a member cannot be read or a class has no streamer info.
    pub fn object(&mut self, class: &str) -> Result<ObjectLayout> {
        self.compiler.fresh().root(&[class]).map(ObjectLayout::new)
    }

    /// Makes the layout of a branch with one member of a class.
    ///
    /// # Errors
    /// `Unsupported` with class and member if a member cannot be read or a class has no streamer info;
    /// `OutOfSpecification` if the class has no such member.
    pub fn member(&mut self, member: Member<'_>) -> Result<ObjectLayout> {
        self.compiler.fresh().element(member).map(ObjectLayout::new)
    }

    /// Makes the layout of a branch with a `TClonesArray` of objects of the class `item`.
    ///
    /// # Errors
    /// `Unsupported` with class and member if a member cannot be read or a class has no streamer info.
    pub fn clones(&mut self, item: &str) -> Result<ObjectLayout> {
        self.compiler.fresh().clones(item).map(ObjectLayout::new)
    }
}
