//! The script that runs first on a remote host: it looks for this program, receives an upload if
//! the program is missing, and executes it.
//!
//! The script uses only POSIX shell and few programs: `dash`, busybox and `bash` run it alike. An
//! ssh server passes the script to the login shell in single quotes, so the script must not contain
//! a single quote, backslash, exclamation mark or newline.

use crate::{Program, Target};

/// The messages of the script, each on a line after the nonce.
pub(crate) mod word {
    /// The script executes the program.
    pub(crate) const RUN: &str = "run";
    /// The script waits for the upload.
    pub(crate) const NEED: &str = "need";
    /// The program is missing, and uploads are disabled.
    pub(crate) const MISSING: &str = "missing";
    /// The machine has another architecture.
    pub(crate) const MACHINE: &str = "machine";
    /// The remote host has no directory from which programs run.
    pub(crate) const NOWHERE: &str = "nowhere";
    /// The program could not be written.
    pub(crate) const UNWRITTEN: &str = "unwritten";
    /// Too few bytes arrived; their number follows.
    pub(crate) const SHORT: &str = "short";
    /// The received bytes have another hash.
    pub(crate) const DAMAGED: &str = "damaged";
}

/// The prefix of the program's name on a remote host; its hash follows.
const NAME_PREFIX: &str = "agent-bash-";

/// Returns the script. Its messages begin with `nonce`, which the script contains in two parts.
/// Otherwise, if a server prints the command that it runs, its text would look like a message.
pub(crate) fn script(target: &Target, program: &Program, nonce: &str) -> String {
    let (first, second) = nonce.split_at(nonce.len() / 2);
    let directories = match target.directory.as_deref() {
        Some(directory) => match directory.strip_prefix("~/") {
            Some(rest) => format!("\"$HOME/{rest}\""),
            None => format!("\"{directory}\""),
        },
        None => {
            r#""${HOME:+$HOME/.cache/agent-bash}" "/var/tmp/agent-bash-$u" "/tmp/agent-bash-$u""#
                .to_owned()
        }
    };
    let install = u8::from(target.install);
    let (hash, length, machine) = (program.hash(), program.length(), program.machine());
    // Files of this program are private; files of commands have the machine's umask.
    let lines = [
        format!("n={first}; n=${{n}}{second}; h={hash}; s={length}; u=$(id -u); o=$(umask); umask 077"),
        r#"say() { echo "$n $*"; }"#.to_owned(),
        r#"no() { say "$@"; exit 1; }"#.to_owned(),
        // The directory must be writable by this user alone, because its files are executed.
        r#"own() { [ -n "$1" ] && [ -d "$1" ] && [ -O "$1" ] || return 1; [ -L "$1" ] && return 1; case $(ls -ld "$1") in ?????w*|????????w*) return 1;; esac; return 0; }"#.to_owned(),
        format!("m=$(uname -m); [ \"$m\" = {machine} ] || no {} \"$m\"", word::MACHINE),
        format!("set -- {directories}"),
        format!(
            r#"for d in "$@"; do f=$d/{NAME_PREFIX}$h; own "$d" && [ -x "$f" ] && {{ say {}; umask $o; exec "$f" rpc --worker; exit 1; }}; done"#,
            word::RUN
        ),
        format!("[ {install} = 1 ] || no {}", word::MISSING),
        // An execution test finds a usable directory. An existing directory keeps its mode, because
        // it may have other uses.
        r#"for d in "$@" -; do [ "$d" = - ] && break; [ -n "$d" ] || continue; [ -d "$d" ] || mkdir -p "$d"; own "$d" || continue; t=$d/.try-$$; echo : > "$t" && chmod 700 "$t" && "$t"; r=$?; rm -f "$t"; [ $r = 0 ] && break; done"#.to_owned(),
        format!("[ \"$d\" = - ] && no {}", word::NOWHERE),
        format!("f=$d/{NAME_PREFIX}$h; t=$d/.new-$$; say {}", word::NEED),
        format!(
            r#"head -c $s > "$t" || {{ rm -f "$t"; no {} "$d"; }}"#,
            word::UNWRITTEN
        ),
        format!(
            r#"k=$(wc -c < "$t"); [ "$k" -eq $s ] || {{ rm -f "$t"; no {} "$k"; }}"#,
            word::SHORT
        ),
        format!(
            r#"if command -v sha256sum > /dev/null; then k=$(sha256sum < "$t"); [ "${{k%% *}}" = $h ] || {{ rm -f "$t"; no {}; }}; fi"#,
            word::DAMAGED
        ),
        format!(
            r#"chmod 700 "$t" && mv -f "$t" "$f" || {{ rm -f "$t"; no {} "$d"; }}"#,
            word::UNWRITTEN
        ),
        format!(r#"say {}; umask $o; exec "$f" rpc --worker"#, word::RUN),
    ];
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn script_contains_nothing_that_login_shells_interpret() {
        let program = Program::read(Path::new("/proc/self/exe")).unwrap();
        let mut target = Target::parse("ssh:box").unwrap();
        for directory in [None, Some("/opt/x"), Some("~/x")] {
            target.directory = directory.map(str::to_owned);
            let script = script(&target, &program, "0123456789abcdef");
            assert!(!script.contains(['\'', '\\', '!', '\n']), "{script}");
            assert!(!script.contains("0123456789abcdef"), "{script}");
        }
    }
}
