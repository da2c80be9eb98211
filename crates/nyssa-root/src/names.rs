//! Finds names that are similar to a name, to suggest what the user may have meant.

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the candidates that are most similar to `name`, best first. The list is empty when none is close.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let mut scored: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let contains = lower.len() > 1 && other.contains(&lower)
                || other.len() > 2 && lower.contains(&other);
            let distance = edit_distance(&lower, &other);
            let close = distance <= (lower.chars().count() / 4).max(1);
            (close || contains).then_some((distance, candidate))
        })
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(MAX_SUGGESTIONS).map(|(_, candidate)| candidate).collect()
}

/// The number of characters of a name that are compared. A longer name is not a typing error.
const MAX_COMPARED: usize = 100;

/// Returns the Levenshtein distance in characters.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(MAX_COMPARED).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().take(MAX_COMPARED).enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(&right) {
            let replace = diagonal + usize::from(a != *b);
            diagonal = *cell;
            *cell = replace.min(diagonal + 1).min(before + 1);
            before = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances_by_hand() {
        for (a, b, distance) in
            [("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("abc", "abc", 0)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn suggestions() {
        let names = ["Jet_pt", "Jet_eta", "Muon_pt", "run"];
        assert_eq!(nearest("jet_pt", names), ["Jet_pt"]);
        assert_eq!(nearest("Jet_p", names), ["Jet_pt"]);
        assert_eq!(nearest("_pt", names), ["Jet_pt", "Muon_pt"]);
        assert!(nearest("luminosityBlock", names).is_empty());
    }
}
