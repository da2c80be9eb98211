//! Finds the layouts of the classes of streamer fields.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::ObjectLayout;
use nyssa_root::streamer::info::StreamerInfos;

use crate::format::{ExtraType, Footer, Header};
use crate::schema::{FieldId, Schema, Structure};

/// The layouts of the classes of streamer fields.
#[derive(Clone, Debug, Default)]
pub struct Streamers {
    /// The layout of each class, or the reason why it has none.
    layouts: HashMap<String, std::result::Result<Arc<ObjectLayout>, String>>,
    /// The top-level fields whose objects stay bytes.
    raw: HashSet<FieldId>,
}

impl Streamers {
    /// Compiles the classes of a schema's streamer fields by the extra type information of the
    /// RNTuple and the streamer infos of its file.
    pub fn compile(
        file: Option<&RootFile>,
        header: &Header,
        footer: &Footer,
        schema: &Schema,
    ) -> Self {
        let fields = || schema.fields.iter().filter(|f| f.structure == Structure::Streamer);
        if fields().next().is_none() {
            return Self::default();
        }
        let infos = infos(file, header, footer);
        let mut layouts = HashMap::new();
        for field in fields() {
            let compile = || {
                let infos = infos.as_ref().map_err(ToString::to_string)?;
                let names = [field.type_alias.as_str(), field.type_name.as_str()];
                let names = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>();
                ObjectLayout::compile(infos, &names).map(Arc::new).map_err(|e| e.to_string())
            };
            layouts.entry(field.type_name.clone()).or_insert_with(compile);
        }
        Self { layouts, raw: HashSet::new() }
    }

    /// Keeps the objects in these top-level fields as bytes.
    pub(super) fn keep_raw(&mut self, fields: HashSet<FieldId>) {
        self.raw = fields;
    }

    /// Returns whether the objects on the path of a field are decoded.
    pub(super) fn decodes(&self, field_path: &[FieldId]) -> bool {
        field_path.first().is_none_or(|id| !self.raw.contains(id))
    }

    /// Returns the layout of a class, or the reason why it has none.
    pub fn layout(&self, class: &str) -> std::result::Result<Arc<ObjectLayout>, String> {
        self.layouts
            .get(class)
            .cloned()
            .unwrap_or_else(|| Err("it has no streamer info".to_owned()))
    }
}

/// Returns the streamer infos of the RNTuple, then the streamer infos of its file. For an RNTuple, ROOT leaves out
/// the classes of containers that were always empty.
pub(super) fn infos(
    file: Option<&RootFile>,
    header: &Header,
    footer: &Footer,
) -> Result<StreamerInfos> {
    let records = header.records.extra_types.iter().chain(&footer.extension.extra_types);
    let lists = records.filter_map(|record| record.streamer_list().transpose());
    let lists = lists.collect::<Result<Vec<_>>>()?;
    let mut infos = StreamerInfos::parse_lists(&lists, ExtraType::LIST_OFFSET)?;
    if let Some(file) = file {
        infos.add(file.streamer_infos()?.as_ref());
    }
    Ok(infos)
}
