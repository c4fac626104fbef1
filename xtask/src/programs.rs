//! Programs beyond the Rust toolchain that tests need, and how a fresh Debian machine gets them.
//!
//! A test is never skipped because a program is missing: the step installs the program or says how
//! to install it.

use crate::{Tree, say};
use anyhow::{Result, bail};
use std::path::Path;
use xshell::cmd;

/// A program and its Debian package.
struct Program {
    name: &'static str,
    package: &'static str,
    why: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "bash",
        package: "bash",
        why: "runs every script",
    },
    Program {
        name: "busybox",
        package: "busybox-static",
        why: "is the only program of a small container",
    },
    Program {
        name: "cc",
        package: "gcc",
        why: "builds the bash grammar",
    },
    Program {
        name: "git",
        package: "git",
        why: "is the reference for some safety rules",
    },
    Program {
        name: "less",
        package: "less",
        why: "is a pager on a terminal",
    },
    Program {
        name: "node",
        package: "nodejs",
        why: "starts the shell as agents do",
    },
    Program {
        name: "npm",
        package: "npm",
        why: "tests the TypeScript client",
    },
    Program {
        name: "python3",
        package: "python3",
        why: "shows a prompt on a terminal, and runs the Python client",
    },
    Program {
        name: "setfattr",
        package: "attr",
        why: "sets the extended attributes that an undo restores",
    },
    Program {
        name: "sshd",
        package: "openssh-server",
        why: "accepts calls on another machine",
    },
    Program {
        name: "ssh",
        package: "openssh-client",
        why: "carries calls to another machine",
    },
    Program {
        name: "tmux",
        package: "tmux",
        why: "is the terminal of the terminal interface",
    },
    Program {
        name: "top",
        package: "procps",
        why: "redraws a terminal",
    },
    Program {
        name: "tput",
        package: "ncurses-bin",
        why: "queries the terminal's capabilities",
    },
    Program {
        name: "vim",
        package: "vim",
        why: "is an editor on a terminal",
    },
    Program {
        name: "script",
        package: "bsdutils",
        why: "starts the program on a terminal",
    },
    Program {
        name: "unshare",
        package: "util-linux",
        why: "runs dangerous scripts in new namespaces",
    },
    Program {
        name: "zsh",
        package: "zsh",
        why: "is the shell that the profile `workspace` prefers",
    },
];

/// The step of the suite.
pub(crate) fn ensure(tree: &Tree) -> Result<()> {
    // A user's PATH often lacks the directories of servers.
    let path = tree.shell.var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let missing: Vec<&Program> = PROGRAMS
        .iter()
        .filter(|program| !is_on_path(program.name, &path))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    let wanted: Vec<String> = missing
        .iter()
        .map(|program| format!("{} ({})", program.name, program.why))
        .collect();
    say(&format!("   missing: {}", wanted.join(", ")));
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

fn is_on_path(name: &str, path: &str) -> bool {
    path.split(':')
        .any(|directory| !directory.is_empty() && Path::new(directory).join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_on_path_finds_files_in_listed_directories_only() {
        assert!(is_on_path("sh", "/nowhere:/bin"));
        assert!(!is_on_path("sh", "/nowhere"));
        assert!(!is_on_path("no-such-program", "/bin:/usr/bin"));
        assert!(!is_on_path("bin", "/"), "a directory is no program");
    }
}
