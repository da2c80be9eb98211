//! Says in words why an option is recommended.

use super::candidate::Candidate;
use super::expect::Expected;
use super::options::Objective;
use super::report::Reason;
use super::tried::Tried;

/// The name of no streamer fields.
const COLUMNS: &str = "columns";
/// The reason where streamer fields were not tried.
const NO_OBJECTS: &str =
    "the input has no objects of classes, or there was no time to try streamer fields";

/// Returns the reason of each option of `chosen`, from the trials of the same sample.
pub(super) fn reasons(objective: Objective, chosen: &Tried, all: &[Tried]) -> Vec<Reason> {
    let Candidate { compression, effort, encoding, cluster_size, page_size, streamer } =
        chosen.candidate;
    let rest = |one: &&Tried, with: Candidate| one.candidate == with;
    let others = |same: &dyn Fn(&Candidate) -> Candidate| -> Vec<&Tried> {
        let found = all.iter().filter(|one| one.candidate != chosen.candidate);
        found.filter(|one| rest(one, same(&one.candidate))).collect()
    };
    let me = chosen.candidate;
    // Candidates that differ from the chosen one in this option only.
    let codecs =
        others(&|one| Candidate { compression: one.compression, effort: one.effort, ..me });
    let encodings = others(&|one| Candidate { encoding: one.encoding, ..me });
    let clusters = others(&|one| Candidate { cluster_size: one.cluster_size, ..me });
    let pages = others(&|one| Candidate { page_size: one.page_size, ..me });
    let streamed = others(&|one| Candidate { streamer: one.streamer, ..me });
    let codecs = if codecs.is_empty() { codecs_of(chosen, all) } else { codecs };
    let encodings = if encodings.is_empty() { encodings_of(chosen, all) } else { encodings };
    let one = |option, value: String, others: &[&Tried], name: &dyn Fn(&Candidate) -> String| {
        let option = String::from(option);
        Reason { option, value, reason: compared(objective, chosen, others, name) }
    };
    let streamer_name = |streamer: Option<&str>| streamer.unwrap_or(COLUMNS).to_owned();
    let mut objects =
        one("streamer", streamer_name(streamer), &streamed, &|one| streamer_name(one.streamer));
    if !all.iter().any(|one| one.candidate.streamer.is_some()) {
        NO_OBJECTS.clone_into(&mut objects.reason);
    }
    let codec = |one: &Candidate| format!("{} with effort {}", one.compression, one.effort);
    vec![
        one("compression", compression.to_string(), &codecs, &codec),
        one("effort", effort.to_string(), &codecs, &codec),
        one("encoding", encoding.to_string(), &encodings, &|one| one.encoding.to_string()),
        one("cluster_size", cluster_size.to_string(), &clusters, &|one| mib(one.cluster_size)),
        one("page_size", page_size.to_string(), &pages, &|one| mib(one.page_size)),
        objects,
    ]
}

/// Returns the trials of other codecs before sizes were changed.
fn codecs_of<'a>(chosen: &Tried, all: &'a [Tried]) -> Vec<&'a Tried> {
    let encoding = chosen.candidate.encoding;
    let same = |one: &&Tried| {
        let default = Candidate::default();
        let codec = (one.candidate.compression, one.candidate.effort);
        one.candidate.encoding == encoding
            && one.candidate.cluster_size == default.cluster_size
            && one.candidate.page_size == default.page_size
            && codec != (chosen.candidate.compression, chosen.candidate.effort)
    };
    all.iter().filter(same).collect()
}

/// Returns the trial of the other encoding before sizes were changed.
fn encodings_of<'a>(chosen: &Tried, all: &'a [Tried]) -> Vec<&'a Tried> {
    let Candidate { compression, effort, encoding, .. } = chosen.candidate;
    let default = Candidate::default();
    let wanted = |one: &&Tried| {
        one.candidate
            == Candidate { compression, effort, encoding: one.candidate.encoding, ..default }
            && one.candidate.encoding != encoding
    };
    all.iter().filter(wanted).collect()
}

/// Compares the chosen trial with the best of the others.
fn compared(
    objective: Objective,
    chosen: &Tried,
    others: &[&Tried],
    name: &dyn Fn(&Candidate) -> String,
) -> String {
    let expected: Vec<&Expected> = others.iter().map(|one| &one.expected).collect();
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

/// Returns a size in binary units, as options have it.
fn mib(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}
