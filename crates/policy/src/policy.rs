//! All questions about a script at once, from one reading of it.

use crate::interceptor::Interceptor;
use crate::safe_mode::{SafeMode, check_safe_mode};
use crate::safety::{RuleSelection, check_safety};
use crate::{Check, Script, Verdict};

/// Which questions are asked, with their settings. `None` is a question that is not asked.
#[derive(Default)]
pub struct Policy {
    /// Is there a better tool.
    pub interceptor: Option<Interceptor>,
    /// Would it do harm nobody meant.
    pub safety: Option<RuleSelection>,
    /// Is it on the list of what may run at all.
    pub safe_mode: Option<SafeMode>,
}

impl Policy {
    /// The safety checks with the rules that are on by default.
    pub fn standard() -> Self {
        Policy {
            safety: Some(RuleSelection::default()),
            ..Policy::default()
        }
    }

    /// Each question's answer, in the order in which a call meets them.
    pub fn answers(&self, script: &Script<'_>) -> Vec<(Check, Verdict)> {
        let interceptor = self.interceptor.as_ref();
        let safety = self.safety.as_ref();
        let safe_mode = self.safe_mode.as_ref();
        [
            interceptor.map(|rules| (Check::Interceptor, rules.check(script))),
            safety.map(|rules| (Check::Safety, check_safety(script, rules))),
            safe_mode.map(|mode| (Check::SafeMode, check_safe_mode(script, mode))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The answer to all of them: the first that blocks, else the first that could not read, else allow.
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
                // Safe mode's word counts for more: it refuses.
                if unreadable.is_none() || verdict.refuses() {
                    unreadable = Some(verdict);
                }
            }
            Verdict::Allow => {}
        }
    }
    unreadable.unwrap_or(Verdict::Allow)
}
