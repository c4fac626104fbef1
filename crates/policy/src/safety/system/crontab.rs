//! `no_crontab_removal`: removing all of a user's scheduled jobs at once.

use super::super::command_line::{has_any, has_option};
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::ResolvedCommand;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_crontab_removal",
    group: Group::System,
    summary: "Removing all scheduled jobs at once: `crontab -r`, `crontab /dev/null`, `crontab < /dev/null`.",
    message: "permission denied: this removes every scheduled job of the user, and no copy is kept. Take the one line out",
    suggestion: "`crontab -l > jobs.txt`, remove the line from jobs.txt, then `crontab jobs.txt`",
    fires: &[
        "crontab -r", "crontab -u me -r", "sudo crontab -ru me", "crontab /dev/null",
        "crontab - < /dev/null", "echo -n | crontab -",
    ],
    spares: &[
        "crontab -l",
        "crontab -e",
        "crontab jobs.txt",
        "crontab -l | grep -v x | crontab -",
        "(crontab -l; echo '@daily x') | crontab -",
        "crontab - < jobs.txt",
    ],
    check,
};

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    ran.name()
        .filter(|name| *name == "crontab" && !ran.is_function)?;
    let arguments = ran.arguments();
    let lists = has_any(arguments, &["-l", "-e", "-h", "--help", "-V"]);
    let from_nothing = arguments
        .last()
        .is_some_and(|field| field.value.literal() == Some("/dev/null"));
    let reads = arguments
        .iter()
        .all(|field| field.value.literal() == Some("-"));
    let emptied = reads
        && ran
            .stdin
            .as_deref()
            .is_some_and(|text| text.literal().is_some_and(|text| text.trim().is_empty()));
    let removes = has_option(arguments, "-r") || from_nothing || emptied;
    (removes && !lists).then(|| Hit::on(ran, arguments))
}
