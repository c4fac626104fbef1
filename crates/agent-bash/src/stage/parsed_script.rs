//! Parses a call's script once, for all stages that examine it.

use crate::call::Call;
use crate::stage::{intercept, normalise, safe_mode, safety};
use crate::tool_context::ToolContext;
use agent_bash_core::Request;
use agent_bash_policy::{Parsed, Script, Verdict, exit_1_is_ok, last_pipeline, takes_privileges};
use agent_bash_tools::{Refusal, RuleRefusal};

/// The findings of the stages about a script. The parsed script is not kept, because it may be
/// large.
pub(crate) struct ScriptFindings {
    /// The verdict of the safety rules.
    pub(crate) verdict: Verdict,
    /// The refusal, if the verdict blocks.
    pub(crate) refusal: Option<RuleRefusal>,
    /// True if trailing filters (`| head`) were turned into limits.
    pub(crate) filters_lifted: bool,
    /// True if filters were lifted, and exit code 1 of the remaining command is a result, not a
    /// failure.
    pub(crate) exit_1_is_ok: bool,
    /// For each stage of the pipeline at the script's end, whether exit code 1 is a result; `None`
    /// if the script does not end with a pipeline.
    pub(crate) last_pipeline: Option<Vec<bool>>,
    /// A program that the script may run and that gains privileges, such as `sudo`.
    pub(crate) takes_privileges: Option<&'static str>,
}

/// Parses the command and passes it through all stages that examine a script. Each text is parsed
/// only once: if a stage changes the text, the new text is parsed.
pub(crate) fn read(
    tool: &ToolContext,
    call: &mut Call,
    request: &mut Request,
) -> Result<ScriptFindings, Refusal> {
    examine_with(&|text| Parsed::read(text), tool, call, request)
}

/// Examines the command as [`read`] does, with a parser that a test can count.
fn examine_with(
    parse: &dyn for<'t> Fn(&'t str) -> Parsed<'t>,
    tool: &ToolContext,
    call: &mut Call,
    request: &mut Request,
) -> Result<ScriptFindings, Refusal> {
    let context = safety::context(tool, call);
    let command = std::mem::take(&mut request.command);
    let text = normalise::text(tool, call, request, &command);
    let original = parse(text);
    let lifted = normalise::take_limits(tool, call, request, &original);
    let filters_lifted = lifted.is_some();
    let parsed = lifted.map_or(original, parse);
    let script = Script::follow(parsed, &context);
    let with_span = |refusal: RuleRefusal| refusal.with_span_in(&command, script.parsed.text);
    let verdict = check(tool, call, request, &script).map_err(with_span)?;
    call.notices
        .extend(safety::rule_advice(&script, &tool.rules));
    let refusal = match &verdict {
        Verdict::Block(finding) => Some(with_span(finding.clone().into())),
        _ => None,
    };
    script.parsed.text.clone_into(&mut request.command);
    Ok(ScriptFindings {
        verdict,
        refusal,
        filters_lifted,
        exit_1_is_ok: filters_lifted && exit_1_is_ok(&script),
        last_pipeline: last_pipeline(&script),
        takes_privileges: takes_privileges(&script),
    })
}

/// Checks the rules for a command that the stages of another host have examined.
pub(crate) fn check_again(
    tool: &ToolContext,
    call: &Call,
    command: &str,
) -> Result<(), RuleRefusal> {
    let context = safety::context(tool, call);
    let script = Script::follow(Parsed::read(command), &context);
    match safety::check(tool, &script) {
        Verdict::Block(finding) => Err(finding.into()),
        _ => Ok(()),
    }
}

/// Returns the program by which a command gains privileges, for a command that no stage examines.
pub(crate) fn privileges_taken_by(tool: &ToolContext, call: &Call) -> Option<&'static str> {
    let context = safety::context(tool, call);
    let script = Script::follow(Parsed::read(&call.command), &context);
    takes_privileges(&script)
}

/// Returns the verdict of the safety rules, or the refusal by the interceptor or by safe mode.
fn check(
    tool: &ToolContext,
    call: &mut Call,
    request: &Request,
    script: &Script<'_>,
) -> Result<Verdict, RuleRefusal> {
    intercept::check(tool, call, script)?;
    let verdict = safety::check(tool, script);
    match (safe_mode::check(tool, request, script), verdict) {
        // A script that safe mode refuses gets no trial.
        (Err(_), Verdict::Block(finding)) => Err(finding.into()),
        (allowed, verdict) => allowed.map(|()| verdict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BashTool, HostContext, profiles};
    use agent_bash_policy::{InterceptMode, Interceptor, RuleSelection, SafeMode};
    use agent_bash_test_kit::FaultyExecutor;
    use std::cell::RefCell;
    use std::sync::Arc;

    /// Returns the texts that are parsed when all stages examine a command.
    fn parsed(command: &str, is_safe_mode: bool) -> Vec<String> {
        let host = HostContext {
            tools: Some(vec!["read".to_owned()]),
            ..HostContext::bare("/w")
        };
        let clock = Arc::new(agent_bash_process::SystemClock::default());
        let mut tool = BashTool::builder(
            profiles::STANDARD.clone(),
            host,
            Arc::new(FaultyExecutor),
            clock,
        )
        .rules(RuleSelection::all())
        .interceptor(InterceptMode::Advise, Interceptor::default());
        if is_safe_mode {
            tool = tool.safe_mode(SafeMode::default());
        }
        let tool = tool.build();
        let mut call = Call {
            command: command.to_owned(),
            ..Call::new("/w".into(), profiles::STANDARD.output)
        };
        let texts = RefCell::new(Vec::new());
        let counting = |text: &str| texts.borrow_mut().push(text.to_owned());
        let mut request = Request::new(command);
        let read = examine_with(
            &|text| {
                counting(text);
                Parsed::read(text)
            },
            &tool.context,
            &mut call,
            &mut request,
        );
        assert!(read.is_ok(), "{command}");
        texts.into_inner()
    }

    #[test]
    fn each_text_is_parsed_once_by_all_stages() {
        for is_safe_mode in [false, true] {
            assert_eq!(
                parsed("git log | grep x", is_safe_mode),
                ["git log | grep x"]
            );
            // A changed text is parsed again.
            let lifted = parsed(" git log | grep x | tail -n 3\n", is_safe_mode);
            assert_eq!(lifted, ["git log | grep x | tail -n 3", "git log | grep x"]);
        }
    }
}
