//! Finds programs that need the privileges of a set-ID bit or a capability: they fail in a process
//! with `no_new_privs`.

use crate::terminal_need::opens_shell;
use agent_bash_syntax::{CommandHost, Script};

/// Programs installed with a set-ID bit or a capability, so that they have more privileges than the
/// user.
const PRIVILEGED_PROGRAMS: [&str; 25] = [
    "at", "chage", "chfn", "chsh", "crontab", "doas", "expiry", "fusermount", "fusermount3",
    "gpasswd", "mount", "newgidmap", "newgrp", "newuidmap", "passwd", "pkexec", "sg", "ssh-agent",
    "su", "su-rs", "sudo", "sudo-rs", "sudoedit", "sudoedit-rs", "umount",
];

/// Returns the first program with more privileges that a script may run, or an interactive shell in
/// which the user may run such a program.
pub fn takes_privileges(script: &Script<'_>) -> Option<&'static str> {
    let privileged = |name: &str| {
        let mut programs = PRIVILEGED_PROGRAMS.into_iter();
        programs.find(|program| *program == name)
    };
    let all = script.commands.iter().chain(&script.scanned_commands);
    let mut all = all.filter(|command| command.host == CommandHost::Local);
    let taken = all.find_map(|command| {
        let mut started_by = command.started_by.iter();
        let launcher = started_by.find_map(|outer| privileged(outer));
        launcher.or_else(|| privileged(command.name()?))
    });
    taken.or_else(|| opens_shell(script))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_syntax::{Context, Parsed};

    #[test]
    fn test_programs_are_found_in_any_directory() {
        let context = Context::new("/w");
        for (script, expected) in [
            ("sudo make install", Some("sudo")),
            ("ls; /usr/bin/sudo -u other ls", Some("sudo")),
            ("echo a | xargs sudo rm", Some("sudo")),
            ("f() { doas ls; }; f", Some("doas")),
            ("sudo-rs -n ls", Some("sudo-rs")),
            ("echo sudo; git commit -m 'use sudo'", None),
            // The user may type it in that shell.
            ("cd /tmp && zsh -l", Some("zsh")),
            ("tmux attach", Some("tmux")),
            ("bash build.sh; sh -c make; bash <in; ssh host bash", None),
            ("vim a; git rebase -i HEAD~2; python3", None),
        ] {
            let script_read = Script::follow(Parsed::read(script), &context);
            assert_eq!(takes_privileges(&script_read), expected, "{script}");
        }
    }
}
