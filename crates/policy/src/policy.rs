//! All questions about a script at once, from one reading of it.

use crate::interceptor::Interceptor;
use crate::safe_mode::{self, SafeMode};
use crate::safety::{self, RuleSelection};
use crate::syntax;
use crate::{Check, Context, Verdict};

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
    pub fn answers(&self, script: &str, context: &Context) -> Vec<(Check, Verdict)> {
        self.answers_about(script, &syntax::read(script, context), context)
    }

    pub(crate) fn answers_about(
        &self,
        text: &str,
        script: &syntax::Script<'_>,
        context: &Context,
    ) -> Vec<(Check, Verdict)> {
        let mut out = Vec::new();
        if let Some(interceptor) = &self.interceptor {
            out.push((Check::Interceptor, interceptor.judge(text, script, context)));
        }
        if let Some(selection) = &self.safety {
            out.push((Check::Safety, safety::judge(script, context, selection)));
        }
        if let Some(mode) = &self.safe_mode {
            out.push((Check::SafeMode, safe_mode::judge(script, context, mode)));
        }
        out
    }

    /// The answer to all of them: the first that blocks, else the first that could not read, else allow.
    pub fn decide(&self, script: &str, context: &Context) -> Verdict {
        decided(self.answers(script, context))
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
