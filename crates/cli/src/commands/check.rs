//! `agent-bash check` and `explain`: print whether a script would be run, and how it is read.

use crate::args::{CheckArg, CheckArgs, CheckOptions, ChosenSettings, ExplainArgs};
use crate::commands::script;
use crate::output;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash::core::visible::shown;
use agent_bash::policy::{
    Context, Finding, Group, InterceptMode, Interceptor, Policy, RuleSelection, SafeMode, Script,
    Verdict, advice, explain, marked_lines,
};
use anyhow::Context as _;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write as _};

/// Prints the verdict. The exit code is 0 for allowed, 1 for refused, 2 for unreadable.
pub(crate) fn check(args: &CheckArgs, start: &StartContext) -> anyhow::Result<u8> {
    let (policy, context) = policy(&args.options, start)?;
    if args.batch {
        return batch(&policy, &context);
    }
    let script = script::script(args.script.as_slice())?;
    if is_hook_call(&script) {
        output::say(
            "agent-bash: this text is checked as a script, but looks like an agent's call of a hook; `agent-bash hook` answers such calls",
        );
    }
    let read = Script::read(&script, &context);
    let verdict = policy.decide(&read);
    let text = if args.json {
        serde_json::to_string(&verdict)? + "\n"
    } else {
        let rules = policy.safety.iter();
        let findings = rules.flat_map(|rules| advice(&read, rules));
        let advice: String = findings.map(|finding| advice_text(&finding)).collect();
        verdict_text(&verdict, &script) + &advice
    };
    output::print(&text)?;
    Ok(exit_code(&verdict))
}

/// Prints how the script is read. The exit codes are those of [`check`].
pub(crate) fn explanation(args: &ExplainArgs, start: &StartContext) -> anyhow::Result<u8> {
    let (policy, context) = policy(&args.options, start)?;
    let script = script::script(std::slice::from_ref(&args.script))?;
    let explanation = explain(&Script::read(&script, &context), &policy);
    let text = if args.json {
        serde_json::to_string(&explanation)? + "\n"
    } else {
        explanation.to_string()
    };
    output::print(&text)?;
    Ok(exit_code(&explanation.verdict))
}

/// True if the script is an agent's call of a hook: the user has then configured `check` instead of
/// `hook`.
fn is_hook_call(script: &str) -> bool {
    let call: Option<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(script).ok();
    call.is_some_and(|call| call.contains_key("hook_event_name"))
}

fn exit_code(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Block(_) => 1,
        Verdict::Unreadable(_) => 2,
    }
}

/// Reads scripts from stdin, one JSON string per line, and prints a verdict per line in the same
/// order.
fn batch(policy: &Policy, context: &Context) -> anyhow::Result<u8> {
    let mut out = io::stdout().lock();
    for (index, line) in io::stdin().lock().lines().enumerate() {
        let line = line.context("cannot read stdin")?;
        if line.trim().is_empty() {
            continue;
        }
        let script: String = serde_json::from_str(&line).map_err(|error| {
            let number = index + 1;
            UsageError(format!(
                "line {number} is not a script as a JSON string: {error}"
            ))
        })?;
        let verdict = serde_json::to_string(&policy.decide(&Script::read(&script, context)))?;
        let written = writeln!(out, "{verdict}").and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            other => other.context("cannot write the verdict to stdout")?,
        }
    }
    Ok(0)
}

/// Returns the checks to do. The safety rules are always checked; options or settings enable the
/// other checks; `--only` selects a single check.
fn policy(options: &CheckOptions, start: &StartContext) -> anyhow::Result<(Policy, Context)> {
    let chosen = ChosenSettings {
        safe_mode: options.safe_mode,
        tools: options.tools.as_deref(),
        ..ChosenSettings::default()
    };
    let settings = start.settings(&chosen)?.settings;
    let is_enabled =
        |check: CheckArg, by_default: bool| options.only.map_or(by_default, |only| only == check);
    let context = Context {
        cwd: start.cwd(options.cwd.as_deref()),
        ..settings.context(&start.host)
    };
    let mut policy = Policy {
        tools: settings.interceptor_tools.clone().unwrap_or_default(),
        ..Policy::default()
    };
    // In the mode `advise`, the command does run. `--tools` enables the check explicitly.
    let intercepts = settings.interceptor == InterceptMode::Block || options.tools.is_some();
    if is_enabled(CheckArg::Interceptor, intercepts) {
        let rules = settings.interceptor_rules.iter().cloned();
        policy.interceptor = Some(Interceptor::new(rules));
    }
    if is_enabled(CheckArg::Safety, true) {
        policy.safety = Some(match &options.groups {
            Some(groups) => parse_groups(groups)?,
            None => settings.rules()?,
        });
    }
    if is_enabled(CheckArg::Safemode, settings.safe_mode.is_some()) {
        policy.safe_mode = Some(SafeMode {
            level: settings.safe_mode.unwrap_or_default(),
            allowed: settings.safe_mode_allowed,
        });
    }
    Ok((policy, context))
}

/// Returns the selection of these groups of rules.
fn parse_groups(groups: &[String]) -> anyhow::Result<RuleSelection> {
    let groups: Result<Vec<Group>, _> = groups
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty())
        .map(str::parse)
        .collect();
    let groups = groups.map_err(|error| UsageError(format!("--groups: {error}")))?;
    Ok(RuleSelection::of(groups))
}

fn verdict_text(verdict: &Verdict, script: &str) -> String {
    let (outcome, finding) = match verdict {
        Verdict::Allow => return "allowed\n".to_owned(),
        Verdict::Block(finding) => (format!("refused by {}", finding.rule), finding),
        Verdict::Unreadable(finding) => ("not readable".to_owned(), finding),
    };
    let mut text = format!("{outcome}: {}\n", shown(&finding.message));
    text.push_str(&underlined(finding, script));
    text.push_str(&alternative(finding));
    text
}

/// Returns the text of an advising rule of the user.
fn advice_text(finding: &Finding) -> String {
    format!(
        "advice: {}\n{}",
        shown(&finding.message),
        alternative(finding)
    )
}

/// Returns a line with the alternative that a rule proposes, if any.
fn alternative(finding: &Finding) -> String {
    match finding.suggestion.as_str() {
        "" => String::new(),
        text => format!("instead: {}\n", shown(text)),
    }
}

/// Returns the lines of the script that led to the verdict, with the offending part underlined.
fn underlined(finding: &Finding, script: &str) -> String {
    let mut out = String::new();
    for line in marked_lines(script, finding.span) {
        let _ = writeln!(out, "  {}\n  {}", line.text, line.mark);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_option_accepts_known_names_and_refuses_unknown_ones() {
        let names = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let chosen = parse_groups(&names("core, data_loss")).unwrap();
        assert_eq!(
            chosen.groups().collect::<Vec<_>>(),
            [Group::Core, Group::DataLoss]
        );
        let error = parse_groups(&names("core,dataloss")).unwrap_err();
        assert!(error.is::<UsageError>(), "{error}");
    }
}
