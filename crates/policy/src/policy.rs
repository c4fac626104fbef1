//! All checks of a script, after a single parse.

use crate::interceptor::Interceptor;
use crate::safe_mode::{SafeMode, check_safe_mode};
use crate::safety::{RuleSelection, check_safety};
use crate::{Check, Script, Verdict};

/// The checks to do, with their settings; `None` skips a check.
#[derive(Default)]
pub struct Policy {
    /// The check for a better tool.
    pub interceptor: Option<Interceptor>,
    /// The caller's other tools, for the interceptor. If empty, no command is intercepted.
    pub tools: Vec<String>,
    /// The check for unintended harm.
    pub safety: Option<RuleSelection>,
    /// The check by safe mode's list.
    pub safe_mode: Option<SafeMode>,
}

impl Policy {
    /// Returns the policy with only the safety check and its default rules.
    pub fn standard() -> Self {
        Policy {
            safety: Some(RuleSelection::default()),
            ..Policy::default()
        }
    }

    /// Returns the verdict of each check, in the order in which a call is checked.
    pub fn verdicts(&self, script: &Script<'_>) -> Vec<(Check, Verdict)> {
        let interceptor = self.interceptor.as_ref();
        let safety = self.safety.as_ref();
        let safe_mode = self.safe_mode.as_ref();
        [
            interceptor.map(|rules| (Check::Interceptor, rules.check(script, &self.tools))),
            safety.map(|rules| (Check::Safety, check_safety(script, rules))),
            safe_mode.map(|mode| (Check::SafeMode, check_safe_mode(script, mode))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the combined verdict: the first verdict that blocks, otherwise an unreadable
    /// verdict, otherwise [`Verdict::Allow`].
    pub fn decide(&self, script: &Script<'_>) -> Verdict {
        decided(self.verdicts(script))
    }
}

/// Returns the combined verdict of all checks.
pub(crate) fn decided(verdicts: Vec<(Check, Verdict)>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Block(_) => 0,
        // Safe mode's verdict takes precedence, because safe mode refuses the script.
        Verdict::Unreadable(_) if verdict.refuses() => 1,
        Verdict::Unreadable(_) => 2,
        Verdict::Allow => 3,
    };
    let verdicts = verdicts.into_iter().map(|(_, verdict)| verdict);
    verdicts.min_by_key(rank).unwrap_or(Verdict::Allow)
}
