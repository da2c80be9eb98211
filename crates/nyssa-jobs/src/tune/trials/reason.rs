//! Describes in words why an option is recommended.

use super::candidate::{Candidate, StreamerFields};
use super::expect::Expected;
use super::options::Objective;
use super::report::Reason;
use super::tried::Tried;

/// The name of no streamer fields.
const COLUMNS: &str = "columns";
/// The reason if streamer fields were not tried.
const NO_OBJECTS: &str =
    "the input has no objects of classes, or there was no time to try streamer fields";

/// Returns the reason of each option of `chosen`, from the trials of the same sample.
pub(super) fn reasons(objective: Objective, chosen: &Tried, all: &[Tried]) -> Vec<Reason> {
    let me = chosen.candidate;
    let Candidate { compression, effort, encoding, cluster_size, page_size, streamer } = me;
    let Candidate { cluster_size: clusters, page_size: pages, .. } = Candidate::default();
    let before_sizes = Candidate { cluster_size: clusters, page_size: pages, ..me };
    let before_streamer = Candidate { streamer: None, ..before_sizes };
    // The trials that differ in only one option, now or before the other options were changed.
    let others = |with: &dyn Fn(Candidate, &Candidate) -> Candidate| -> Vec<&Tried> {
        let like = |base: Candidate| -> Vec<&Tried> {
            let differs = |item: &&Tried| with(me, &item.candidate) != me;
            let others = all.iter().filter(differs);
            others.filter(|other| other.candidate == with(base, &other.candidate)).collect()
        };
        let bases = [me, before_sizes, before_streamer].into_iter();
        bases.map(like).find(|trials| !trials.is_empty()).unwrap_or_default()
    };
    let codecs = others(&|base, other| Candidate {
        compression: other.compression,
        effort: other.effort,
        ..base
    });
    let encodings = others(&|base, other| Candidate { encoding: other.encoding, ..base });
    let clusters = others(&|base, other| Candidate { cluster_size: other.cluster_size, ..base });
    let pages = others(&|base, other| Candidate { page_size: other.page_size, ..base });
    let streamed = others(&|base, other| Candidate { streamer: other.streamer, ..base });
    let reason = |option, value: String, others: &[&Tried], name: &dyn Fn(&Candidate) -> String| {
        let option = String::from(option);
        Reason { option, value, reason: compared(objective, chosen, others, name) }
    };
    let streamer_name = |streamer: Option<StreamerFields>| {
        streamer.map_or_else(|| COLUMNS.to_owned(), |fields| fields.to_string())
    };
    let mut objects = reason("streamer", streamer_name(streamer), &streamed, &|candidate| {
        streamer_name(candidate.streamer)
    });
    if !all.iter().any(|item| item.candidate.streamer.is_some()) {
        NO_OBJECTS.clone_into(&mut objects.reason);
    }
    let codec = |item: &Candidate| format!("{} with effort {}", item.compression, item.effort);
    vec![
        reason("compression", compression.to_string(), &codecs, &codec),
        reason("effort", effort.to_string(), &codecs, &codec),
        reason("encoding", encoding.to_string(), &encodings, &|candidate| {
            candidate.encoding.to_string()
        }),
        reason("cluster_size", cluster_size.to_string(), &clusters, &|candidate| {
            mib(candidate.cluster_size)
        }),
        reason("page_size", page_size.to_string(), &pages, &|candidate| mib(candidate.page_size)),
        objects,
    ]
}

/// Compares the chosen trial with the best other trial.
fn compared(
    objective: Objective,
    chosen: &Tried,
    others: &[&Tried],
    name: &dyn Fn(&Candidate) -> String,
) -> String {
    let expected: Vec<&Expected> = others.iter().map(|item| &item.expected).collect();
    let Some(next) = super::score::best(objective, &expected) else {
        return "the others were worse on the first sample, or were not tried".to_owned();
    };
    let (mine, other) = (&chosen.expected, &others[next].expected);
    let name = name(&others[next].candidate);
    let parts = [
        share("size", mine.bytes as f64, other.bytes as f64),
        share("time to read", mine.read_seconds, other.read_seconds),
        share("CPU time to write", mine.write_cpu_seconds, other.write_cpu_seconds),
        share("memory", mine.memory as f64, other.memory as f64),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return format!("the data do not differ with {name}");
    }
    format!("compared with {name}, the best of the others: {}", parts.join(", "))
}

/// Returns the quotient of two numbers in words, if they differ.
fn share(what: &str, mine: f64, other: f64) -> Option<String> {
    let quotient = mine / other;
    (quotient.is_finite() && (quotient - 1.0).abs() >= 0.0005)
        .then(|| format!("{quotient:.3} of the {what}"))
}

/// Returns a size in binary units, in the form of options.
fn mib(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}
