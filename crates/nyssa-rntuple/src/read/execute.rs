//! Executes a plan: fetches pages, decodes them into the final buffers, and makes offsets continuous.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, Buffer, OffsetBuffer, ScalarBuffer};
use bytes::Bytes;
use nyssa_root::Context;
use nyssa_root::arena::Arena;
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::read_one;
use nyssa_root::guard::to_usize;
use nyssa_root::unpacked::{Keep, Page, Pages, on_all_threads};
use rayon::prelude::*;

use super::blob::Blob;
use super::decode::{PageOutput, PageTask, Scratch, encoding};
use super::element::Element;
use super::opened::Opened;
use super::options::RNTupleReadOptions;
use super::plan::{Items, PagePart, PageRef, Plan, StreamPart, StreamPlan};
use super::switches::Switches;
use crate::schema::{ColumnId, Schema};

/// A stream that was read.
#[derive(Clone)]
pub(super) enum Data {
    /// Numbers.
    Values { buffer: Buffer, length: usize },
    /// Booleans.
    Bits(BooleanBuffer),
    /// Offsets from 0, and the range of items in the cluster of each part.
    Offsets { offsets: OffsetBuffer<i64>, items: Items },
    /// Tags and offsets of variants.
    Switches(Switches),
}

impl Data {
    /// Returns the items of a collection, or the values of an alternative of a variant, by part.
    pub(super) fn items(&self, alternative: Option<usize>) -> &[(usize, Range<u64>)] {
        match self {
            Self::Offsets { items, .. } => items,
            Self::Switches(switches) => switches.items(alternative.unwrap_or_default()),
            Self::Values { .. } | Self::Bits(_) => &[],
        }
    }
}

/// An executor of plans with these settings.
pub(super) struct Executor<'a> {
    pub schema: &'a Schema,
    pub source: &'a Arc<dyn nyssa_io::Source>,
    /// The maximum payload of a key, in bytes. Larger pages are split over several keys.
    pub max_key_size: u64,
    pub options: RNTupleReadOptions,
    pub context: &'a Context,
    /// The pages that several reads share.
    pub opened: Option<Opened<'a>>,
}

impl Executor<'_> {
    /// Reads all streams of a plan.
    pub(super) fn run(&self, plan: &Plan) -> Result<Vec<Data>> {
        let sizes = plan.streams.iter().map(size).collect::<Result<Vec<_>>>()?;
        let mut arena = Arena::zeroed(&sizes, self.context.keeps_memory())?;
        // Bits go into one buffer for each page first, because a page need not end at a whole byte.
        let mut bits = plan.streams.iter().map(bit_pages).collect::<Vec<_>>();
        self.fill(plan, arena.bytes_mut(), &mut bits)?;
        let finish = |(stream, (words, bits)): (&StreamPlan, (&mut [u64], Vec<Vec<u8>>))| {
            let _stage = nyssa_observe::stage!("assemble", column = stream.field.as_str());
            finish(stream, words, &bits)
                .map_err(|error| error.at(|place| place.field = Some(stream.field.clone())))
        };
        let outputs = arena.words_mut().into_par_iter().zip(bits);
        let finished = self.context.pool().install(|| {
            plan.streams.par_iter().zip(outputs).map(finish).collect::<Result<Vec<_>>>()
        })?;
        let data = |((stream, buffer), finished)| data(stream, buffer, finished);
        plan.streams.iter().zip(arena.into_buffers()).zip(finished).map(data).collect()
    }

    fn fill(&self, plan: &Plan, bytes: Vec<&mut [u8]>, bits: &mut [Vec<Vec<u8>>]) -> Result<()> {
        let outputs = plan.streams.iter().zip(bytes).zip(bits);
        let mut slots =
            outputs.map(|((s, bytes), bits)| split(s, bytes, bits)).collect::<Result<Vec<_>>>()?;
        let mut take = |page: &PageRef| {
            let slot = slots.get_mut(page.stream).and_then(|parts| parts.get_mut(page.part));
            slot.and_then(|pages| pages.get_mut(page.page)).and_then(Option::take)
        };
        let units = plan.fetches.iter().map(|fetch| {
            let pages = fetch.pages.iter().enumerate();
            let outs = pages.filter_map(|(i, page)| take(page).map(|out| (i, *page, out)));
            (fetch.ranges.clone(), (fetch.bytes, outs.collect::<Vec<_>>()))
        });
        let units = units.collect::<Vec<_>>();
        let done = AtomicU64::new(0);
        let total = plan.bytes();
        type Unit<'o> = (u64, Vec<(usize, PageRef, PageOutput<'o>)>);
        let work = |scratch: &mut Scratch,
                    (size, pages): Unit<'_>,
                    fetched: Result<Pages<'_>>,
                    keep: &mut Keep| {
            let mut fetched = fetched?;
            for (index, page, out) in pages {
                self.fetched(plan, page, fetched.take(index), out, scratch, keep)?;
            }
            let before = done.fetch_add(size, Ordering::Relaxed);
            self.context.report(before + size, total);
            Ok(())
        };
        on_all_threads(self.source, units, self.context, Scratch::default, work).map(drop)
    }

    /// Decodes a page. `fetched` are its first bytes. It is empty if an earlier read has stored the page.
    fn fetched(
        &self,
        plan: &Plan,
        page: PageRef,
        fetched: Option<Page>,
        out: PageOutput<'_>,
        scratch: &mut Scratch,
        keep: &mut Keep,
    ) -> Result<()> {
        let Some(part) = plan.page(page) else { return Ok(()) };
        let column = plan.streams.get(page.stream).map_or("", |stream| stream.field.as_str());
        let _stage = nyssa_observe::stage!("page", column = column);
        let decode = || {
            if let Some(known) = self.opened.as_ref().and_then(|opened| opened.find(page)) {
                return self.task(plan, page, &[], false)?.take(known, out, scratch);
            }
            if let Some(compressed) =
                self.opened.as_ref().and_then(|opened| opened.compressed(page))
            {
                let whole = match compressed.read() {
                    Ok(whole) => whole,
                    // The local disk failed. The server has the page, too.
                    Err(_) => self.whole(part, &read_one(self.source, part.bytes.clone())?)?,
                };
                let task = self.task(plan, page, &whole, part.checksummed)?;
                return self.page(plan, page, &task, out, scratch);
            }
            let fetched = fetched.ok_or_else(|| Error::out_of_spec("the page was not fetched"))?;
            if fetched.is_unpacked {
                let task = self.task(plan, page, &fetched.bytes, false)?;
                return self.page(plan, page, &task, out, scratch);
            }
            let whole = self.whole(part, &fetched.bytes)?;
            let task = self.task(plan, page, &whole, part.checksummed)?;
            if !keep.is_wanted() {
                self.page(plan, page, &task, out, scratch)?;
                if let Some(opened) = &self.opened {
                    opened.keep_compressed(plan, page, &whole);
                }
                return Ok(());
            }
            let mut decompressed = std::mem::take(&mut scratch.decompressed);
            let result = task.open(&mut decompressed).and_then(|stored| {
                keep.add(part.bytes.clone(), &[], stored);
                let task = PageTask { stored, checksum: None, ..task };
                self.page(plan, page, &task, out, scratch)
            });
            scratch.decompressed = decompressed;
            result
        };
        decode().map_err(|error| {
            let stream = &plan.streams[page.stream];
            error.at(|place| {
                place.field = Some(stream.field.clone());
                place.column = stream.parts[page.part].column.map(u64::from);
                place.cluster = Some(stream.parts[page.part].cluster as u64);
                place.page = Some(part.page as u64);
                place.offset = Some(part.bytes.start);
            })
        })
    }

    /// Returns all bytes of a page. `first` are its first bytes.
    fn whole(&self, part: &PagePart, first: &Bytes) -> Result<Bytes> {
        let range = part.bytes.clone();
        let blob = Blob { first: range, size: part.size, max_key_size: self.max_key_size };
        blob.complete(self.source, first)
    }

    fn page(
        &self,
        plan: &Plan,
        page: PageRef,
        task: &PageTask<'_>,
        out: PageOutput<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Some(opened) = self.opened.as_ref().filter(|opened| opened.wants(page, task)) else {
            return task.run(out, scratch);
        };
        let decoded = task.page(scratch)?;
        task.take(&decoded, out, scratch)?;
        opened.keep(plan, page, decoded);
        Ok(())
    }

    /// Makes the task of decoding a page that is stored as `bytes`. The bytes may end with a checksum.
    fn task<'b>(
        &self,
        plan: &Plan,
        page: PageRef,
        bytes: &'b [u8],
        checksummed: bool,
    ) -> Result<PageTask<'b>> {
        let stream = &plan.streams[page.stream];
        let part = &stream.parts[page.part];
        let wanted = &part.pages[page.page];
        let column = part.column.map(ColumnId).ok_or_else(|| Error::out_of_spec("no column"))?;
        let (stored, checksum) = match bytes.split_last_chunk::<8>() {
            Some((stored, checksum)) if checksummed => (stored, Some(checksum)),
            _ => (bytes, None),
        };
        let checksum = checksum.map(|bytes| u64::from_le_bytes(*bytes));
        Ok(PageTask {
            stored,
            checksum: checksum.filter(|_| self.options.verify_checksums),
            encoding: encoding(self.schema.column(column))?,
            elements: wanted.elements,
            skip: wanted.skip,
            target: stream.element,
        })
    }
}

/// Returns the size in bytes of the output of a stream. Bits have no output.
fn size(stream: &StreamPlan) -> Result<usize> {
    if stream.element == Element::BIT {
        return Ok(0);
    }
    let length = to_usize(stream.length, "column")?;
    // There is one more offset than collections. With a lead-in the stream already contains it.
    let extra = usize::from(stream.element == Element::Index && !stream.lead_in);
    length
        .checked_add(extra)
        .and_then(|length| stream.element.bytes(length))
        .ok_or_else(|| Error::limit(format!("{length} elements do not fit in memory")))
        .map_err(|error| error.at(|place| place.field = Some(stream.field.clone())))
}

fn bit_pages(stream: &StreamPlan) -> Vec<Vec<u8>> {
    let pages = stream.parts.iter().map(|part| part.pages.len()).sum();
    vec![Vec::new(); if stream.element == Element::BIT { pages } else { 0 }]
}

/// Divides an output into the disjoint slices of its pages, by part and page.
fn split<'o>(
    stream: &StreamPlan,
    bytes: &'o mut [u8],
    bits: &'o mut [Vec<u8>],
) -> Result<Vec<Vec<Option<PageOutput<'o>>>>> {
    if stream.element == Element::BIT {
        let mut pages = bits.iter_mut();
        let part = |part: &StreamPart| {
            pages.by_ref().take(part.pages.len()).map(|page| Some(PageOutput::Bits(page))).collect()
        };
        return Ok(stream.parts.iter().map(part).collect());
    }
    let short = || Error::out_of_spec("more elements than planned");
    let width = stream.element.width();
    let mut rest = bytes;
    let mut advance = |elements: usize| {
        let (head, tail) = std::mem::take(&mut rest).split_at_mut_checked(elements * width)?;
        rest = tail;
        Some(head)
    };
    if stream.element == Element::Index && !stream.lead_in {
        advance(1).ok_or_else(short)?;
    }
    let mut parts = Vec::with_capacity(stream.parts.len());
    for part in &stream.parts {
        advance(to_usize(part.zeros, "column")?).ok_or_else(short)?;
        let pages = part.pages.iter().map(|page| advance(page.take).map(PageOutput::Bytes));
        parts.push(pages.map(|out| out.ok_or_else(short).map(Some)).collect::<Result<_>>()?);
    }
    Ok(parts)
}

/// The result that is computed from a filled output.
enum Finished {
    Values,
    Bits(BooleanBuffer),
    Offsets(Items),
    Switches(Switches),
}

fn finish(stream: &StreamPlan, words: &mut [u64], bits: &[Vec<u8>]) -> Result<Finished> {
    match stream.element {
        Element::BIT => join_bits(stream, bits).map(Finished::Bits),
        Element::Index => rebase(stream, words).map(Finished::Offsets),
        Element::Switch => Switches::new(stream, words).map(Finished::Switches),
        _ => Ok(Finished::Values),
    }
}

fn data(stream: &StreamPlan, buffer: Buffer, finished: Finished) -> Result<Data> {
    Ok(match finished {
        Finished::Values => Data::Values { buffer, length: to_usize(stream.length, "column")? },
        Finished::Bits(bits) => Data::Bits(bits),
        Finished::Switches(switches) => Data::Switches(switches),
        Finished::Offsets(items) => {
            Data::Offsets { offsets: OffsetBuffer::new(ScalarBuffer::from(buffer)), items }
        }
    })
}

fn join_bits(stream: &StreamPlan, pages: &[Vec<u8>]) -> Result<BooleanBuffer> {
    let mut pages = pages.iter();
    let mut bits = BooleanBufferBuilder::new(to_usize(stream.length, "column")?);
    for part in &stream.parts {
        bits.append_n(to_usize(part.zeros, "column")?, false);
        for (wanted, page) in part.pages.iter().zip(pages.by_ref()) {
            bits.append_packed_range(wanted.skip..wanted.skip + wanted.take, page);
        }
    }
    Ok(bits.finish())
}

/// Converts end offsets relative to their cluster to offsets from 0 over all parts. Returns the cluster and the range
/// of items in it for each part.
fn rebase(stream: &StreamPlan, words: &mut [u64]) -> Result<Items> {
    let (first, mut rest) =
        words.split_first_mut().ok_or_else(|| Error::out_of_spec("no offset"))?;
    let mut lead_in = std::mem::take(first);
    let mut base = 0u64;
    let mut items = Vec::with_capacity(stream.parts.len());
    for (number, part) in stream.parts.iter().enumerate() {
        let mut count = part.zeros + (part.elements.end - part.elements.start);
        count -= u64::from(number == 0 && stream.lead_in);
        let (ends, tail) = std::mem::take(&mut rest).split_at_mut(to_usize(count, "column")?);
        rest = tail;
        let start = std::mem::take(&mut lead_in);
        let mut previous = start;
        let mut descends = false;
        // This wraps only when offsets decrease or are much too large. Both are refused below.
        let shift = base.wrapping_sub(start);
        for end in ends {
            descends |= *end < previous;
            previous = *end;
            *end = end.wrapping_add(shift);
        }
        let last = base.checked_add(previous.saturating_sub(start));
        let last = last.filter(|&last| !descends && i64::try_from(last).is_ok());
        base = last.ok_or_else(|| {
            Error::out_of_spec("the offsets of a collection descend").at(|place| {
                place.cluster = Some(part.cluster as u64);
                place.column = part.column.map(u64::from);
            })
        })?;
        items.push((part.cluster, start..previous));
    }
    Ok(items)
}
