#!/usr/bin/env bash
# Linux 6.18, landlock 0.4.5 (crates.io): under a ruleset that allows everything below "/", no
# file can be moved.
#
# Expected: a right that a ruleset does not handle is not restricted. That holds for all rights
# but one: seen: with the rights of Landlock's first version (`ABI::V1`), as a program takes them
# to be portable, each rename or hard link into another directory fails with "Invalid cross-device
# link", on one file system and with every right granted on "/". A rename within a directory
# works. `mv` helps itself by a copy, so times, hard links and open files part; programs that
# write below a temporary directory and then rename fail. With the second version and the same
# rule, all of it works.
#
# For agent-bash: where the kernel has the first version only, `agent-bash sandbox` says that
# moves fail.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
. "$(dirname "$0")/lib/crate.sh"
mkdir -p "$work/files/one" "$work/files/two"
cat > "$work/main.rs" <<'R'
use landlock::{path_beneath_rules, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, ABI};
use std::{fs, path::Path};

fn outcome(result: std::io::Result<()>) -> String {
    result.map_or_else(|error| error.raw_os_error().unwrap().to_string(), |()| "works".to_owned())
}

fn main() {
    let directory = std::env::args().nth(1).unwrap();
    let path = |name: &str| Path::new(&directory).join(name);
    for (name, abi) in [("2", ABI::V2), ("1", ABI::V1)] {
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(abi)).unwrap()
            .create().unwrap()
            .add_rules(path_beneath_rules(["/"], AccessFs::from_all(abi))).unwrap()
            .restrict_self().unwrap();
        assert_eq!(status.ruleset, RulesetStatus::FullyEnforced);
        fs::write(path("one/file"), "text").unwrap();
        let within = outcome(fs::rename(path("one/file"), path("one/other")));
        let link = outcome(fs::hard_link(path("one/other"), path(&format!("two/link{name}"))));
        let across = outcome(fs::rename(path("one/other"), path("two/file")));
        print!("version {name}: rename {within}, link across {link}, rename across {across}; ");
    }
}
R
run_with_crates 'landlock = "=0.4.5"' < "$work/main.rs" > /dev/null 2> "$work/error" || true
[ -x "$work/target/debug/finding" ] || { cat "$work/error"; exit 2; }
output=$("$work/target/debug/finding" "$work/files" 2> "$work/error") || { echo "cannot run: $(tail -n 1 "$work/error")"; exit 2; }
echo "Linux 6.18, landlock 0.4.5, 18 is EXDEV: ${output%; }"
[ "$output" = 'version 2: rename works, link across works, rename across works; version 1: rename works, link across 18, rename across 18; ' ]
