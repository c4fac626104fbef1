//! Group `inline_code`: what the core rules, and others that are switched on, forbid, inside a program of
//! another language that stands on the command line.
//!
//! The program is not parsed as that language: string literals are found, and those that are handed to
//! something that runs or removes are judged. Literals that are only data are not.

mod awk;
mod calls;
mod options;
mod sed;
mod sources;
mod surroundings;
mod tcl;
mod tokens;
mod unread;

use super::path::danger;
use super::{Group, Hit, Rule, Scene, no_blind_git_add, no_dangerous_rm, no_force_push};
use crate::syntax::pattern::push_globbed;
use crate::syntax::run::Ran;
use crate::syntax::value::Value;
use crate::syntax::written::Written;
use crate::{Context, Dialect, syntax};
use calls::Call;
pub(super) use sources::runs_unread;
use std::collections::HashSet;
pub(super) use unread::decodes;

pub(super) static RULE: Rule = Rule {
    id: "no_dangerous_inline_code",
    group: Group::InlineCode,
    summary: "What the core rules forbid, inside `python -c`, `perl -e`, `ruby -e`, `node -e`, `awk`, `sed`, `tar --checkpoint-action`, a makefile on standard input, and the like; also `shutil.rmtree('/')`.",
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
        "tar cf x --checkpoint-action=exec='rm -rf /' --checkpoint=1 y",
        "printf 'all:\\n\\trm -rf /\\n' | make -f -",
        "GIT_SSH_COMMAND='rm -rf /' git fetch",
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
    needs,
    check,
};

/// Words that are taken as they stand have lost their quotes, and so has every program in them its strings.
fn needs(written: &Written<'_>) -> bool {
    sources::languages_need(written)
        // What other programs run stands in them as it is.
        || (written.any(sources::is_other) || options::need(written))
            && (written.has(&PATTERNS)
                || written.any(|word| {
                    names_in(word).is_some()
                        || harms(word)
                        || could_fetch(word)
                        || PARTS.contains(&word)
                }))
        // Settings that are run.
        || written.any(|word| word == "git")
            && (written.has_option("c") || written.any(|word| word == "config"))
            && written.any(sources::is_setting_that_runs)
}

/// How often a program may stand inside a program.
const MAX_DEPTH: u8 = 3;

fn check(ran: &Ran, scene: &Scene<'_>) -> Option<Hit> {
    if scene.depth >= MAX_DEPTH {
        return None;
    }
    let judged = |call: &Call| match call {
        Call::Script(text) => forbids(text, ran, scene),
        Call::Input => ran
            .stdin
            .as_deref()
            .is_some_and(|text| forbids(&text.script(), ran, scene)),
        Call::Remove(path) => removes(path, ran, scene),
    };
    let call = together(sources::calls(ran)).into_iter().find(judged)?;
    let mut hit = Hit::on(ran, []);
    match call {
        Call::Script(text) | Call::Remove(text) => hit.words.push(text),
        Call::Input => {}
    }
    Some(hit)
}

/// How many calls of one program are judged each by itself.
const MAX_APART: usize = 200;

/// The calls, each once. Of a great many the last are one text, as reading a text costs something however short it is.
fn together(mut calls: Vec<Call>) -> Vec<Call> {
    let mut known = HashSet::new();
    calls.retain(|call| known.insert(call.clone()));
    let behind = calls.split_off(calls.len().min(MAX_APART));
    let mut text = String::new();
    for call in behind {
        match call {
            Call::Script(script) => {
                text.push_str(&script);
                text.push('\n');
            }
            other => calls.push(other),
        }
    }
    if !text.is_empty() {
        calls.push(Call::Script(text));
    }
    calls
}

/// Whether the core rules, this one again, or others that are switched on forbid a shell text.
fn forbids(text: &str, ran: &Ran, scene: &Scene<'_>) -> bool {
    let asked = |groups: &[Group]| scene.asked.iter().any(|rule| groups.contains(&rule.group));
    let matters = could_matter(text)
        || asked(&[Group::RemoteCode]) && could_fetch(text)
        || asked(&[Group::System, Group::Services]) && harms(text);
    if !matters {
        return false;
    }
    let context = Context {
        cwd: ran
            .cwd
            .as_deref()
            .map_or_else(|| scene.context.cwd.clone(), Into::into),
        home: scene.context.home.clone(),
        tools: None,
        // What other languages start is `sh`.
        dialect: Dialect::Bash,
    };
    let script = syntax::read(text, &context);
    let inner = Scene::new(scene.context, &script.ran, scene.asked, scene.depth + 1);
    let core: [&Rule; 4] = [
        &no_blind_git_add::RULE,
        &no_force_push::RULE,
        &no_dangerous_rm::RULE,
        &RULE,
    ];
    let others = scene
        .asked
        .iter()
        .filter(|rule| !matches!(rule.group, Group::Core | Group::InlineCode))
        .copied();
    let rules: Vec<&Rule> = core.into_iter().chain(others).collect();
    script.ran.iter().any(|ran| {
        // What is not known was put together by the program; only what is written out counts.
        let known = !ran.words.iter().any(|field| field.value.has_unknown());
        known && rules.iter().any(|rule| (rule.check)(ran, &inner).is_some())
    })
}

/// Whether anything in the text could be a command in question. Most strings of a program are not even commands,
/// and reading one costs more than looking through it.
fn could_matter(text: &str) -> bool {
    names_in(text).is_some()
        // Put together, escaped, or a pattern.
        || text.contains(['$', '`', '\\', '\'', '"'])
        || text.contains(PATTERNS)
}

/// The characters of patterns and braces.
const PATTERNS: [char; 4] = ['*', '?', '[', '{'];

/// The first part of a text that could be the name of a command in question.
fn names_in(text: &str) -> Option<&'static str> {
    [
        "rm", "git", "hub", "find", "bfs", "remove", "rimraf", "unlink",
    ]
    .into_iter()
    .find(|name| text.contains(name))
}

/// The letters of those that `could_fetch` and `harms` look for by more than letters.
const PARTS: [&str; 3] = ["base", "tcp", "dev"];

/// The same for the rules about the system and about services.
fn harms(text: &str) -> bool {
    [
        "/dev/",
        "dd",
        "mkfs",
        "wipefs",
        "blkdiscard",
        "shred",
        "chmod",
        "chown",
        "chgrp",
        "mv",
        "tee",
        "truncate",
        "kill",
        "shutdown",
        "reboot",
        "halt",
        "poweroff",
        "init",
        "systemctl",
        "rsync",
        "crontab",
        "docker",
        "podman",
        "kubectl",
        "helm",
        "terraform",
        "tofu",
        "aws",
        "psql",
        "mysql",
        "redis",
        "drop",
    ]
    .iter()
    .any(|name| text.contains(name))
}

/// The same for the rules about what comes from elsewhere.
fn could_fetch(text: &str) -> bool {
    [
        "curl", "wget", "base64", "/dev/tcp", "nc", "socat", "ssh", "scp",
    ]
    .iter()
    .any(|name| text.contains(name))
}

fn removes(path: &str, ran: &Ran, scene: &Scene<'_>) -> bool {
    let place = scene.place(ran);
    let below_home = path.strip_prefix('~').or(path.strip_prefix("$HOME"));
    let path = match (below_home, &ran.home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let mut value = Value::default();
    push_globbed(&mut value, &path);
    danger(&value, &place).is_some()
}
