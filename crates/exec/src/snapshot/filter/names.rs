//! Names that a snapshot must not redefine: scripts, and the code with which a shell runs a script,
//! rely on their meaning.

use agent_bash_core::words;

/// Builtins of bash 5.2 (`compgen -b`). A `cd` that lists the directory, or another `test`, changes
/// the meaning of every script. The code around a script uses some builtins, too.
pub const BUILTINS: &[&str] = words![
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare",
    "dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill",
    "let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt",
    "source suspend test times trap true type typeset ulimit umask unalias unset wait",
];

/// Reserved words of bash 5.2 (`compgen -k`): aliases take precedence over them.
pub const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Tools whose default behaviour scripts rely on: POSIX, GNU coreutils, and similar common tools.
/// For example, `alias rm='rm -i'` with an empty stdin removes nothing and reports success.
/// Interpreters, package managers and container tools are not listed: their aliases
/// (`python=python3`, `docker=podman`) select the program that this system has.
pub(super) const TOOLS: &[&str] = words![
    "ag apropos ar arch at awk b2sum base32 base64 basename bash batch bc bzip2 cal cat chgrp",
    "chmod chown chroot cksum clear cmp column comm cp cpio crontab csplit curl cut date dd df",
    "diff dir dircolors dirname du ed egrep env expand expr factor fgrep file find fmt fold free",
    "gawk git grep groups gunzip gzip head hostname iconv id install ip join killall less link ln",
    "locale logger logname ls lsof make man md5sum mkdir mkfifo mknod mktemp more mount mv nice nl",
    "nohup nproc numfmt od paste patch pgrep ping pkill pr printenv ps readlink realpath renice rg",
    "rm rmdir rsync scp sed seq setsid sftp sh sha1sum sha224sum sha256sum sha384sum sha512sum",
    "shred shuf sleep sort split ssh stat stdbuf strings stty su sudo sum sync tac tail tar tee",
    "timeout top touch tr tree truncate tsort tty umount uname unexpand uniq unlink unxz unzip",
    "uptime users vdir watch wc wget whereis which who whoami xargs xz yes zcat zgrep zip",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::disallowed_methods,
        reason = "The tables are compared with the installed bash"
    )]
    fn bash(text: &str) -> Vec<String> {
        let args = ["--norc", "--noprofile", "-c", text];
        let output = std::process::Command::new("bash")
            .args(args)
            .output()
            .unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn tables_contain_every_builtin_and_keyword_of_bash() {
        for (text, table) in [("compgen -b", BUILTINS), ("compgen -k", KEYWORDS)] {
            let names = bash(text);
            assert!(names.len() > 20, "{text}: {names:?}");
            for name in names {
                assert!(table.contains(&name.as_str()), "{text}: {name}");
            }
        }
    }

    #[test]
    fn tools_are_sorted_and_unique() {
        assert!(TOOLS.is_sorted_by(|a, b| a < b));
    }
}
