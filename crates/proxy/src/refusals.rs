//! The refused targets and secrets, counted.

use crate::rules::Target;
use agent_bash_core::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The largest number of counted targets.
const MAX_TARGETS: usize = 64;

/// A target that was refused, or to which a secret was refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    /// The target.
    pub target: Target,
    /// The variable of the secret, whose placeholder was sent to the target instead; `None` if the
    /// connection was refused.
    pub secret: Option<String>,
}

/// The refused targets since the start of the proxy. Several calls may share a proxy, so each
/// compares the counts of its end with those of its start.
#[derive(Debug, Default)]
pub struct Refusals {
    counted: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    targets: BTreeMap<Refused, TargetCount>,
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
pub struct RefusalCounts(BTreeMap<Refused, TargetCount>);

impl Refusals {
    /// Counts a refused target, or the refused secret of a variable. Beyond [`MAX_TARGETS`],
    /// forgets the target that was refused longest ago.
    pub(crate) fn add(&self, target: &Target, secret: Option<String>) {
        let refused = Refused {
            target: target.clone(),
            secret,
        };
        let mut counts = lock(&self.counted);
        counts.total += 1;
        let Counts { targets, total } = &mut *counts;
        if targets.len() >= MAX_TARGETS && !targets.contains_key(&refused) {
            let oldest = targets.iter().min_by_key(|(_, counted)| counted.last);
            if let Some(oldest) = oldest.map(|(target, _)| target.clone()) {
                targets.remove(&oldest);
            }
        }
        let counted = targets.entry(refused).or_insert(TargetCount {
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
    /// Returns what was refused since `earlier`, with the number of refusals.
    pub fn since(&self, earlier: &Self) -> Vec<(Refused, u64)> {
        let new_count = |(target, counted): (&Refused, &TargetCount)| {
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
        let refused = |name: &str, secret: Option<&str>| Refused {
            target: target(name),
            secret: secret.map(str::to_owned),
        };
        refusals.add(&target("a.example"), None);
        refusals.add(&target("b.example"), None);
        let start = refusals.counts();
        refusals.add(&target("b.example"), None);
        refusals.add(&target("b.example"), None);
        refusals.add(&target("c.example"), None);
        refusals.add(&target("c.example"), Some("TOKEN".to_owned()));
        let found = refusals.counts().since(&start);
        let want = [
            (refused("b.example", None), 2),
            (refused("c.example", None), 1),
            (refused("c.example", Some("TOKEN")), 1),
        ];
        assert_eq!(found, want);
        for number in 0..MAX_TARGETS {
            refusals.add(&target(&format!("n{number}.example")), None);
        }
        assert_eq!(refusals.counts().since(&start).len(), MAX_TARGETS);
        refusals.add(&target("a.example"), None);
        let found = refusals.counts().since(&start);
        assert!(
            found.contains(&(refused("a.example", None), 1)),
            "{found:?}"
        );
    }
}
