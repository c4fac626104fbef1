//! `no_mirror_delete`: turning a whole system or home into a mirror of something else.

use super::super::command_line::has_any;
use super::super::path::Location;
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::{Field, ResolvedCommand};

pub(in super::super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    let arguments = ran.arguments();
    let deletes = match name {
        "rsync" => arguments.iter().any(deletes),
        "rclone" => arguments
            .first()
            .is_some_and(|field| field.value.literal() == Some("sync")),
        _ => false,
    };
    if !deletes || has_any(arguments, &["-n", "--dry-run", "--list-only", "--help"]) {
        return None;
    }
    let place = scene.path_base(ran);
    let into = arguments
        .iter()
        .rfind(|field| !field.value.prefix().starts_with('-'))?;
    let whole = Location::of(&into.value, &place)?.is_landmark(place.home);
    whole.then(|| RuleFinding::on(ran, [into]))
}

/// `--delete`, `--delete-after`, `--del`, …
fn deletes(field: &Field) -> bool {
    let text = field.value.prefix();
    text == "--del" || text.starts_with("--delete") && text != "--delete-missing-args"
}
