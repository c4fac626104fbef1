//! Group `inline_code`: finds actions that other enabled rules forbid, in a program of another
//! language on the command line.
//!
//! The program is not parsed in its language. String literals passed to calls that run or remove
//! something are checked; literals that are only data are not.

mod bindings;
mod calls;
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
use calls::Call;
use std::sync::Arc;

/// Maximum nesting depth of programs within programs.
const MAX_DEPTH: u8 = 3;

pub(super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    if scene.depth >= MAX_DEPTH {
        return None;
    }
    let judged = |call: &Call| match call {
        Call::Script(text) => forbids(text, ran, scene),
        Call::Remove(path) => removes(path, ran, scene).is_some(),
        Call::RemoveEach(path, is_tested) => match removes(path, ran, scene) {
            Some(PathDanger::Root | PathDanger::TopLevel | PathDanger::Home) => true,
            Some(PathDanger::WorkingDirectory | PathDanger::Git) => !is_tested,
            Some(PathDanger::Unknown) | None => false,
        },
    };
    let call = together(everything(ran)).into_iter().find(judged)?;
    let mut hit = RuleFinding::on(ran, []);
    let (Call::Script(text) | Call::Remove(text) | Call::RemoveEach(text, _)) = call;
    hit.words.push(text);
    Some(hit)
}

/// Everything that programs in this command line would run or remove.
fn everything(ran: &ResolvedCommand) -> Vec<Call> {
    let mut out = Vec::new();
    if let Some(language) = ran.name().and_then(interpreter::language) {
        let mut texts: Vec<String> = interpreter::code(ran)
            .iter()
            .filter_map(|code| Some(with_arguments(code.text(ran)?, code, ran)))
            .collect();
        if texts.is_empty() && matches!(language, Language::Make) {
            let named = |name: &&str| ran.file(&Value::text(*name)).map(Value::script);
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

/// The last of the arguments that are put into a program.
const MAX_ARGUMENT: usize = 9;

/// Returns the code with its command line put in: `argv[1]`, `ARGV[0]`, `awk -v name=value`.
fn with_arguments(code: String, source: &CodeSource<'_>, ran: &ResolvedCommand) -> String {
    let arguments = ran.arguments();
    let mut text = code;
    let is_awk = ran.name().is_some_and(|name| name.ends_with("awk"));
    for (at, field) in arguments.iter().enumerate().filter(|_| is_awk) {
        let option = field.value.literal().unwrap_or("");
        let assignment = match option {
            "-v" | "--assign" => arguments.get(at + 1).and_then(|next| next.value.literal()),
            _ => option
                .strip_prefix("--assign=")
                .or(option.strip_prefix("-v")),
        };
        if let Some((name, value)) = assignment.and_then(|it| it.split_once('=')) {
            text = format!("{name} = {value:?}\n{text}");
        }
    }
    let place = match source {
        CodeSource::Text(field, _) | CodeSource::File(field) => arguments
            .iter()
            .position(|other| std::ptr::eq(other, *field)),
        CodeSource::Stdin => arguments
            .iter()
            .position(|it| it.value.literal() == Some("-")),
    };
    let behind = place
        .and_then(|at| arguments.get(at + 1..))
        .unwrap_or_default();
    let operands = behind
        .iter()
        .filter(|field| field.value.literal() != Some("--"));
    for (at, field) in operands.take(MAX_ARGUMENT).enumerate() {
        for name in [
            format!("argv[{}]", at + 1),
            format!("$ARGV[{at}]"),
            format!("ARGV[{at}]"),
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

/// Maximum number of calls of one program that are judged individually.
const MAX_APART: usize = 200;

/// Deduplicates the calls. If there are very many, the last ones are joined into one text, because
/// parsing each text has a fixed cost.
fn together(mut calls: Vec<Call>) -> Vec<Call> {
    let mut known = HashSet::new();
    calls.retain(|call| known.insert(call.clone()));
    let behind = calls.split_off(calls.len().min(MAX_APART));
    let mut text = String::new();
    for call in behind {
        match &call {
            Call::Script(script) => {
                text.push_str(script);
                text.push('\n');
            }
            Call::Remove(_) | Call::RemoveEach(..) => calls.push(call),
        }
    }
    if !text.is_empty() {
        calls.push(Call::Script(text));
    }
    calls
}

/// Returns true if a shell text is forbidden by the core rules, by this rule again, or by other
/// enabled rules.
fn forbids(text: &str, ran: &ResolvedCommand, scene: &RuleInput<'_>) -> bool {
    let is_checked = |rule: &&&Rule| {
        let is_on = || scene.enabled.iter().any(|other| other.id == rule.id);
        matches!(rule.group, Group::Core | Group::InlineCode) || is_on()
    };
    let rules: Vec<&Rule> = scene.rules.iter().filter(is_checked).copied().collect();
    let context = Context {
        cwd: ran
            .cwd
            .as_deref()
            .map_or_else(|| scene.context.cwd.clone(), Into::into),
        home: scene.context.home.clone(),
        // Other languages start `sh`.
        dialect: Dialect::Bash,
        protected: Arc::clone(&scene.context.protected),
        ..Context::new("/")
    };
    let script = Script::read(text, &context);
    let inner = RuleInput::new(&script, scene.rules, scene.enabled, scene.depth + 1);
    script.ran.iter().any(|ran| {
        // An unknown part was built by the program; only literal words count.
        let known = !ran.words.iter().any(|field| field.value.has_unknown());
        known && rules.iter().any(|rule| rule.check(ran, &inner).is_some())
    })
}

fn removes(path: &str, ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<PathDanger> {
    let place = scene.path_base(ran);
    let below_home = path.strip_prefix('~').or(path.strip_prefix("$HOME"));
    let path = match (below_home, &ran.home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let mut value = Value::default();
    push_globbed(&mut value, &path);
    danger(&value, &place)
}
