//! The refused targets, counted.

use crate::rules::Target;
use agent_bash_core::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The largest number of counted targets.
const MAX_TARGETS: usize = 64;

/// The refused targets since the start of the proxy. Several calls may share a proxy, so each
/// compares the counts of its end with those of its start.
#[derive(Debug, Default)]
pub struct Refusals {
    counted: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    targets: BTreeMap<Target, TargetCount>,
    /// The number of all refusals.
    total: u64,
}

/// The refusals of one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TargetCount {
    count: u64,
    /// The numbers of the first and the last refusal among all.
    first: u64,
    last: u64,
}

/// The counts at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalCounts(BTreeMap<Target, TargetCount>);

impl Refusals {
    /// Counts a refused target. Beyond [`MAX_TARGETS`], forgets the target that was refused longest
    /// ago.
    pub(crate) fn add(&self, target: &Target) {
        let mut counts = lock(&self.counted);
        counts.total += 1;
        let Counts { targets, total } = &mut *counts;
        if targets.len() >= MAX_TARGETS && !targets.contains_key(target) {
            let oldest = targets.iter().min_by_key(|(_, counted)| counted.last);
            if let Some(oldest) = oldest.map(|(target, _)| target.clone()) {
                targets.remove(&oldest);
            }
        }
        let counted = targets.entry(target.clone()).or_insert(TargetCount {
            count: 0,
            first: *total,
            last: *total,
        });
        counted.count += 1;
        counted.last = *total;
    }

    /// Returns the current counts.
    pub fn counts(&self) -> RefusalCounts {
        let counts = lock(&self.counted);
        RefusalCounts(counts.targets.clone())
    }
}

impl RefusalCounts {
    /// Returns the targets that were refused since `earlier`, with the number of refusals.
    pub fn since(&self, earlier: &Self) -> Vec<(Target, u64)> {
        let new_count = |(target, counted): (&Target, &TargetCount)| {
            // A target that was forgotten meanwhile is counted from zero again.
            let before = earlier.0.get(target);
            let before = before.filter(|before| before.first == counted.first);
            let new = counted.count - before.map_or(0, |before| before.count);
            (new > 0).then(|| (target.clone(), new))
        };
        self.0.iter().filter_map(new_count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_counts_the_refusals_between_two_times_and_forgets_the_oldest_targets() {
        let refusals = Refusals::default();
        let target = |name: &str| Target::parse(&format!("{name}:443"), None).unwrap();
        refusals.add(&target("a.example"));
        refusals.add(&target("b.example"));
        let start = refusals.counts();
        refusals.add(&target("b.example"));
        refusals.add(&target("b.example"));
        refusals.add(&target("c.example"));
        let found = refusals.counts().since(&start);
        assert_eq!(found, [(target("b.example"), 2), (target("c.example"), 1)]);
        for number in 0..MAX_TARGETS {
            refusals.add(&target(&format!("n{number}.example")));
        }
        assert_eq!(refusals.counts().since(&start).len(), MAX_TARGETS);
        refusals.add(&target("a.example"));
        let found = refusals.counts().since(&start);
        assert!(found.contains(&(target("a.example"), 1)), "{found:?}");
    }
}
