//! Chooses the branches that become streamer fields: branches that the options name, branches that are smaller in
//! this form, and branches without another type in RNTuple.

use std::collections::HashSet;
use std::ops::Range;

use arrow_array::ArrayRef;
use nyssa_data::dataset::Filter;
use nyssa_rntuple::choose::{Choices, FieldChooser, apply, sample};
use nyssa_rntuple::page::SealedColumn;
use nyssa_rntuple::schema::{FieldId, FieldType, Schema, SchemaBuilder};
use nyssa_rntuple::seal::Scratch;
use nyssa_rntuple::write;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::{Layouts, ObjectLayout};
use nyssa_root::type_name;
use nyssa_ttree::Reader;
use rayon::prelude::*;

use super::classes::Classes;
use super::clusters;
use super::failures::{Failures, NotStreamed, unsupported};
use super::map::{Checked, ConversionPlan, Rules, map};
use super::model::Input;
use super::streamer::{StreamerBranch, StreamerBranches};
use super::unit::{Data, Units};
use crate::convert::options::{Streamer, ToRNTuple};
use crate::convert::report::StreamerFieldReport;
use crate::heuristics::convert;

/// The data on which the choice depends.
pub(super) struct StreamerFieldChooser<'a> {
    pub file: &'a RootFile,
    /// The classes of the file.
    pub classes: &'a Classes<'a>,
    /// The type as which each input reads, and the type of its field.
    pub checks: &'a [Checked],
    pub failures: &'a Failures,
    pub reader: &'a Reader,
    pub inputs: &'a [Input<'a>],
    pub filter: &'a Filter,
    pub entries: &'a Range<u64>,
    pub options: &'a ToRNTuple,
    pub context: &'a Context,
}

/// The reason why a branch can become a streamer field.
enum Reason {
    /// The options request it.
    Requested,
    /// The field may be smaller than columns.
    Size,
    /// The branch has no other type in RNTuple. The text is the reason.
    NoType(String),
}

/// The result of streaming the objects of the first cluster.
enum StreamingResult {
    /// The objects can be streamed, or this was not tried.
    Streamed,
    /// The objects cannot be streamed, but their bytes can be copied from the file.
    Carried(StreamerBranch),
    /// The numbers of compressed bytes in columns, and as a streamer field.
    Sizes(u64, u64),
    /// The objects cannot be streamed. The text is the reason.
    Refused(String),
}

impl StreamerFieldChooser<'_> {
    /// Chooses the branches that become streamer fields.
    ///
    /// # Errors
    /// `InvalidArgument` for patterns that no branch of a class matches; `Cancelled`; an error if the input is
    /// damaged or cannot be read.
    pub(super) fn streamed_branches(&self) -> Result<StreamerBranches> {
        let infos = self.file.streamer_infos()?;
        let mut layouts = Layouts::new(&infos);
        let described = self.file.streamer_list()?;
        let requested_branches = Streamer::of(&self.options.streamer)?;
        let globs = match &requested_branches {
            Streamer::Globs(globs) => Some(Filter::new(globs, &[])?),
            _ => None,
        };
        let mut candidates = Vec::new();
        let mut refused = Vec::new();
        let mut requested = false;
        for (index, (input, checked)) in self.inputs.iter().zip(self.checks).enumerate() {
            let Some(class) = self.class_of(input) else { continue };
            let matched = globs.as_ref().is_some_and(|globs| globs.takes(&input.path));
            requested |= matched;
            let reason = match (checked, &requested_branches) {
                (_, Streamer::All) => Reason::Requested,
                (_, _) if matched => Reason::Requested,
                (Err(reason), _) => Reason::NoType(reason.clone()),
                (Ok(_), Streamer::Auto) => Reason::Size,
                (Ok(_), _) => continue,
            };
            let streamed =
                StreamerBranch::new((&mut layouts, &infos), &class, input, checked.is_ok())
                    .map_err(|error| error.to_string())
                    .and_then(|streamed| streamed.require_info(&described))
                    .and_then(|streamed| match self.failures.not_streamed(index) {
                        Some(NotStreamed { why, carried: false })
                            if !matches!(reason, Reason::Size) =>
                        {
                            streamed.carry(input).ok_or_else(|| why.clone())
                        }
                        Some(NotStreamed { why, .. }) => Err(why.clone()),
                        None => Ok(streamed),
                    });
            match streamed {
                Ok(streamed) => candidates.push((index, streamed, reason)),
                Err(why) => refused.push((index, class, reason, why)),
            }
        }
        if globs.is_some() && !requested {
            return Err(Error::invalid_argument(
                "the patterns of streamer fields match no branch of a class or container",
            ));
        }
        self.choose(candidates, refused)
    }

    /// Returns the class, or the standard container, of the objects of a branch.
    fn class_of(&self, input: &Input<'_>) -> Option<String> {
        let begins_late = self.reader.check_first(&input.path, self.entries).is_err();
        if !self.filter.takes(&input.path) || input.branch.data_type().is_err() || begins_late {
            return None;
        }
        let name = input.branch.type_name();
        if ObjectLayout::is_container(&name) {
            return Some(name);
        }
        self.classes.info(&type_name::normalize(&name)).map(|info| info.name.clone())
    }

    fn choose(
        &self,
        candidates: Vec<(usize, StreamerBranch, Reason)>,
        mut refused: Vec<(usize, String, Reason, String)>,
    ) -> Result<StreamerBranches> {
        let trials = self.try_all(&candidates)?;
        let mut streamed_branches = StreamerBranches::default();
        for ((index, streamed, reason), trial) in candidates.into_iter().zip(trials) {
            let mut report = self.report(index, &streamed.class);
            let mut streamed = streamed;
            report.streamer = true;
            report.reason = match &reason {
                Reason::Requested => "requested".to_owned(),
                Reason::NoType(reason) => format!("no other type in RNTuple: {reason}"),
                Reason::Size => "the smaller of both on a sample of the first cluster".to_owned(),
            };
            match trial {
                StreamingResult::Streamed => (),
                StreamingResult::Carried(carried) => streamed = carried,
                StreamingResult::Sizes(columns, streamer) => {
                    report.columns_bytes = Some(columns);
                    report.streamer_bytes = Some(streamer);
                    report.streamer = streamer < columns;
                }
                StreamingResult::Refused(why) => {
                    refused.push((index, streamed.class, reason, why));
                    continue;
                }
            }
            if streamed.is_carried() {
                report.reason += "; the bytes that are in the file";
            }
            if report.streamer {
                streamed_branches.by_input.insert(index, streamed);
            }
            streamed_branches.reports.push(report);
        }
        streamed_branches.infos = streamed_branches.describe(self.file)?;
        for (index, class, reason, why) in refused {
            if let Reason::NoType(_) = reason {
                // The report lists this branch among the branches that are left out.
                streamed_branches.not_streamed.insert(index, why);
                continue;
            }
            let mut report = self.report(index, &class);
            report.reason = format!("its objects cannot be streamed: {why}");
            streamed_branches.reports.push(report);
        }
        Ok(streamed_branches)
    }

    fn report(&self, index: usize, class: &str) -> StreamerFieldReport {
        let branch = self.inputs.get(index).map_or("", |input| &input.path);
        StreamerFieldReport {
            branch: branch.to_owned(),
            class: class.to_owned(),
            ..StreamerFieldReport::default()
        }
    }

    /// Tries to stream the first cluster of the branches that the options do not name.
    fn try_all(
        &self,
        candidates: &[(usize, StreamerBranch, Reason)],
    ) -> Result<Vec<StreamingResult>> {
        let taken: Vec<usize> = candidates.iter().map(|(index, ..)| *index).collect();
        let cluster_size = self.options.storage.cluster_size();
        let memory = self.options.output.memory();
        let cluster = clusters::first(self.inputs, &taken, self.entries, cluster_size, memory);
        self.context.pool().install(|| {
            let tried = |(index, streamed, reason): &(usize, StreamerBranch, Reason)| {
                self.context.check()?;
                let input =
                    self.inputs.get(*index).ok_or_else(|| Error::not_found("no such branch"))?;
                self.try_branch(input, streamed, reason, &cluster)
            };
            candidates.par_iter().map(tried).collect()
        })
    }

    fn try_branch(
        &self,
        input: &Input<'_>,
        streamed: &StreamerBranch,
        reason: &Reason,
        cluster: &Range<u64>,
    ) -> Result<StreamingResult> {
        let read = |streamed: &StreamerBranch, entries: &Range<u64>| {
            streamed.read(self.reader, &input.path, entries)
        };
        match reason {
            Reason::Requested => Ok(StreamingResult::Streamed),
            Reason::Size => {
                let entries = clusters::part(input.branch, cluster, convert::STREAMER_SAMPLE_BYTES);
                Ok(match read(streamed, &entries) {
                    Ok(array) => {
                        let (columns, streamer) =
                            self.sizes(&input.path, streamed, &entries, array)?;
                        StreamingResult::Sizes(columns, streamer)
                    }
                    Err(error) => StreamingResult::Refused(error.brief()),
                })
            }
            Reason::NoType(_) => Ok(match read(streamed, cluster) {
                // Only the data show that some objects cannot be streamed.
                Err(error) if unsupported(error.kind()) => {
                    let carried =
                        streamed.clone().carry(input).map(|item| (read(&item, cluster), item));
                    match carried {
                        Some((Ok(_), carried)) => StreamingResult::Carried(carried),
                        Some((Err(error), _)) => StreamingResult::Refused(error.brief()),
                        None => StreamingResult::Refused(error.brief()),
                    }
                }
                // An error of the branch appears again when the branch is converted.
                _ => StreamingResult::Streamed,
            }),
        }
    }

    /// Returns the compressed bytes of some entries in columns, and as a streamer field, each with the effort and the
    /// column types that the conversion would choose.
    fn sizes(
        &self,
        path: &str,
        branch: &StreamerBranch,
        entries: &Range<u64>,
        streamed: ArrayRef,
    ) -> Result<(u64, u64)> {
        let mut scratch = Scratch::new();
        let class = FieldType::Streamed(branch.class.clone());
        let mut builder = SchemaBuilder::new(self.options.output.compression());
        let field = builder.field(None, "object", &class)?;
        let streamed = [(field, Data::Array(streamed))];
        let streamed = self.sealed_bytes(builder.finish(), &streamed, &mut scratch)?;
        let ConversionPlan { schema, units, .. } = self.in_columns(path)?;
        let none = StreamerBranches::default();
        let all = Units::new(self.reader, self.inputs, &none, &schema, &units);
        let data = units.iter().map(|unit| Ok((unit.field, all.read(unit, 0, entries)?)));
        let data = data.collect::<Result<Vec<_>>>()?;
        let columns = self.sealed_bytes(schema, &data, &mut scratch)?;
        Ok((columns, streamed))
    }

    /// Returns the compressed bytes of fields with the effort and the column types that are chosen for them.
    fn sealed_bytes(
        &self,
        mut schema: Schema,
        fields: &[(FieldId, Data)],
        scratch: &mut Scratch,
    ) -> Result<u64> {
        let ToRNTuple { output, storage, .. } = self.options;
        let options = write::RNTupleWriteOptions {
            compression: output.compression(),
            max_unzipped_page: storage.page_size(),
            ..write::RNTupleWriteOptions::default()
        };
        let mut settings = options.seal_settings(&schema);
        if let Some(chooser) = storage.chooser(output) {
            let chooser = FieldChooser { chooser: &chooser, schema: &schema, settings: &settings };
            let mut chosen = Vec::new();
            for (field, data) in fields {
                chosen.extend(match data {
                    Data::Array(values) | Data::Streamed { bytes: values, .. } => {
                        choose_from(&chooser, *field, values, scratch)?
                    }
                    Data::Offsets(_) => chooser.without_sample(&schema.field(*field).columns),
                });
            }
            apply(chosen, &mut schema, &mut settings);
        }
        let mut columns = Vec::new();
        for (field, data) in fields {
            columns.extend(data.seal(&schema, *field, &settings, scratch)?);
        }
        Ok(bytes(&columns))
    }

    /// Returns the fields of a branch that does not become a streamer field.
    fn in_columns(&self, path: &str) -> Result<ConversionPlan> {
        let only = Filter::new(&[globset::escape(path)], &[])?;
        let rules = Rules {
            layout: self.options.layout,
            compression: self.options.output.compression(),
            filter: &only,
            skip_unsupported: false,
            skip_unreadable: false,
            streamed_branches: &StreamerBranches::default(),
            checks: self.checks,
            failures: &Failures::default(),
        };
        map(self.inputs, rules).in_field(path)
    }
}

/// Chooses the storage of the columns of a field like the conversion, from the first of `values`.
fn choose_from(
    chooser: &FieldChooser<'_>,
    field: FieldId,
    values: &ArrayRef,
    scratch: &mut Scratch,
) -> Result<Choices> {
    let columns = chooser.schema.columns_below(field);
    let bytes = values.get_array_memory_size() as u64;
    let goal = chooser.chooser.goal();
    let Some(wanted) = sample::of_branch(goal, bytes, columns.len() as u64) else {
        return Ok(chooser.without_sample(&columns));
    };
    let rows = (values.len() as u64).saturating_mul(wanted) / bytes.max(1);
    let values =
        values.slice(0, values.len().min(usize::try_from(rows.max(1)).unwrap_or(usize::MAX)));
    chooser.choose_branch(field, &values, std::iter::empty(), scratch)
}

/// Returns the bytes of pages. Equal pages are stored once.
fn bytes(columns: &[SealedColumn]) -> u64 {
    let pages = columns.iter().flat_map(|column| &column.pages);
    let different: HashSet<&[u8]> = pages.map(|page| &page.bytes[..]).collect();
    different.iter().map(|page| page.len() as u64).sum()
}
