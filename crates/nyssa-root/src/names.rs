//! Finds names that are similar to a name, to suggest what the user may have meant.

use std::collections::BTreeSet;

use strsim::osa_distance;

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;
/// The number of characters of a name that are compared. A longer name is not a typing error.
const MAX_COMPARED: usize = 100;

/// Returns the candidates that are most similar to `name`, best first. The list is empty when none is close. For a glob such
/// as `Muno_*`, it has globs that match candidates.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    match name.split_once('*') {
        Some((start, rest)) if !start.is_empty() => {
            let length = start.chars().count();
            let starts: BTreeSet<String> = candidates
                .into_iter()
                .flat_map(|candidate| {
                    let first = |length| candidate.chars().take(length).collect::<String>();
                    [length - 1, length, length + 1].map(first)
                })
                .filter(|start| !start.is_empty())
                .map(|start| start + "*" + rest)
                .collect();
            similar(name, starts.iter().map(String::as_str))
        }
        _ => similar(name, candidates),
    }
}

fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut scored: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let contains = lower.len() > 1 && other.contains(&lower)
                || other.len() > 2 && lower.contains(&other);
            let distance = osa_distance(start(&lower), start(&other));
            let close = distance <= (lower.chars().count() / 4).max(1);
            (close || contains).then_some((distance, candidate))
        })
        .collect();
    scored.sort();
    scored.dedup();
    let best = scored.into_iter().take(MAX_SUGGESTIONS);
    best.map(|(_, candidate)| candidate.to_owned()).collect()
}

/// Returns the start of a name that is compared.
fn start(name: &str) -> &str {
    name.char_indices().nth(MAX_COMPARED).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions() {
        let names = ["Jet_pt", "Jet_eta", "Muon_pt", "run"];
        assert_eq!(nearest("jet_pt", names), ["Jet_pt"]);
        assert_eq!(nearest("Jet_p", names), ["Jet_pt"]);
        // Two letters that are swapped are one error.
        assert_eq!(nearest("rnu", names), ["run"]);
        assert_eq!(nearest("_pt", names), ["Jet_pt", "Muon_pt"]);
        assert!(nearest("luminosityBlock", names).is_empty());
        assert_eq!(nearest("Muno_*", names), ["Muon_*"]);
        assert_eq!(nearest("Jett_*", names), ["Jet_*"]);
        assert!(nearest("*Tau*", names).is_empty());
    }

    #[test]
    fn the_start_of_a_long_name_is_compared() {
        let long = |last| "é".repeat(MAX_COMPARED) + last;
        assert_eq!(nearest(&long("a"), [&*long("bcd"), "é"]), [long("bcd")]);
        assert_eq!(nearest("kitten", ["sitten", "sitting"]), ["sitten"]);
    }
}
