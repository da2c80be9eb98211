//! Makes the tree of a flame graph: the stages inside stages, over all threads.

use super::log::Log;
use super::report::ProfileReport;
use super::stages;
use crate::time::seconds;

/// A stage inside other stages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flame {
    /// The name of the stage. The root has none.
    pub stage: &'static str,
    /// The time in seconds, including the stages inside.
    pub seconds: f64,
    /// The number of times that the stage ran.
    pub calls: u64,
    /// The stages inside it, sorted by time, the longest first.
    pub inside: Vec<Flame>,
}

impl ProfileReport {
    /// Returns the tree of all stages.
    pub fn flame(&self) -> Flame {
        let mut root = Flame::default();
        self.logs.iter().for_each(|log| add_log(&mut root, log));
        root.finish();
        root
    }
}

fn add_log(root: &mut Flame, log: &Log) {
    for node in &log.nodes {
        let mut path = vec![node.stage];
        let mut parent = node.parent;
        while let Some(outer) = parent.and_then(|parent| log.nodes.get(parent)) {
            path.push(outer.stage);
            parent = outer.parent;
        }
        let place = path.iter().rev().fold(&mut *root, |place, stage| place.child(stage));
        place.seconds += seconds(node.own);
        place.calls += node.calls;
    }
}

impl Flame {
    fn child(&mut self, stage: &'static str) -> &mut Self {
        let known = self.inside.iter().position(|child| child.stage == stage);
        let at = known.unwrap_or_else(|| {
            self.inside.push(Self { stage, ..Self::default() });
            self.inside.len() - 1
        });
        &mut self.inside[at]
    }

    /// Adds the times of the stages inside, and sorts them.
    fn finish(&mut self) {
        self.inside.iter_mut().for_each(Self::finish);
        self.seconds += self.inside.iter().map(|child| child.seconds).sum::<f64>();
        self.inside.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    }

    /// Returns the meaning of the stage.
    pub fn meaning(&self) -> &'static str {
        stages::meaning(self.stage)
    }
}
