//! Jobs on files.

use std::ffi::c_char;

use nyssa_jobs::convert::{Direction, To, ToRNTuple, ToTTree};
use nyssa_root::{Context, Result};

use crate::call;
use crate::context::{context_of, nyssa_context};
use crate::error::{nyssa_error, nyssa_status};
use crate::options::Given;
use crate::texts::{self, json, text, text_or_none, texts};

/// Runs a job that has an output and options.
///
/// # Safety
/// The texts are texts (`options` may be null); `report` and `error` are null, or places for pointers.
unsafe fn run(
    (output, options): (*const c_char, *const c_char),
    context: *const nyssa_context,
    report: *mut *mut c_char,
    error: *mut *mut nyssa_error,
    job: impl FnOnce(&str, Given, &Context) -> Result<*mut c_char>,
) -> nyssa_status {
    let run = || {
        // SAFETY: the caller promises it.
        let (output, options) = unsafe {
            (text(output, "the output")?, text_or_none(options, "the text of the options")?)
        };
        job(output, Given::parse(options)?, &context_of(context)?)
    };
    // SAFETY: the caller promises it.
    unsafe { texts::report(error, report, run) }
}

/// Converts the TTrees of a file to RNTuples, or back with the option `to=ttree`. `file.root:Events` means one of them. The
/// output appears when it is complete.
///
/// Options: the options of `nyssa convert`, such as `compression`, `cluster_size`, `verify`, `force`, `entries=0:100`. The report
/// is an array of objects of JSON, one for each dataset.
/// Errors: `NYSSA_NOT_FOUND` for the input; `NYSSA_INVALID_ARGUMENT` for options or an output that are not allowed;
/// `NYSSA_ALREADY_EXISTS`; `NYSSA_UNSUPPORTED` with all branches or fields that cannot be converted; `NYSSA_CANCELLED`; the
/// errors of reading.
///
/// # Safety
/// `input`, `output` and `options` are texts (`options` may be null); `report` and `error` are null, or places for pointers.
/// Without a place there is no report. The text at `report` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_convert(
    input: *const c_char,
    output: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    report: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    fn to<D: Direction + clap::Args>(
        input: &str,
        output: &str,
        given: Given,
        context: &Context,
    ) -> Result<*mut c_char> {
        json(&nyssa::convert(input, output, &given.of::<D>()?, context)?)
    }
    let convert = |output: &str, mut given: Given, context: &Context| {
        // SAFETY: the caller promises it.
        let input = unsafe { text(input, "the input") }?;
        match given.take("to")?.map_or(Ok(To::RNTuple), |to| to.parse())? {
            To::RNTuple => to::<ToRNTuple>(input, output, given, context),
            To::TTree => to::<ToTTree>(input, output, given, context),
            // The name of the output says it.
            To::Parquet | To::Arrow => to::<ToRNTuple>(input, output, given, context),
        }
    };
    // SAFETY: the caller promises it.
    unsafe { run((output, options), context, report, error, convert) }
}

/// Writes an RNTuple or a TTree again, with other compression, clusters, column types, fields or entries.
///
/// Options: the options of `nyssa rewrite`, such as `compression`, `include`, `exclude`, `cut`, `entries=0:100`, `verify`. The
/// report is an object of JSON.
/// Errors: `NYSSA_NOT_FOUND` for the dataset, and for patterns without a field; `NYSSA_INVALID_ARGUMENT` for options or an
/// output that are not allowed; `NYSSA_ALREADY_EXISTS`; `NYSSA_UNSUPPORTED` with all fields that cannot be read;
/// `NYSSA_CANCELLED`; the errors of reading.
///
/// # Safety
/// `input`, `output` and `options` are texts (`options` may be null); `report` and `error` are null, or places for pointers.
/// Without a place there is no report. The text at `report` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_rewrite(
    input: *const c_char,
    output: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    report: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let rewrite = |output: &str, given: Given, context: &Context| {
        // SAFETY: the caller promises it.
        let input = unsafe { text(input, "the input") }?;
        json(&nyssa::rewrite(input, output, &given.of()?, context)?)
    };
    // SAFETY: the caller promises it.
    unsafe { run((output, options), context, report, error, rewrite) }
}

/// Merges `count` files. Pages of RNTuples and baskets of TTrees are copied without decompressing them; histograms are
/// added.
///
/// Options: the options of `nyssa merge`, such as `union=true`, `filter=true`, `recluster=50MB`, `force`. The report is an object
/// of JSON.
/// Errors: `NYSSA_INVALID_ARGUMENT` with the first field that differs, if the options do not allow it;
/// `NYSSA_ALREADY_EXISTS`; `NYSSA_CHECKSUM` with the page; `NYSSA_CANCELLED`; the errors of reading.
///
/// # Safety
/// `inputs` has `count` texts; `output` and `options` are texts (`options` may be null); `report` and `error` are null, or
/// places for pointers. Without a place there is no report. The text at `report` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_merge(
    inputs: *const *const c_char,
    count: usize,
    output: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    report: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let merge = |output: &str, given: Given, context: &Context| {
        // SAFETY: the caller promises it.
        let inputs = unsafe { texts(inputs, count, "the list of inputs") }?;
        let inputs: Vec<String> = inputs.into_iter().map(str::to_owned).collect();
        let mut options: nyssa::MergeOptions = given.of()?;
        options.open = options.open.with_stop(context.stop());
        json(&nyssa::merge(&inputs, output, &options, context)?)
    };
    // SAFETY: the caller promises it.
    unsafe { run((output, options), context, report, error, merge) }
}

/// Checks everything in a file, or in one of its objects (`file.root:Events`): every checksum, every rule of the formats,
/// every value. What is wrong is in the report, an object of JSON, whose `problems` are empty for a sound file.
///
/// Errors: `NYSSA_NOT_FOUND`, `NYSSA_IO` and `NYSSA_CANCELLED`.
///
/// # Safety
/// `url` is a text; `report` and `error` are null, or places for pointers. The text at `report` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_verify(
    url: *const c_char,
    context: *const nyssa_context,
    report: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let verify = || {
        // SAFETY: the caller promises it.
        let url = unsafe { text(url, "the URL") }?;
        json(&nyssa::verify(url, &context_of(context)?)?)
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, report, verify) }
}
