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
    purpose: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "bash",
        package: "bash",
        purpose: "runs every script",
    },
    Program {
        name: "busybox",
        package: "busybox-static",
        purpose: "is the only program of a small container",
    },
    Program {
        name: "cc",
        package: "gcc",
        purpose: "builds the bash grammar",
    },
    Program {
        name: "git",
        package: "git",
        purpose: "is the reference for some safety rules",
    },
    Program {
        name: "less",
        package: "less",
        purpose: "is a pager on a terminal",
    },
    Program {
        name: "node",
        package: "nodejs",
        purpose: "starts the shell as agents do",
    },
    Program {
        name: "npm",
        package: "npm",
        purpose: "tests the TypeScript client",
    },
    Program {
        name: "python3",
        package: "python3",
        purpose: "shows a prompt on a terminal, and runs the Python client",
    },
    Program {
        name: "setfattr",
        package: "attr",
        purpose: "sets the extended attributes that an undo restores",
    },
    Program {
        name: "sshd",
        package: "openssh-server",
        purpose: "accepts calls on another machine",
    },
    Program {
        name: "ssh",
        package: "openssh-client",
        purpose: "carries calls to another machine",
    },
    Program {
        name: "tmux",
        package: "tmux",
        purpose: "is the terminal of the terminal interface",
    },
    Program {
        name: "top",
        package: "procps",
        purpose: "redraws a terminal",
    },
    Program {
        name: "tput",
        package: "ncurses-bin",
        purpose: "queries the terminal's capabilities",
    },
    Program {
        name: "vim",
        package: "vim",
        purpose: "is an editor on a terminal",
    },
    Program {
        name: "script",
        package: "bsdutils",
        purpose: "starts the program on a terminal",
    },
    Program {
        name: "unshare",
        package: "util-linux",
        purpose: "runs dangerous scripts in new namespaces",
    },
    Program {
        name: "zsh",
        package: "zsh",
        purpose: "is the shell that the profile `workspace` prefers",
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
