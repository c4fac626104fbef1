//! `no_recursive_mode`: changing modes or owners in a whole system directory or home.

use super::command_line::has_any;
use super::path::Location;
use super::rule::{RuleFinding, RuleInput};
use crate::syntax::CommandHost;
use crate::syntax::find::Search;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

/// Programs that change modes, owners or attributes.
const MODE_PROGRAMS: [&str; 9] = [
    "chmod", "chown", "chgrp", "gchmod", "gchown", "gchgrp", "setfacl", "chattr", "chcon",
];

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = command.name().filter(|_| !command.is_function)?;
    let arguments = command.arguments();
    let path_base = input.path_base(command);
    let is_protected = |value: &Value| {
        // A home in a container is part of its image.
        let are_homes_ours = command.host != CommandHost::Container;
        Location::of(value, &path_base).is_some_and(|location| {
            location.is_of_system() || are_homes_ours && location.is_landmark(path_base.home)
        })
    };
    if name == "find" {
        // Recursion through `find`, file by file.
        let search = Search::read(&command.words);
        let changes = |words: &Vec<Field>| {
            let program = words.first().and_then(|field| field.value.literal());
            program.is_some_and(|program| MODE_PROGRAMS.contains(&program))
        };
        let hit = !search.is_narrowed
            && search.commands.iter().any(changes)
            && search.found.iter().any(is_protected);
        return hit.then(|| RuleFinding::on(command, arguments));
    }
    if !MODE_PROGRAMS.contains(&name)
        || !has_any(arguments, &["-R", "--recursive"])
        || has_any(arguments, &["--help"])
    {
        return None;
    }
    let mut operands = arguments
        .iter()
        .filter(|field| !field.value.prefix().starts_with('-'));
    // The first operand is the mode or owner; a word such as `755` is never a protected path.
    let owner = operands.clone().next().map(|field| field.value.to_string());
    let owner = owner.as_deref().and_then(|owner| owner.split(':').next());
    // `chown -R app:app /home/app`, `chown -R "$NAME" "/home/$NAME"`
    let is_of_owner = |value: &Value| {
        let path = value.to_string();
        let below_home = path.trim_end_matches('/').strip_prefix("/home/");
        name.ends_with("chown") && below_home.is_some_and(|name| name != "*") && below_home == owner
    };
    let found = operands.find(|field| is_protected(&field.value) && !is_of_owner(&field.value))?;
    Some(RuleFinding::on(command, [found]))
}
