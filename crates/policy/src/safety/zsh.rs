//! `no_unread_zsh`: syntax that zsh reads but bash does not, near a command that another rule is
//! concerned with.
//!
//! Scripts are read as bash would read them. Syntax of zsh alone is searched in the text.

use std::sync::LazyLock;

use regex::Regex;

use super::command_line::Action;
use super::interpreter::code;
use super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;
use crate::{Dialect, Group};

/// Syntax that only zsh accepts: flags and modifiers of expansions, subscripts without braces,
/// `=command`, ranges, qualifiers and groups of globs, short loops.
static ONLY_ZSH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        \$[=~^+]+[\w{] | \$\{[=~^+($"] | \$\w+\[ | \$\{?\w+:[gfFwW]?[aAcehlPqQrstu&] | \$\{\w+:[:\#|*^@]
        | (^|\s)=[\w(] | <\d*-\d*> | [^\s$<>=(;&|`'"]\([^()]*[|:+]
        | \b(for|foreach)\s+\w+\s+\( | \brepeat\s+\S+\s*\{ | \}\s*always\b"#,
    )
    .ok()
});

/// Every command that a rule of the group refuses contains one of these words of letters. Programs
/// in other languages are not checked for zsh.
const GROUP_WORDS: [(Group, &str); 5] = [
    (
        Group::Core,
        "add stage push pack rm grm srm rimraf delete unlink shred zsh",
    ),
    (
        Group::System,
        "dd tee cp mv gmv install ln truncate trash rmdir find rsync rclone mkfs mke mkswap newfs wipefs sgdisk sfdisk \
         fdisk gdisk cfdisk cgdisk parted cryptsetup mdadm badblocks hdparm nvme zpool zfs btrfs lvremove vgremove pvremove \
         lvm diskutil blkdiscard pvcreate vgcreate scrub nwipe chmod chown chgrp gchmod gchown gchgrp setfacl chattr chcon kill pkill killall loginctl \
         skill shutdown reboot halt poweroff pm init telinit systemctl kexec crontab",
    ),
    (
        Group::DataLoss,
        "checkout restore switch worktree submodule read rm",
    ),
    (Group::RemoteCode, "fetch pull clone remote archive send"),
    (
        Group::Services,
        "psql pgcli mysql mycli mariadb sqlite litecli duckdb sqlcmd sqlplus clickhouse cockroach cqlsh usql turso redis \
         valkey keydb mongo mongosh",
    ),
];

/// Programs that treat their words as data.
const DATA_PROGRAMS: [&str; 7] = ["echo", "print", "printf", "test", "[", "grep", "rg"];

/// Options of zsh that do not affect parsing.
const HARMLESS_OPTIONS: [&str; 22] = [
    "allexport", "clobber", "dotglob", "errexit", "errreturn", "failglob", "globdots", "hup",
    "localoptions", "localtraps", "monitor", "nomatch", "notify", "nullglob", "numericglobsort",
    "pipefail", "rmstarsilent", "rmstarwait", "unset", "verbose", "warncreateglobal", "xtrace",
];

pub(super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    let hit = || Some(RuleFinding::on(ran, ran.arguments()));
    if ran.name() == Some("zsh") {
        let inside = code(ran).iter().find_map(|code| code.text(ran));
        return inside
            .filter(|text| is_unread(text, scene))
            .and_then(|_| hit());
    }
    if scene.context.dialect != Dialect::Zsh {
        return None;
    }
    let written = ran.words.iter().map(|field| field.value.script() + " ");
    let cares = ran.name().is_none_or(|name| !DATA_PROGRAMS.contains(&name))
        && is_concern(&written.collect::<String>(), scene);
    let is_unread = ran.dormant && scene.is_broken || has_zsh(scene.text);
    let changes = || changes_the_reading(ran) && is_concern(scene.text, scene);
    (cares && is_unread || changes()).then(hit).flatten()
}

/// Returns true if a text for zsh has syntax of zsh, and a word that a rule looks for.
fn is_unread(text: &str, scene: &RuleInput<'_>) -> bool {
    let sets = || {
        text.lines()
            .flat_map(|line| line.split(';'))
            .any(is_setting)
    };
    (has_zsh(text) || sets()) && is_concern(text, scene)
}

fn has_zsh(text: &str) -> bool {
    let outside_quotes: Vec<&str> = text.split('\'').step_by(2).collect();
    let syntax = ONLY_ZSH.as_ref();
    syntax.is_some_and(|syntax| syntax.is_match(&outside_quotes.join("'")))
}

/// Returns true if the text has a word that one of the core rules, or of another enabled group,
/// looks for.
fn is_concern(text: &str, scene: &RuleInput<'_>) -> bool {
    let is_asked = |group: Group| scene.enabled.iter().any(|rule| rule.group == group);
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphabetic()).collect();
    let is_word = |name: &str| {
        let mut parts = name.split(|c: char| !c.is_ascii_alphabetic());
        parts
            .find(|part| !part.is_empty())
            .is_none_or(|part| words.contains(&part))
    };
    let is_subcommand = |action: &Action| {
        let first = action.words.first();
        first.is_none_or(|first| first.split('|').any(is_word))
    };
    let mut actions = scene.enabled.iter().flat_map(|rule| &rule.actions);
    GROUP_WORDS.iter().any(|(group, names)| {
        (*group == Group::Core || is_asked(*group)) && names.split_whitespace().any(is_word)
    }) || actions.any(|(name, actions)| is_word(name) && actions.iter().any(is_subcommand))
}

/// Detects `setopt extended_glob`, `emulate sh`, `alias -g`: from here on zsh parses differently.
fn changes_the_reading(ran: &ResolvedCommand) -> bool {
    let words: Vec<&str> = ran
        .words
        .iter()
        .map(|field| field.value.literal().unwrap_or("?"))
        .collect();
    is_setting(&words.join(" "))
}

fn is_setting(line: &str) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("setopt" | "unsetopt") => words.any(|word| !is_harmless(word)),
        Some("emulate") => words.any(|word| !matches!(word, "zsh" | "-L" | "-R" | "-LR" | "-RL")),
        Some("alias") => words.any(|word| word.starts_with('-') && word.contains(['g', 's'])),
        _ => false,
    }
}

fn is_harmless(option: &str) -> bool {
    let name: String = option
        .chars()
        .filter(|c| *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let is_one = |name: &str| HARMLESS_OPTIONS.contains(&name);
    is_one(&name) || name.strip_prefix("no").is_some_and(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safety::rules;
    use crate::{Context, Script};

    #[test]
    fn whatever_a_rule_refuses_is_its_concern() {
        let context = Context::new("/home/u/project");
        let script = Script::read("", &context);
        let scene = RuleInput::new(&script, rules(), rules(), 0);
        // Unparsed text, and functions with any name, have no words to search for.
        let is_code = |rule: &&&crate::Rule| {
            rule.group == Group::InlineCode || matches!(rule.id, "no_unread_code" | "no_fork_bomb")
        };
        for rule in rules().iter().filter(|rule| !is_code(rule)) {
            // A redirection alone has no words.
            let unmet = |text: &&String| !text.contains('>') && !is_concern(text, &scene);
            let strange: Vec<_> = rule.fires.iter().filter(unmet).collect();
            assert!(strange.is_empty(), "{}: {strange:?}", rule.id);
        }
        assert!(!is_concern("ls -la; cargo test; git status", &scene));
    }
}
