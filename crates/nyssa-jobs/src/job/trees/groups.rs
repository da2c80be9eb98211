//! Divides clusters into groups that are written together. In a group, the baskets of a branch follow each other.

use std::ops::Range;

use crate::heuristics::tree;

/// Parts of clusters that are written together. Baskets end where a part ends.
pub(crate) type Group = Vec<Range<u64>>;

/// Returns the groups of `clusters`, whose entries have about `bytes` stored bytes each. Small clusters share a group,
/// and a very large cluster is divided.
pub(crate) fn groups(clusters: &[Range<u64>], bytes: f64) -> Vec<Group> {
    let size = |range: &Range<u64>| (range.end - range.start) as f64 * bytes;
    let mut groups: Vec<Group> = Vec::new();
    let mut open = 0.0;
    for cluster in clusters {
        let cluster_size = size(cluster);
        if cluster_size > tree::LARGEST_GROUP_BYTES {
            groups.extend(
                divided(cluster, cluster_size / tree::LARGEST_GROUP_BYTES).map(|part| vec![part]),
            );
            open = tree::GROUP_BYTES;
            continue;
        }
        match groups.last_mut() {
            Some(group) if open + cluster_size <= tree::GROUP_BYTES => group.push(cluster.clone()),
            _ => {
                groups.push(vec![cluster.clone()]);
                open = 0.0;
            }
        }
        open += cluster_size;
    }
    groups
}

/// Divides the part of a group that one branch has, of about `bytes` bytes before compression, into parts that fit into memory.
pub(super) fn parts(group: &Group, bytes: f64) -> Vec<Group> {
    let wanted = bytes / tree::PART_BYTES;
    match &group[..] {
        _ if wanted <= 1.0 => vec![group.clone()],
        [only] => divided(only, wanted).map(|part| vec![part]).collect(),
        several => {
            let count = (several.len() as f64 / wanted).ceil().max(1.0) as usize;
            several.chunks(count).map(<[_]>::to_vec).collect()
        }
    }
}

/// Divides a range into at least `count` parts of one size.
fn divided(range: &Range<u64>, count: f64) -> impl Iterator<Item = Range<u64>> + use<> {
    let Range { start, end } = *range;
    let size = ((end - start) as f64 / count.ceil().max(1.0)).ceil().max(1.0) as u64;
    (0..(end - start).div_ceil(size)).map(move |number| {
        let from = start + number * size;
        from..end.min(from + size)
    })
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "they are lists of ranges")]
mod tests {
    use super::*;

    #[test]
    fn small_clusters_share_a_group() {
        let clusters: Vec<_> = (0..10).map(|number| number * 10..number * 10 + 10).collect();
        let bytes = tree::GROUP_BYTES / 40.0;
        let groups = groups(&clusters, bytes);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(groups.concat(), clusters);
    }

    #[test]
    fn a_large_cluster_is_divided() {
        let bytes = tree::LARGEST_GROUP_BYTES / 40.0;
        assert_eq!(groups(&[0..100], bytes), [vec![0..34], vec![34..68], vec![68..100]]);
        assert_eq!(groups(&[0..1], 1e12), [vec![0..1]]);
        assert!(groups(&[], 1.0).is_empty());
    }

    #[test]
    fn parts_fit_into_memory() {
        let group = vec![0..10, 10..20, 20..30];
        assert_eq!(parts(&group, 1.0), std::slice::from_ref(&group));
        assert_eq!(parts(&group, 1.5 * tree::PART_BYTES), [vec![0..10, 10..20], vec![20..30]]);
        assert_eq!(parts(&vec![0..10], 1.5 * tree::PART_BYTES), [vec![0..5], vec![5..10]]);
    }
}
