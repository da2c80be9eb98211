//! Finds the collections of a schema that exist only to hold the data of projected fields ([`Backing`]).

use std::collections::{HashMap, HashSet};

use nyssa_data::dataset::{BACKING_PREFIX, Backing, Shown, common_names};

use super::column_rules::is_cardinality;
use super::{FieldId, Schema, Structure};

impl Schema {
    /// Returns the collections `among` the given fields whose data is shown completely by projected fields `among`
    /// them. Readers need not read them in addition to these fields.
    pub fn backing(&self, among: &[FieldId]) -> Vec<(FieldId, Shown)> {
        let candidate = |&id: &FieldId| {
            let field = self.field(id);
            field.structure == Structure::Collection
                && field.type_name.is_empty()
                && field.source.is_none()
                && field.name.starts_with(BACKING_PREFIX)
        };
        let candidates: Vec<FieldId> = among.iter().copied().filter(candidate).collect();
        if candidates.is_empty() {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let mut shown: HashMap<FieldId, Shown> = HashMap::new();
        for &top in among {
            let field = self.field(top);
            let Some(source) = field.source else { continue };
            let shown = shown.entry(self.above(source)).or_default();
            let size = is_cardinality(&field.type_name);
            let names = if size { &mut shown.sizes } else { &mut shown.members };
            names.insert(field.name.clone());
            self.each_below(top, &mut |id| {
                seen.extend(self.field(id).source);
            });
        }
        let all_seen = |id: FieldId| {
            let mut all = true;
            self.each_below(id, &mut |id| {
                all &= self.field(id).columns.is_empty() || seen.contains(&id);
            });
            all
        };
        let whole = candidates.into_iter().filter(|&id| all_seen(id));
        whole.filter_map(|id| Some((id, shown.remove(&id)?))).collect()
    }
}

/// Renames the collections behind projected fields, so that equal collections have equal names in all
/// schemas; see [`common_names`].
pub fn align(schemas: &mut [&mut Schema]) {
    let (mut backings, mut ids) = (Vec::new(), Vec::new());
    let mut taken: HashSet<String> = HashSet::new();
    for schema in schemas.iter() {
        let top: Vec<FieldId> = schema.top_level().map(|(id, _)| id).collect();
        let name = |id: FieldId| schema.field(id).name.clone();
        let (hidden, backing): (Vec<FieldId>, Backing) =
            schema.backing(&top).into_iter().map(|(id, shown)| (id, (name(id), shown))).unzip();
        taken.extend(top.iter().filter(|id| !hidden.contains(id)).map(|&id| name(id)));
        ids.push(hidden);
        backings.push(backing);
    }
    for ((schema, ids), names) in schemas.iter_mut().zip(ids).zip(common_names(&backings, taken)) {
        for (id, name) in ids.into_iter().zip(names) {
            schema.fields[id.0 as usize].name = name;
        }
    }
}

#[cfg(test)]
#[path = "backing_tests.rs"]
mod tests;
