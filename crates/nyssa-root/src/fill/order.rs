//! Names the orders of clusters.

/// The order in which the clusters of fill contexts become entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The order in which the clusters are completed. No cluster waits.
    #[default]
    Completion,
    /// One cluster of each context in turn, in the order in which the contexts were made. Finished contexts are
    /// skipped. The same rows in each context then make the same file, in whatever order the threads run. All
    /// contexts must be made before rows are added. A cluster that is complete before its turn waits in memory
    /// or in a temporary file. The thread that fills does not wait.
    RoundRobin,
}

crate::named_variants!(Order, "order", Completion = "completion", RoundRobin = "round-robin");
