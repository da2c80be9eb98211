//! Chooses how one column is stored: the form and the codecs with the smallest price on a sample.

use std::ops::Range;

use nyssa_root::effort::{Chooser, Goal, PricedCodec, SampleSize, SplitForm};
use nyssa_root::error::Result;

use super::candidates::{Form, forms};
use super::planes::{PlaneChoice, choose_planes};
use super::storage::ColumnStorage;
use crate::encoding::Encoding;
use crate::seal::{ColumnData, ColumnPlan, Scratch};

/// Chooses the storage of a column with the elements `data`. It seals the elements `sample` in several ways.
///
/// # Errors
/// Returns an error if sealing fails.
pub(crate) fn choose_column(
    chooser: &Chooser,
    plan: &ColumnPlan<'_>,
    data: &ColumnData,
    sample: Range<usize>,
    scratch: &mut Scratch,
) -> Result<ColumnStorage> {
    let _stage = nyssa_observe::stage!("choose");
    let (encoding, settings) = (plan.encoding(), plan.settings());
    let own = settings.own_codec.then(|| chooser.with_codec(&settings.codec));
    let chooser = own.as_ref().unwrap_or(chooser);
    let forms = match chooser.goal() {
        Goal::Size if !settings.own_type => forms(encoding, settings, data),
        _ => vec![Form { encoding, data: None }],
    };
    let names: Vec<SplitForm> = forms.iter().map(|form| form.name(encoding)).collect();
    let column_type = forms[0].encoding.column_type;
    let (best, planes) = if sample.is_empty() {
        (chooser.unseen(), None)
    } else {
        let uncompressed = encoding.packed_size(sample.len()) as f64;
        let seal = |scratch: &mut Scratch, form: usize, candidate: &PricedCodec| {
            let Form { encoding, data: narrow } = &forms[form];
            let data = narrow.as_ref().unwrap_or(data);
            let page = plan.seal_as(encoding, &candidate.codec, data, sample.clone(), scratch)?;
            Ok(SampleSize { uncompressed, compressed: page.bytes.len() as u64 })
        };
        let best = chooser.choose_form(&names, |form, item| seal(scratch, form, item))?;
        let Form { encoding, data: narrow } = &forms[best.form];
        let planes = match chooser.goal() == Goal::Size && chooser.has_choice() {
            true => planes(chooser, encoding, narrow.as_ref().unwrap_or(data), &sample, scratch)?,
            false => None,
        };
        // The codec for all planes is for pages whose planes are too small for separate codecs.
        let planes = planes.filter(|chosen| {
            chosen.cost < chooser.cost(best.candidate, &best.size, names[best.form].split)
        });
        let best = match planes {
            Some(_) => best,
            None => chooser.choose_codec(&names, best, |form, item| seal(scratch, form, item))?,
        };
        (best, planes)
    };
    let chosen = forms[best.form].encoding;
    let mut storage = ColumnStorage::new(chosen, best);
    storage.narrower = settings.narrower.contains(&chosen);
    if let Some(planes) = planes {
        storage.set_planes(planes, chosen.packed_size(sample.len()));
    }
    Ok(storage.compared(chooser, column_type))
}

/// Chooses codecs for the planes of a sample, if its encoding has planes.
fn planes(
    chooser: &Chooser,
    encoding: &Encoding,
    data: &ColumnData,
    sample: &Range<usize>,
    scratch: &mut Scratch,
) -> Result<Option<PlaneChoice>> {
    if !encoding.column_type.is_split() {
        return Ok(None);
    }
    let (count, width) = (sample.len(), usize::from(encoding.bits / 8));
    let mut packed = Vec::with_capacity(encoding.packed_size(count));
    encoding.encode(data.native(sample.clone(), &mut Vec::new()), count, &mut packed)?;
    choose_planes(chooser, &packed, width, scratch)
}
