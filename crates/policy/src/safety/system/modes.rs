//! `no_recursive_mode`: changing modes or owners of a whole system or home.

use super::super::command_line::has_any;
use super::super::path::Location;
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::find::Search;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

const MODE_PROGRAMS: [&str; 9] = [
    "chmod", "chown", "chgrp", "gchmod", "gchown", "gchgrp", "setfacl", "chattr", "chcon",
];

pub(in super::super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    let arguments = ran.arguments();
    let place = scene.path_base(ran);
    let whole = |value: &Value| {
        Location::of(value, &place)
            .is_some_and(|location| location.is_landmark(place.home) || location.is_of_system())
    };
    if name == "find" {
        // Recursion through `find`, file by file.
        let search = Search::read(&ran.words);
        let changes = |words: &Vec<Field>| {
            let program = words.first().and_then(|field| field.value.literal());
            program.is_some_and(|program| MODE_PROGRAMS.contains(&program))
        };
        let hit = !search.is_narrowed
            && search.commands.iter().any(changes)
            && search.found.iter().any(whole);
        return hit.then(|| RuleFinding::on(ran, arguments));
    }
    if !MODE_PROGRAMS.contains(&name)
        || !has_any(arguments, &["-R", "--recursive"])
        || has_any(arguments, &["--help"])
    {
        return None;
    }
    // The mode or owner is the first operand, not a path.
    let found = arguments
        .iter()
        .filter(|field| !field.value.prefix().starts_with('-'))
        .find(|field| whole(&field.value))?;
    Some(RuleFinding::on(ran, [found]))
}
