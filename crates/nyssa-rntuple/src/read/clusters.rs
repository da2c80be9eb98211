//! Stores the clusters of an RNTuple. The clusters of a cluster group can be read later than the footer, because one
//! page list describes the pages of all columns of its group.

use std::ops::Range;
use std::sync::OnceLock;

use nyssa_root::error::{Error, Result};

use crate::format::ClusterGroup;
use crate::schema::Cluster;

/// The clusters of an RNTuple in order of entries. The clusters of a group are missing until its page list is read.
#[derive(Debug, Default)]
pub struct Clusters {
    clusters: Vec<OnceLock<Cluster>>,
    groups: Vec<Group>,
}

/// The clusters whose pages are in one page list.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub entries: Range<u64>,
    /// The numbers of its clusters.
    pub clusters: Range<usize>,
    /// The group in the footer.
    pub footer: ClusterGroup,
}

impl Clusters {
    /// Makes the clusters whose page lists were all read.
    pub(super) fn of(clusters: Vec<Cluster>) -> Self {
        let clusters = clusters.into_iter().map(OnceLock::from).collect();
        Self { clusters, groups: Vec::new() }
    }

    /// Makes the clusters of groups whose page lists were not read. Returns `None` unless each group starts at the
    /// end of the previous group, and its page list can describe its number of clusters.
    pub(super) fn missing(groups: &[ClusterGroup]) -> Option<Self> {
        let (mut entry, mut all) = (0_u64, Self::default());
        let mut groups: Vec<&ClusterGroup> = groups.iter().collect();
        groups.sort_by_key(|group| (group.min_entry, group.entry_span));
        for group in groups {
            if group.min_entry != entry || u64::from(group.clusters) > group.page_list.locator.size
            {
                return None;
            }
            let end = entry.checked_add(group.entry_span)?;
            let first = all.clusters.len();
            all.clusters.resize_with(first + group.clusters as usize, OnceLock::new);
            let clusters = first..all.clusters.len();
            all.groups.push(Group { entries: entry..end, clusters, footer: *group });
            entry = end;
        }
        Some(all)
    }

    /// Returns the groups with some of `entries` whose clusters are missing.
    pub(super) fn missing_in<'a>(
        &'a self,
        entries: &'a Range<u64>,
    ) -> impl Iterator<Item = &'a Group> {
        let first = self.groups.partition_point(|group| group.entries.end <= entries.start);
        let groups = self.groups[first..].iter();
        let groups = groups.take_while(|group| group.entries.start < entries.end);
        groups.filter(|group| {
            self.clusters[group.clusters.clone()].iter().any(|it| it.get().is_none())
        })
    }

    /// Sets the clusters of a group.
    ///
    /// # Errors
    /// `OutOfSpecification` if they do not follow each other from the first to the last entry of the group.
    pub(super) fn set(&self, group: &Group, mut clusters: Vec<Cluster>) -> Result<()> {
        clusters.sort_by_key(|cluster| cluster.first_entry);
        let end = check_clusters(&clusters, group.entries.start, group.clusters.start)?;
        if end != group.entries.end {
            return Err(Error::out_of_spec(format!(
                "the clusters of a cluster group end at entry {end}, the group ends at entry {}",
                group.entries.end
            )));
        }
        for (place, cluster) in self.clusters[group.clusters.clone()].iter().zip(clusters) {
            // Another thread may have read this page list.
            let _ = place.set(cluster);
        }
        Ok(())
    }

    /// Returns the number of clusters.
    pub fn len(&self) -> usize {
        self.clusters.len()
    }

    /// Returns whether there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// Returns a cluster by its number, if it is not missing.
    pub fn get(&self, number: usize) -> Option<&Cluster> {
        self.clusters.get(number)?.get()
    }

    /// Returns the clusters that are not missing, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.iter().filter_map(OnceLock::get)
    }

    /// Returns the clusters with some of `entries`, with their numbers.
    ///
    /// # Errors
    /// `OutOfSpecification` if a cluster is missing. The caller must have read it.
    pub(super) fn of_entries(&self, entries: &Range<u64>) -> Result<Vec<(usize, &Cluster)>> {
        let groups = &self.groups;
        let first = groups.partition_point(|group| group.entries.end <= entries.start);
        let last = groups.partition_point(|group| group.entries.start < entries.end);
        let numbers = match groups.get(first..last) {
            _ if groups.is_empty() => 0..self.clusters.len(),
            Some([first, .., last]) => first.clusters.start..last.clusters.end,
            Some([list]) => list.clusters.clone(),
            _ => 0..0,
        };
        let ends_before = |cluster: &OnceLock<Cluster>| {
            cluster
                .get()
                .is_some_and(|it| it.first_entry.saturating_add(it.entries) <= entries.start)
        };
        let first = self.clusters[numbers.clone()].partition_point(ends_before);
        let mut pieces = Vec::new();
        for number in numbers.skip(first) {
            let cluster = self.get(number);
            let cluster = cluster.ok_or_else(|| Error::out_of_spec("no such cluster"))?;
            if cluster.first_entry >= entries.end {
                break;
            }
            pieces.push((number, cluster));
        }
        Ok(pieces)
    }

    /// Returns the entries of each cluster. The missing clusters of a group count as one cluster.
    pub(super) fn entries(&self) -> Vec<Range<u64>> {
        let range = |cluster: &Cluster| cluster.first_entry..cluster.first_entry + cluster.entries;
        if self.groups.is_empty() {
            return self.iter().map(range).collect();
        }
        let mut all = Vec::with_capacity(self.clusters.len());
        for group in &self.groups {
            let clusters = self.clusters[group.clusters.clone()].iter().map(OnceLock::get);
            match clusters.collect::<Option<Vec<_>>>() {
                Some(clusters) => all.extend(clusters.into_iter().map(range)),
                None => all.push(group.entries.clone()),
            }
        }
        all
    }

    /// Returns the entries of the groups whose clusters are missing: the ends of these clusters are not known.
    pub(super) fn without_ends(&self) -> Vec<Range<u64>> {
        let all = self.groups.iter().filter(|group| group.clusters.len() > 1);
        let is_missing = |group: &&Group| self.get(group.clusters.start).is_none();
        all.filter(is_missing).map(|group| group.entries.clone()).collect()
    }

    /// Returns the number of entries.
    pub(super) fn num_entries(&self) -> Result<u64> {
        match self.groups.last() {
            Some(group) => Ok(group.entries.end),
            None => check_clusters(self.iter(), 0, 0),
        }
    }
}

impl<'a> IntoIterator for &'a Clusters {
    type Item = &'a Cluster;
    type IntoIter = Box<dyn Iterator<Item = &'a Cluster> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// Checks that each cluster starts at the end of the previous cluster, the first cluster at `entry`. `number` is the
/// number of the first cluster. Returns the entry after the last cluster.
fn check_clusters<'a>(
    clusters: impl IntoIterator<Item = &'a Cluster>,
    entry: u64,
    number: usize,
) -> Result<u64> {
    let mut end = entry;
    for (index, cluster) in (number..).zip(clusters) {
        if cluster.first_entry != end {
            return Err(Error::out_of_spec(format!(
                "the cluster starts at entry {}, the one before ends at entry {end}",
                cluster.first_entry
            ))
            .at(|place| place.cluster = Some(index as u64)));
        }
        end = end
            .checked_add(cluster.entries)
            .ok_or_else(|| Error::out_of_spec("more than 2^64 entries"))?;
    }
    Ok(end)
}
