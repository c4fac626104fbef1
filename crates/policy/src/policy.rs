//! All checks of a script, on a single reading of it.

use crate::interceptor::Interceptor;
use crate::safe_mode::{SafeMode, check_safe_mode};
use crate::safety::{RuleSelection, check_safety};
use crate::{Check, Script, Verdict};

/// The checks to do, with their settings; `None` skips a check.
#[derive(Default)]
pub struct Policy {
    /// The check for a better tool.
    pub interceptor: Option<Interceptor>,
    /// The caller's other tools, for the interceptor; without any, nothing is intercepted.
    pub tools: Vec<String>,
    /// The check for unintended harm.
    pub safety: Option<RuleSelection>,
    /// The check by safe mode's list.
    pub safe_mode: Option<SafeMode>,
}

impl Policy {
    /// The safety check with the default rules.
    pub fn standard() -> Self {
        Policy {
            safety: Some(RuleSelection::default()),
            ..Policy::default()
        }
    }

    /// The verdict of each check, in the order in which a call is checked.
    pub fn answers(&self, script: &Script<'_>) -> Vec<(Check, Verdict)> {
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

    /// The combined verdict: the first that blocks, otherwise the first unreadable one, otherwise
    /// allow.
    pub fn decide(&self, script: &Script<'_>) -> Verdict {
        decided(self.answers(script))
    }
}

pub(crate) fn decided(answers: Vec<(Check, Verdict)>) -> Verdict {
    let mut unreadable = None;
    for (_, verdict) in answers {
        match verdict {
            Verdict::Block(_) => return verdict,
            Verdict::Unreadable(_) => {
                // Safe mode's takes precedence, as it refuses the script.
                if unreadable.is_none() || verdict.refuses() {
                    unreadable = Some(verdict);
                }
            }
            Verdict::Allow => {}
        }
    }
    unreadable.unwrap_or(Verdict::Allow)
}
