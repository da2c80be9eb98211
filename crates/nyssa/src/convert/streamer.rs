//! Branches of classes as streamer fields: which, and why.
//!
//! A streamer field has the bytes that ROOT's streamer makes of each object. That is asked for, or
//! smaller than columns, or all there is: for objects without a type in RNTuple. Split branches are put
//! together first.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, new_empty_array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use rayon::prelude::*;

use super::classes::Classes;
use super::clusters;
use super::map::{Input, Map, Rules, check, map};
use super::options::{Options, Streamer};
use super::report::ProductReport;
use super::unit::Units;
use crate::Context;
use crate::dataset::Filter;
use crate::error::{Error, Result, ResultExt};
use crate::page::SealedColumn;
use crate::rootfile::{ClassInfo, RootFile, StreamerList};
use crate::schema::{FieldType, SchemaBuilder, type_name};
use crate::streamer::{Layouts, ObjectLayout};
use crate::ttree::Reader;
use crate::write::{self, Scratch, SealSettings, seal_field};

/// A branch whose objects are streamed.
#[derive(Clone, Debug)]
pub struct Product {
    /// C++ class, as RNTuple writes it.
    pub class: String,
    layout: Arc<ObjectLayout>,
    /// Whether the branch reads as another type.
    apart: bool,
}

/// The branches of a tree that become streamer fields.
#[derive(Clone, Debug, Default)]
pub struct Products {
    by_input: BTreeMap<usize, Product>,
    /// What their classes look like.
    pub infos: StreamerList,
    /// What was chosen, and why.
    pub reports: Vec<ProductReport>,
}

impl Products {
    /// Those whose branches read as another type than their fields, by index of the inputs: split
    /// branches have nothing of a `TClonesArray` but its items.
    pub(super) fn apart(&self) -> impl Iterator<Item = (usize, &Product)> {
        self.by_input.iter().filter(|(_, one)| one.apart).map(|(&index, one)| (index, one))
    }

    /// The product of an input.
    pub fn get(&self, input: usize) -> Option<&Product> {
        self.by_input.get(&input)
    }
}

impl Product {
    /// Reads the objects of a branch and streams them.
    ///
    /// # Errors
    /// Whatever is wrong with the branch; as [`ObjectLayout::encode`].
    pub(super) fn read(
        &self,
        reader: &Reader,
        path: &str,
        entries: &Range<u64>,
    ) -> Result<ArrayRef> {
        let array = reader.read_whole(path, entries.clone())?;
        let (bytes, offsets) = self.layout.encode(&array).map_err(|error| {
            error.at(|place| {
                place.entry = place.entry.map(|entry| entry.saturating_add(entries.start));
            })
        })?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let bytes = LargeBinaryArray::try_new(offsets, Buffer::from_vec(bytes), None);
        Ok(Arc::new(bytes.map_err(|error| Error::limit(error.to_string()))?))
    }
}

/// What the choice depends on.
pub(super) struct Choosing<'a> {
    pub file: &'a RootFile,
    /// Its classes.
    pub classes: &'a Classes<'a>,
    pub reader: &'a Reader,
    pub inputs: &'a [Input<'a>],
    pub filter: &'a Filter,
    pub entries: &'a Range<u64>,
    pub options: &'a Options,
    pub context: &'a Context,
}

/// Why a branch may become a streamer field.
enum Reason {
    /// The options say so.
    Asked,
    /// If it is smaller so.
    Size,
    /// It has no other type.
    NoType(String),
}

impl Choosing<'_> {
    /// Chooses.
    ///
    /// # Errors
    /// `InvalidArgument` for patterns that no branch of a class matches, `Cancelled`, and whatever is
    /// wrong with the input.
    pub fn products(&self) -> Result<Products> {
        let infos = self.file.streamer_infos()?;
        let mut layouts = Layouts::new(&infos);
        // What files say of containers is that they are containers.
        let container = |info: &ClassInfo| info.elements.iter().any(|one| one.name == "This");
        let globs = match &self.options.streamer {
            Streamer::Globs(globs) => Some(Filter::new(globs, &[])?),
            _ => None,
        };
        let mut candidates = Vec::new();
        let mut refused = Vec::new();
        let mut asked = false;
        for (index, input) in self.inputs.iter().enumerate() {
            let class = self.classes.info(&type_name::normalize(&input.branch.type_name()));
            let readable = self.filter.takes(&input.path) && input.branch.data_type().is_ok();
            let kept = |class: &ClassInfo| !container(class) || is_bytes(input);
            let Some(info) = class.filter(|info| readable && kept(info)) else { continue };
            let class = info.name.as_str();
            let matched = globs.as_ref().is_some_and(|globs| globs.takes(&input.path));
            asked |= matched;
            let reason = match (
                check(input.branch, self.options.layout, self.classes),
                &self.options.streamer,
            ) {
                (_, Streamer::All) => Reason::Asked,
                (_, _) if matched => Reason::Asked,
                (Err(reason), _) => Reason::NoType(reason),
                (Ok(_), Streamer::Auto) => Reason::Size,
                (Ok(_), _) => continue,
            };
            match product(&mut layouts, class, input) {
                Ok(product) => candidates.push((index, product, reason)),
                Err(error) => refused.push((index, class.to_owned(), reason, error)),
            }
        }
        if globs.is_some() && !asked {
            return Err(Error::invalid_argument(
                "the patterns of streamer fields match no branch of a class",
            ));
        }
        self.choose(candidates, refused)
    }

    fn choose(
        &self,
        candidates: Vec<(usize, Product, Reason)>,
        refused: Vec<(usize, String, Reason, Error)>,
    ) -> Result<Products> {
        let sizes = self.sizes(&candidates)?;
        let mut products = Products::default();
        for ((index, product, reason), sizes) in candidates.into_iter().zip(sizes) {
            let mut report = self.report(index, &product.class);
            report.streamer = true;
            report.reason = match reason {
                Reason::Asked => "asked for".to_owned(),
                // Said where branches are left out.
                Reason::NoType(_) if sizes.is_none() => continue,
                Reason::NoType(reason) => format!("no other type in RNTuple: {reason}"),
                Reason::Size => match sizes {
                    Some((columns, streamer)) => {
                        report.columns_bytes = Some(columns);
                        report.streamer_bytes = Some(streamer);
                        report.streamer = streamer < columns;
                        "the smaller of both in the first cluster".to_owned()
                    }
                    None => {
                        report.streamer = false;
                        "its objects cannot be streamed".to_owned()
                    }
                },
            };
            if report.streamer {
                products.by_input.insert(index, product);
            }
            products.reports.push(report);
        }
        if !products.by_input.is_empty() {
            let layouts = products.by_input.values().map(|product| &*product.layout);
            products.infos = ObjectLayout::describe(layouts, &self.file.streamer_list()?);
        }
        for (index, class, reason, error) in refused {
            let mut report = self.report(index, &class);
            report.reason = match reason {
                // Said where branches are left out.
                Reason::NoType(_) => continue,
                _ => format!("its objects cannot be streamed: {error}"),
            };
            products.reports.push(report);
        }
        Ok(products)
    }

    fn report(&self, index: usize, class: &str) -> ProductReport {
        let branch = self.inputs.get(index).map_or("", |input| &input.path);
        ProductReport {
            branch: branch.to_owned(),
            class: class.to_owned(),
            ..ProductReport::default()
        }
    }

    /// Compressed bytes of the first cluster in columns and streamed, of those whose size decides; `None` for
    /// objects that cannot be streamed, and for those that are to be in any case.
    fn sizes(&self, candidates: &[(usize, Product, Reason)]) -> Result<Vec<Option<(u64, u64)>>> {
        let taken: Vec<usize> = candidates.iter().map(|(index, ..)| *index).collect();
        let tree = self.reader.tree();
        let clusters = clusters::plan(tree, self.inputs, &taken, self.entries, self.options);
        let cluster = clusters.first().cloned().unwrap_or(0..0);
        self.context.pool().install(|| {
            let size = |(index, product, reason): &(usize, Product, Reason)| {
                self.context.check()?;
                match reason {
                    Reason::Size => self.size(*index, product, &cluster),
                    // Some objects cannot be streamed, which only they tell.
                    Reason::NoType(_) => Ok(self.sample(*index, product, &cluster).map(|_| (0, 0))),
                    Reason::Asked => Ok(None),
                }
            };
            candidates.par_iter().map(size).collect()
        })
    }

    /// The streamed objects of the first cluster, if they can be streamed.
    fn sample(&self, index: usize, product: &Product, cluster: &Range<u64>) -> Option<ArrayRef> {
        product.read(self.reader, &self.inputs.get(index)?.path, cluster).ok()
    }

    fn size(
        &self,
        index: usize,
        product: &Product,
        cluster: &Range<u64>,
    ) -> Result<Option<(u64, u64)>> {
        let sampled = self.inputs.get(index).zip(self.sample(index, product, cluster));
        let Some((input, array)) = sampled else { return Ok(None) };
        let mut scratch = Scratch::new();
        let settings = write::Options {
            compression: self.options.compression,
            max_unzipped_page: self.options.page_bytes,
            ..write::Options::default()
        };
        let mut builder = SchemaBuilder::new(self.options.compression);
        let class = FieldType::Streamed(product.class.clone());
        let field = builder.field(None, "object", &class)?;
        let schema = builder.finish();
        let seal = SealSettings::new(&schema, &settings);
        let streamed = bytes(&seal_field(&schema, field, &array, &seal, &mut scratch)?);
        let Map { schema, units, .. } = self.in_columns(&input.path)?;
        let seal = SealSettings::new(&schema, &settings);
        let none = Products::default();
        let all = Units::new(self.reader, self.inputs, &none, &schema, &units);
        let mut columns = Vec::new();
        for unit in &units {
            let data = all.read(unit, 0, cluster)?;
            columns.extend(all.seal(unit, &data, &seal, &mut scratch)?);
        }
        Ok(Some((bytes(&columns), streamed)))
    }

    /// One branch alone, as the fields that it has unless it is streamed.
    fn in_columns(&self, path: &str) -> Result<Map> {
        let only = Filter::new(&[globset::escape(path)], &[])?;
        let rules = Rules {
            layout: self.options.layout,
            compression: self.options.compression,
            filter: &only,
            skip_unsupported: false,
            products: &Products::default(),
            classes: self.classes,
        };
        map(self.inputs, rules).in_field(path)
    }
}

/// Bytes of pages; those that are the same are stored once.
fn bytes(columns: &[SealedColumn]) -> u64 {
    let pages = columns.iter().flat_map(|column| &column.pages);
    let different: HashSet<&[u8]> = pages.map(|page| &page.bytes[..]).collect();
    different.iter().map(|page| page.len() as u64).sum()
}

/// Whether a branch is read as the bytes that its objects are streamed to.
fn is_bytes(input: &Input<'_>) -> bool {
    let field = input.branch.arrow_field("");
    field.is_ok_and(|field| field.metadata().contains_key(crate::arrow::STREAMER))
}

/// How the objects of a branch are streamed.
fn product(layouts: &mut Layouts<'_>, class: &str, input: &Input<'_>) -> Result<Product> {
    let layout = layouts.object(class)?;
    let data_type = input.branch.data_type().map_err(Error::unsupported)?;
    // A split branch may lack members.
    layout.encode(&new_empty_array(&data_type))?;
    let apart = layout.data_type() != data_type;
    Ok(Product { class: type_name::normalize(class), layout: Arc::new(layout), apart })
}
