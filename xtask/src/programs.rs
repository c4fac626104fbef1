//! Programs beyond the Rust toolchain that tests need, and how a fresh Debian machine gets them.
//!
//! A test is never skipped because a program is missing: the step installs the program or says how
//! to install it.

use crate::{Tree, layers, say};
use anyhow::{Context as _, Result, bail};
use std::path::Path;
use xshell::cmd;

/// A program and its Debian package.
struct Program {
    name: &'static str,
    package: &'static str,
    purpose: &'static str,
}

impl Program {
    fn from_row(row: &'static str) -> Option<Self> {
        let mut fields = row.splitn(3, ' ');
        Some(Self {
            name: fields.next()?,
            package: fields.next()?,
            purpose: fields.next()?,
        })
    }
}

/// The name of each program, its package and its purpose.
const PROGRAMS: &[&str] = &[
    "bash bash runs every script",
    "busybox busybox-static is the only program of a small container",
    "cc gcc builds the bash grammar",
    "git git is the reference for some safety rules",
    "less less is a pager on a terminal",
    "node nodejs starts the shell as agents do",
    "npm npm tests the TypeScript client",
    "openssl openssl encrypts requests with secrets",
    "python3 python3 shows a prompt on a terminal, and runs the Python client",
    "setfattr attr sets the extended attributes that an undo restores",
    "sshd openssh-server accepts calls on another machine",
    "ssh openssh-client carries calls to another machine",
    "tmux tmux is the terminal of the terminal interface",
    "top procps redraws a terminal",
    "tput ncurses-bin queries the terminal's capabilities",
    "vim vim is an editor on a terminal",
    "script bsdutils starts the program on a terminal",
    "unshare util-linux runs dangerous scripts in new namespaces",
    "zsh zsh is the shell that the profile `workspace` prefers",
];

/// Space for a cold run without data for debuggers, in GiB: 2.3 for the tests, and room for clippy,
/// the packed crates, the clients' packages and temporary files.
const COLD_RUN_GIB: u64 = 9;

/// The step of the suite.
pub(crate) fn ensure(tree: &Tree) -> Result<()> {
    say_if_disk_is_short(&layers::target_directory(tree)?)?;
    // A user's PATH often lacks the directories of servers.
    let path = tree.shell.var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let programs = PROGRAMS.iter().filter_map(|row| Program::from_row(row));
    let missing: Vec<Program> = programs
        .filter(|program| !is_on_path(program.name, &path))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    let descriptions: Vec<String> = missing
        .iter()
        .map(|program| format!("{} ({})", program.name, program.purpose))
        .collect();
    say(&format!("   missing: {}", descriptions.join(", ")));
    if !rustix::process::geteuid().is_root() || !is_on_path("apt-get", &path) {
        bail!(
            "install them and start again; on Debian: sudo apt-get install {}",
            packages.join(" ")
        );
    }
    let shell = &tree.shell;
    cmd!(shell, "apt-get update --quiet=2").run()?;
    cmd!(
        shell,
        "apt-get install --quiet=2 --yes --no-install-recommends {packages...}"
    )
    .env("DEBIAN_FRONTEND", "noninteractive")
    .run()?;
    Ok(())
}

/// Says it before the linker does: on a full disk it ends with a bus error.
fn say_if_disk_is_short(target: &Path) -> Result<()> {
    let free = rustix::fs::statvfs(target).with_context(|| target.display().to_string())?;
    let free_gib = (free.f_bavail * free.f_frsize) >> 30;
    if free_gib < COLD_RUN_GIB {
        say(&format!(
            "   {free_gib} GiB are free at {}: a cold run may need {COLD_RUN_GIB}",
            target.display()
        ));
    }
    Ok(())
}

fn is_on_path(name: &str, path: &str) -> bool {
    path.split(':')
        .any(|directory| !directory.is_empty() && Path::new(directory).join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_program_a_package_and_a_purpose() {
        for row in PROGRAMS {
            assert!(Program::from_row(row).is_some(), "{row}");
        }
        assert!(Program::from_row("zsh zsh").is_none());
    }

    #[test]
    fn is_on_path_finds_files_in_listed_directories_only() {
        assert!(is_on_path("sh", "/nowhere:/bin"));
        assert!(!is_on_path("sh", "/nowhere"));
        assert!(!is_on_path("no-such-program", "/bin:/usr/bin"));
        assert!(!is_on_path("bin", "/"), "a directory is no program");
    }
}
