//! `no_recursive_mode`: changing modes or owners of a whole system or home.

use super::super::command_line::has_any;
use super::super::path::Location;
use super::super::rule::{Hit, Rule, Scene};
use crate::Group;
use crate::syntax::find::Search;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_recursive_mode",
    group: Group::System,
    summary: "Changing mode, owner or attributes of everything in the root, a system directory or a home: `chmod -R`, `chown -R`, `chgrp -R`, `setfacl -R`, `chattr -R`, and each of them by `find -exec`.",
    message: "permission denied: this changes the mode or owner of everything in a system directory or a home, which nothing can undo. Name the directory that is meant",
    suggestion: "name the directory, for example `chmod -R u+w ./build`",
    fires: &[
        "chmod -R 777 /",
        "sudo chown -R \"$USER\" /usr",
        "chmod -R 700 ~",
        "chown -R me:me \"$HOME\"",
        "chmod --recursive a+w /etc",
        "chmod 777 / -R",
        "chmod -Rv 755 /*",
        "chown -R me ~/.*",
        "chgrp -R staff /home/u/",
        "setfacl -R -m u:me:rwx /var",
        "cd / && chmod -R 755 .",
        "chown -R me ../..",
        "chown -R me /home/$USER",
        "find / -exec chmod 777 {} +",
        "find ~ -type f -exec chmod 600 {} \\;",
    ],
    spares: &[
        "chmod -R u+w build",
        "chmod -R u+w .",
        "chmod -R a+rX \"$DIR\"",
        "chown -R \"$USER\" \"$DIR\"/",
        "chmod -R 700 ~/.ssh",
        "chown -R me ~/project/node_modules",
        "chown -R app:app /app",
        "chown -R www-data:www-data /var/www/html",
        "chown -R app /opt/$APP",
        "chmod 755 /",
        "chmod 700 ~",
        "chmod +x script.sh",
        "chmod -R --help",
        "find . -name '*.sh' -exec chmod +x {} +",
        "find ~ -name '*.sh' -exec chmod +x {} +",
        "find / -user old -exec chown new {} +",
        "find / -type f -perm 0777 -exec chmod 644 {} \\;",
        "ls -R /",
    ],
    check,
};

const MODE_PROGRAMS: [&str; 9] = [
    "chmod", "chown", "chgrp", "gchmod", "gchown", "gchgrp", "setfacl", "chattr", "chcon",
];

fn check(ran: &ResolvedCommand, scene: &Scene<'_>) -> Option<Hit> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    let arguments = ran.arguments();
    let place = scene.path_base(ran);
    let whole = |value: &Value| {
        Location::of(value, &place).is_some_and(|location| location.is_landmark(place.home))
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
        return hit.then(|| Hit::on(ran, arguments));
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
    Some(Hit::on(ran, [found]))
}
