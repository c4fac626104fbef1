//! `no_unread_zsh`: syntax that zsh accepts but bash does not, in a script with a command that
//! another rule checks.
//!
//! Scripts are parsed as bash would parse them. A regular expression finds syntax that only zsh
//! has.

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

/// For each group, words of letters: every command that a rule of the group refuses contains one of
/// its group's words. Programs in other languages are not checked for zsh.
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
         valkey keydb mongo mongosh hive beeline impala spark trino presto snow snowsql",
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

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    let hit = || RuleFinding::on(command, command.arguments());
    if command.name() == Some("zsh") {
        let inner_script = code(command).iter().find_map(|code| code.text(command));
        let is_unread = inner_script.is_some_and(|text| is_unread(&text, input));
        return is_unread.then(hit);
    }
    if input.context.dialect != Dialect::Zsh {
        return None;
    }
    let words = command.words.iter().map(|field| field.value.script() + " ");
    let is_checked_command = command
        .name()
        .is_none_or(|name| !DATA_PROGRAMS.contains(&name))
        && has_rule_word(&words.collect::<String>(), input);
    let is_unread = command.may_never_run && input.is_broken || has_zsh(input.text);
    let changes_rest = || changes_parsing(command) && has_rule_word(input.text, input);
    (is_checked_command && is_unread || changes_rest()).then(hit)
}

/// True if a script for zsh has syntax that only zsh has, and a word that a rule looks for.
fn is_unread(text: &str, input: &RuleInput<'_>) -> bool {
    let has_setting = || {
        text.lines()
            .flat_map(|line| line.split(';'))
            .any(is_setting)
    };
    (has_zsh(text) || has_setting()) && has_rule_word(text, input)
}

/// True if a text has syntax that only zsh has, outside of single quotes.
fn has_zsh(text: &str) -> bool {
    let outside_quotes: Vec<&str> = text.split('\'').step_by(2).collect();
    let syntax = ONLY_ZSH.as_ref();
    syntax.is_some_and(|syntax| syntax.is_match(&outside_quotes.join("'")))
}

/// True if the text has a word that a core rule, or an enabled rule of another group, looks for.
fn has_rule_word(text: &str, input: &RuleInput<'_>) -> bool {
    let is_enabled = |group: Group| input.enabled.iter().any(|rule| rule.group == group);
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
    let mut rules = input.enabled.iter();
    GROUP_WORDS.iter().any(|(group, names)| {
        (*group == Group::Core || is_enabled(*group)) && names.split_whitespace().any(is_word)
    }) || rules.any(|rule| rule.actions.rows_where(is_word).any(is_subcommand))
}

/// True for commands after which zsh parses the rest of the script differently: `setopt
/// extended_glob`, `emulate sh`, `alias -g`.
fn changes_parsing(command: &ResolvedCommand) -> bool {
    let words: Vec<&str> = command
        .words
        .iter()
        .map(|field| field.value.literal().unwrap_or("?"))
        .collect();
    is_setting(&words.join(" "))
}

/// True if a command, as one line, changes how zsh parses the rest of the script.
fn is_setting(line: &str) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("setopt" | "unsetopt") => words.any(|word| !is_harmless(word)),
        Some("emulate") => words.any(|word| !matches!(word, "zsh" | "-L" | "-R" | "-LR" | "-RL")),
        Some("alias") => words.any(|word| word.starts_with('-') && word.contains(['g', 's'])),
        _ => false,
    }
}

/// True if an option of zsh does not affect parsing.
fn is_harmless(option: &str) -> bool {
    let name: String = option
        .chars()
        .filter(|c| *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let is_listed = |name: &str| HARMLESS_OPTIONS.contains(&name);
    is_listed(&name) || name.strip_prefix("no").is_some_and(is_listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safety::rules;
    use crate::{Context, Script};

    #[test]
    fn concern_of_a_rule_includes_what_it_refuses() {
        let context = Context::new("/home/u/project");
        let script = Script::read("", &context);
        let input = RuleInput::new(&script, rules(), rules(), 0);
        // Unparsed text, and functions with any name, have no words to search for.
        let is_code = |rule: &&&crate::Rule| {
            rule.group == Group::InlineCode || matches!(rule.id, "no_unread_code" | "no_fork_bomb")
        };
        for rule in rules().iter().filter(|rule| !is_code(rule)) {
            // A redirection alone has no words.
            let unmet = |text: &&String| !text.contains('>') && !has_rule_word(text, &input);
            let strange: Vec<_> = rule.blocked_examples.iter().filter(unmet).collect();
            assert!(strange.is_empty(), "{}: {strange:?}", rule.id);
        }
        assert!(!has_rule_word("ls -la; cargo test; git status", &input));
    }
}
