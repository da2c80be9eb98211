//! The layout of an RNTuple: its cluster groups, attribute sets and late fields.

use std::fmt;

use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::FieldId;
use serde::Serialize;

/// The cluster groups, and the additions to the fields of the header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RNTupleLayout {
    /// The number of cluster groups. Each has a separate page list.
    pub cluster_groups: u64,
    /// The names of the attribute sets.
    pub attribute_sets: Vec<String>,
    /// The paths of the fields that were added after entries were written, without their subfields.
    pub late_fields: Vec<String>,
}

impl RNTupleLayout {
    /// Returns the layout of an open RNTuple. It does no I/O.
    pub fn of(reader: &Reader) -> Self {
        let (schema, first) = (reader.schema(), reader.header().records.fields.len());
        let late = schema.fields.iter().enumerate().skip(first);
        let late =
            late.filter(|(_, field)| field.parent.is_none_or(|parent| (parent.0 as usize) < first));
        let path = |(index, _): (usize, _)| Some(schema.path(FieldId(u32::try_from(index).ok()?)));
        Self {
            cluster_groups: reader.footer().cluster_groups.len() as u64,
            attribute_sets: reader.attribute_links().iter().map(|link| link.name.clone()).collect(),
            late_fields: late.filter_map(path).collect(),
        }
    }

    /// Returns whether there is more than one cluster group, or anything was added.
    pub fn is_special(&self) -> bool {
        self.cluster_groups > 1 || !self.attribute_sets.is_empty() || !self.late_fields.is_empty()
    }
}

impl fmt::Display for RNTupleLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "{} cluster group{}", self.cluster_groups, plural(self.cluster_groups))?;
        for (what, names) in
            [("attribute set", &self.attribute_sets), ("late field", &self.late_fields)]
        {
            if !names.is_empty() {
                write!(f, ", {what}{} {}", plural(names.len() as u64), names.join(" "))?;
            }
        }
        Ok(())
    }
}
