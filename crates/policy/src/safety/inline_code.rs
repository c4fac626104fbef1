//! Group `inline_code`: finds actions that other enabled rules forbid, in a program of another
//! language on the command line.
//!
//! The program is not parsed in its language. The check covers string literals that are passed to
//! calls that run commands or remove files, and ignores literals that are only data.

mod bindings;
mod call_names;
mod calls;
mod path_expression;
mod sed_and_make;
mod tokens;

use std::collections::HashSet;

use super::interpreter::{self, CodeSource, Language};
use super::path::{PathDanger, danger};
use super::rule::{Rule, RuleFinding, RuleInput};
use crate::Group;
use crate::syntax::pattern::push_globbed;
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::Value;
use crate::{Context, Dialect, Script};
use calls::CallEffect;
use std::sync::Arc;

/// Maximum nesting depth of programs within programs.
const MAX_DEPTH: u8 = 3;

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    if input.depth >= MAX_DEPTH {
        return None;
    }
    let is_forbidden = |call: &CallEffect| match call {
        CallEffect::Script(text) => forbids(text, command, input),
        CallEffect::Remove(path) => removal_danger(path, command, input).is_some(),
        CallEffect::RemoveEach(path, is_tested) => match removal_danger(path, command, input) {
            Some(PathDanger::Root | PathDanger::TopLevel | PathDanger::Home) => true,
            Some(PathDanger::WorkingDirectory | PathDanger::Git) => !is_tested,
            Some(PathDanger::Unknown) | None => false,
        },
    };
    let call = joined(calls_of(command)).into_iter().find(is_forbidden)?;
    let mut hit = RuleFinding::on(command, []);
    let (CallEffect::Script(text) | CallEffect::Remove(text) | CallEffect::RemoveEach(text, _)) =
        call;
    hit.words.push(text);
    Some(hit)
}

/// Returns the commands that programs in this command line would run, and the files that they would
/// remove.
fn calls_of(command: &ResolvedCommand) -> Vec<CallEffect> {
    let mut out = Vec::new();
    if let Some(language) = command.name().and_then(interpreter::language) {
        let mut texts: Vec<String> = interpreter::code(command)
            .iter()
            .filter_map(|code| Some(with_arguments(code.text(command)?, code, command)))
            .collect();
        if texts.is_empty() && matches!(language, Language::Make) {
            let named = |name: &&str| command.file(&Value::text(*name)).map(Value::script);
            texts.extend(
                ["GNUmakefile", "makefile", "Makefile"]
                    .iter()
                    .find_map(named),
            );
        }
        out.extend(texts.iter().flat_map(|text| calls::calls(text, language)));
    }
    out
}

/// The largest number of arguments that are substituted in a program.
const MAX_ARGUMENT: usize = 9;

/// Returns the code with the arguments of its command line substituted: `argv[1]`, `ARGV[0]`, `awk
/// -v name=value`.
fn with_arguments(code: String, source: &CodeSource<'_>, command: &ResolvedCommand) -> String {
    let arguments = command.arguments();
    let mut text = code;
    let is_awk = command.name().is_some_and(|name| name.ends_with("awk"));
    for (index, field) in arguments.iter().enumerate().filter(|_| is_awk) {
        let option = field.value.literal().unwrap_or("");
        let assignment = match option {
            "-v" | "--assign" => arguments
                .get(index + 1)
                .and_then(|next| next.value.literal()),
            _ => option
                .strip_prefix("--assign=")
                .or(option.strip_prefix("-v")),
        };
        if let Some((name, value)) = assignment.and_then(|text| text.split_once('=')) {
            text = format!("{name} = {value:?}\n{text}");
        }
    }
    let code_index = match source {
        CodeSource::Text(field, _) | CodeSource::File(field) => arguments
            .iter()
            .position(|other| std::ptr::eq(other, *field)),
        CodeSource::Stdin => arguments
            .iter()
            .position(|field| field.value.literal() == Some("-")),
    };
    let after_code = code_index
        .and_then(|index| arguments.get(index + 1..))
        .unwrap_or_default();
    let operands = after_code
        .iter()
        .filter(|field| field.value.literal() != Some("--"));
    for (index, field) in operands.take(MAX_ARGUMENT).enumerate() {
        for name in [
            format!("argv[{}]", index + 1),
            format!("$ARGV[{index}]"),
            format!("ARGV[{index}]"),
        ] {
            let Some(value) = field.value.literal().filter(|_| text.contains(&name)) else {
                continue;
            };
            let quoted = format!("{value:?}");
            let (mut out, mut is_inside) = (String::new(), false);
            for (index, part) in text.split(&name).enumerate() {
                match index {
                    0 => {}
                    // `"rm $ARGV[0]"`
                    _ if is_inside => out.push_str(value),
                    _ => out.push_str(&quoted),
                }
                is_inside ^= part.matches('"').count() % 2 == 1;
                out.push_str(part);
            }
            text = out;
        }
    }
    text
}

/// Maximum number of calls of one program that are checked individually.
const MAX_SEPARATE_CALLS: usize = 200;

/// Deduplicates the calls. Joins the scripts beyond [`MAX_SEPARATE_CALLS`] into one text, because
/// parsing each text has a fixed cost.
fn joined(mut calls: Vec<CallEffect>) -> Vec<CallEffect> {
    let mut known = HashSet::new();
    calls.retain(|call| known.insert(call.clone()));
    let further = calls.split_off(calls.len().min(MAX_SEPARATE_CALLS));
    let mut text = String::new();
    for call in further {
        match &call {
            CallEffect::Script(script) => {
                text.push_str(script);
                text.push('\n');
            }
            CallEffect::Remove(_) | CallEffect::RemoveEach(..) => calls.push(call),
        }
    }
    if !text.is_empty() {
        calls.push(CallEffect::Script(text));
    }
    calls
}

/// True if the core rules, the rules of this group, or other enabled rules refuse a shell text.
fn forbids(text: &str, command: &ResolvedCommand, input: &RuleInput<'_>) -> bool {
    let is_checked = |rule: &&&Rule| {
        let is_on = || input.enabled.iter().any(|other| other.id == rule.id);
        matches!(rule.group, Group::Core | Group::InlineCode) || is_on()
    };
    let rules: Vec<&Rule> = input.rules.iter().filter(is_checked).copied().collect();
    let context = Context {
        cwd: command
            .cwd
            .as_deref()
            .map_or_else(|| input.context.cwd.clone(), Into::into),
        home: input.context.home.clone(),
        // Other languages start `sh`.
        dialect: Dialect::Bash,
        protected: Arc::clone(&input.context.protected),
        ..Context::new("/")
    };
    let script = Script::read(text, &context);
    let inner = RuleInput::new(&script, input.rules, input.enabled, input.depth + 1);
    script.commands.iter().any(|command| {
        // The program computes unknown parts, so only commands with literal words are checked.
        let is_known = !command.words.iter().any(|field| field.value.has_unknown());
        is_known
            && rules
                .iter()
                .any(|rule| rule.check(command, &inner).is_some())
    })
}

/// Returns the danger of removing a path that a program names.
fn removal_danger(
    path: &str,
    command: &ResolvedCommand,
    input: &RuleInput<'_>,
) -> Option<PathDanger> {
    let path_base = input.path_base(command);
    let below_home = path.strip_prefix('~').or(path.strip_prefix("$HOME"));
    let path = match (below_home, &command.home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let mut value = Value::default();
    push_globbed(&mut value, &path);
    danger(&value, &path_base)
}
