//! `no_mirror_delete`: turning a whole system or home into a mirror of something else.

use super::super::command_line::has_any;
use super::super::path::Location;
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::run::{Field, ResolvedCommand};

pub(in super::super) static RULE: Rule = Rule {
    id: "no_mirror_delete",
    group: Group::System,
    summary: "Removing from the root, a system directory or a home all that is not in another directory: `rsync --delete` and `rclone sync` to one of them.",
    message: "permission denied: this removes everything from a system directory or a home that is not in the source. Name the directory that is meant",
    suggestion: "name the directory, for example `rsync -a --delete build/ ~/backup/build/`, and look first with `--dry-run`",
    fires: &[
        "rsync -a --delete build/ ~",
        "rsync -av --delete-after src/ /",
        "rsync --del -a x/ \"$HOME/\"",
        "sudo rsync -a --delete backup/ /etc/",
        "cd ~ && rsync -a --delete x/ .",
        "rclone sync x: ~",
    ],
    spares: &[
        "rsync -a src/ ~",
        "rsync -a --delete src/ ~/backup/",
        "rsync -a --delete ~/ /mnt/backup/",
        "rsync -an --delete src/ ~",
        "rsync -a --delete --dry-run src/ /",
        "rsync -a --delete src/ .",
        "rsync -a --delete src/ host:/var/www/",
        "rsync -a --delete src/ \"$DEST\"",
        "rclone sync ~/docs x:docs",
    ],
    check,
};

fn check(ran: &ResolvedCommand, scene: &Scene<'_>) -> Option<Hit> {
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
    whole.then(|| Hit::on(ran, [into]))
}

/// `--delete`, `--delete-after`, `--del`, …
fn deletes(field: &Field) -> bool {
    let text = field.value.prefix();
    text == "--del" || text.starts_with("--delete") && text != "--delete-missing-args"
}
