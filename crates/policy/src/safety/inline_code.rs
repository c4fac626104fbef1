//! Group `inline_code`: what the core rules and other enabled rules forbid, inside a program in
//! another language that is given on the command line.
//!
//! The program is not parsed in its language: string literals are found, and those passed to calls
//! that run or remove something are judged. Literals that are only data are not.

mod bindings;
mod calls;
mod tokens;

use std::collections::HashSet;

use super::core_rules::CORE_RULES;
use super::interpreter::{self, Language};
use super::path::danger;
use super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::pattern::push_globbed;
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::Value;
use crate::{Context, Dialect, Script};
use calls::Call;

pub(super) static RULE: Rule = Rule {
    id: "no_dangerous_inline_code",
    group: Group::InlineCode,
    summary: "What the core rules forbid, inside `python -c`, `perl -e`, `ruby -e`, `node -e`, `awk`, `sed`, a makefile on standard input, and the like; also `shutil.rmtree('/')`.",
    message: "permission denied: the program on this command line would run a command that is not allowed (blind git add, forced push, or removal of critical data)",
    suggestion: "do it step by step with plain commands that name the files",
    fires: &[
        "python3 -c 'import os;os.system(\"rm -rf /\")'",
        "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
        "python -c 'import subprocess as s; s.run([\"rm\", \"-rf\", \"/\"])'",
        "python3 - <<'E'\nimport os\nos.system('git push -f')\nE",
        "perl -e 'system(\"rm -rf /\")'",
        "perl -e '`rm -rf /`'",
        "ruby -e 'FileUtils.rm_rf(\"/\")'",
        "node -e 'require(\"child_process\").execSync(\"git add -A\")'",
        "node -e 'fs.rmSync(\"/\", {recursive: true})'",
        "awk 'BEGIN{system(\"rm -rf /\")}'",
        "sed -n '1e rm -rf /' /etc/hosts",
        "printf 'all:\\n\\trm -rf /\\n' | make -f -",
    ],
    spares: &[
        "python3 -c 'print(\"rm -rf /\")'",
        "python3 -c 'import os; os.system(\"ls\")'",
        "python3 -c 'import shutil; shutil.rmtree(\"build\")'",
        "perl -ne 'print if /rm -rf/' f",
        "awk '/rm -rf/ {print}' f",
        "sed 's/rm -rf/trash/' f",
        "node -e 'console.log(\"git push -f\")'",
        "printf 'all:\\n\\techo hi\\n' | make -f -",
    ],
    check,
};

/// Maximum nesting depth of programs within programs.
const MAX_DEPTH: u8 = 3;

fn check(ran: &ResolvedCommand, scene: &Scene<'_>) -> Option<Hit> {
    if scene.depth >= MAX_DEPTH {
        return None;
    }
    let judged = |call: &Call| match call {
        Call::Script(text) => forbids(text, ran, scene),
        Call::Remove(path) => removes(path, ran, scene),
    };
    let call = together(everything(ran)).into_iter().find(judged)?;
    let mut hit = Hit::on(ran, []);
    let (Call::Script(text) | Call::Remove(text)) = call;
    hit.words.push(text);
    Some(hit)
}

/// Everything that programs in this command line would run or remove.
fn everything(ran: &ResolvedCommand) -> Vec<Call> {
    let mut out = Vec::new();
    if let Some(language) = ran.name().and_then(interpreter::language) {
        let mut texts: Vec<String> = interpreter::code(ran)
            .iter()
            .filter_map(|code| code.text(ran))
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
            Call::Remove(_) => calls.push(call),
        }
    }
    if !text.is_empty() {
        calls.push(Call::Script(text));
    }
    calls
}

/// True if a shell text is forbidden by the core rules, by this rule again, or by other enabled
/// rules.
fn forbids(text: &str, ran: &ResolvedCommand, scene: &Scene<'_>) -> bool {
    let others = scene
        .enabled
        .iter()
        .filter(|rule| !matches!(rule.group, Group::Core | Group::InlineCode))
        .copied();
    let rules: Vec<&Rule> = CORE_RULES
        .into_iter()
        .chain([&RULE])
        .chain(others)
        .collect();
    let context = Context {
        cwd: ran
            .cwd
            .as_deref()
            .map_or_else(|| scene.context.cwd.clone(), Into::into),
        home: scene.context.home.clone(),
        // Other languages start `sh`.
        dialect: Dialect::Bash,
        ..Context::new("/")
    };
    let script = Script::read(text, &context);
    let inner = Scene::new(&script, scene.enabled, scene.depth + 1);
    script.ran.iter().any(|ran| {
        // An unknown part was built by the program; only literal words count.
        let known = !ran.words.iter().any(|field| field.value.has_unknown());
        known && rules.iter().any(|rule| (rule.check)(ran, &inner).is_some())
    })
}

fn removes(path: &str, ran: &ResolvedCommand, scene: &Scene<'_>) -> bool {
    let place = scene.path_base(ran);
    let below_home = path.strip_prefix('~').or(path.strip_prefix("$HOME"));
    let path = match (below_home, &ran.home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let mut value = Value::default();
    push_globbed(&mut value, &path);
    danger(&value, &place).is_some()
}
