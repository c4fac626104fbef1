//! The worth of a path: the loss if its contents are moved, removed, emptied or overwritten.

use super::part::are_names;
use super::{Location, PathBase};
use crate::syntax::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum PathWorth {
    /// A dotfile of a home, or a file of git. Emptying such a file is an accident; writing is not.
    Dotfile,
    /// A directory of settings in a home: must not be moved or removed.
    Settings,
    /// A start-up file or a key in a home.
    Key,
    /// A file that identifies users or file systems: must not be overwritten, moved or removed.
    System,
    /// The working directory's `.git`: must not be moved out of the working directory.
    Git,
    /// A program, a library, or a file or directory of a service: must not be removed or moved.
    Service,
    /// The root, a system directory, or a home.
    Landmark,
}

/// The names of worths in rows of rules.
pub(in super::super) const WORTHS: [(&str, PathWorth); 7] = [
    ("dotfile", PathWorth::Dotfile),
    ("settings", PathWorth::Settings),
    ("key", PathWorth::Key),
    ("system", PathWorth::System),
    ("git", PathWorth::Git),
    ("service", PathWorth::Service),
    ("landmark", PathWorth::Landmark),
];

/// Files that a shell or git reads at start-up, directly below a home.
const START_UP: [&str; 14] = [
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
    ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc", ".cshrc", ".tcshrc", ".gitconfig",
];

/// Directories with keys, directly below a home.
const KEY_DIRECTORIES: [&str; 3] = [".ssh", ".gnupg", ".password-store"];

/// Directories below a home with most programs' settings.
const SETTINGS_DIRECTORIES: [&str; 2] = [".config", ".local"];

/// Files with credentials, in subdirectories of a home.
const CREDENTIAL_FILES: [&[&str]; 3] = [
    &[".aws", "credentials"],
    &[".kube", "config"],
    &[".docker", "config.json"],
];

/// Files that identify users and file systems, below `/etc`.
const SYSTEM_FILES: [&str; 17] = [
    "passwd", "shadow", "group", "gshadow", "sudoers", "fstab", "crypttab", "ld.so.conf", "hosts",
    "resolv.conf", "nsswitch.conf", "profile", "inittab", "crontab", "login.defs", "subuid",
    "subgid",
];

/// Files without which the system or a service does not start: their directories, and their names.
const SERVICE_FILES: [(&[&str], &[&str]); 7] = [
    (&["etc", "ssh"], &["sshd_config"]),
    (&["etc", "default"], &["grub"]),
    (&["boot"], &["vmlinuz", "initrd", "initrd.img", "initramfs"]),
    (&["bin"], &PROGRAMS),
    (&["sbin"], &PROGRAMS),
    (&["usr", "bin"], &PROGRAMS),
    (&["usr", "sbin"], &PROGRAMS),
];

/// Programs without which a system cannot be repaired.
const PROGRAMS: [&str; 40] = [
    "sh", "bash", "dash", "env", "ls", "cp", "mv", "rm", "cat", "ln", "chmod", "chown", "mkdir",
    "sudo", "su", "login", "passwd", "mount", "umount", "init", "systemctl", "systemd", "dpkg",
    "apt", "apt-get", "dnf", "yum", "rpm", "pacman", "apk", "ssh", "sshd", "tar", "grep", "sed",
    "awk", "find", "perl", "sulogin", "agetty",
];

/// Returns the worth of a path; `None` if its loss is harmless.
pub(in super::super) fn worth(value: &Value, path_base: &PathBase<'_>) -> Option<PathWorth> {
    if matches!(value.literal(), Some(".git" | "./.git")) {
        return Some(PathWorth::Git);
    }
    let location = Location::of(value, path_base)?;
    if location.is_landmark(path_base.home) {
        return Some(PathWorth::Landmark);
    }
    if location.is_of_system() {
        return Some(PathWorth::Service);
    }
    let (last, above) = location.parts.split_last()?;
    let is_one_of = |names: &[&str]| names.iter().any(|name| last.could_be(name));
    if are_names(above, &["etc"]) && is_one_of(&SYSTEM_FILES) {
        return Some(PathWorth::System);
    }
    let mut files = SERVICE_FILES.iter();
    if files.any(|(parents, names)| are_names(above, parents) && is_one_of(names)) {
        return Some(PathWorth::Service);
    }
    if let Some(
        [.., ".git", "HEAD" | "config" | "index" | "packed-refs"]
        | [.., ".git", "refs", "heads" | "tags", _],
    ) = location.literal().as_deref()
    {
        return Some(PathWorth::Dotfile);
    }
    match location.below_home(path_base.home)?.as_slice() {
        [name] if START_UP.contains(name) => Some(PathWorth::Key),
        [name, below @ ..] if KEY_DIRECTORIES.contains(name) => {
            // `mktemp -d ~/.ssh/copy.XXXXXX`
            let is_temporary = location.parts.iter().any(|part| part.has_text("XXX"));
            let is_replaceable = below
                .last()
                .is_some_and(|name| name.starts_with("known_hosts") || is_copy(name))
                || is_temporary
                || last.has_text("agent");
            (!is_replaceable).then_some(PathWorth::Key)
        }
        [name] if SETTINGS_DIRECTORIES.contains(name) => Some(PathWorth::Settings),
        [name] if name.starts_with('.') && !is_copy(name) => Some(PathWorth::Dotfile),
        path if CREDENTIAL_FILES.contains(&path) => Some(PathWorth::Dotfile),
        _ => None,
    }
}

/// Endings of names of copies, logs and similar files.
const COPY_ENDINGS: [&str; 11] = [
    ".bak", ".old", ".orig", ".tmp", ".backup", ".save", ".log", ".swp", ".new", "~", "-errors",
];

/// True if a name is the name of a copy or a log.
fn is_copy(name: &str) -> bool {
    COPY_ENDINGS.iter().any(|end| name.ends_with(end))
        || name.contains(".log.")
        || name.contains(".bak.")
}
