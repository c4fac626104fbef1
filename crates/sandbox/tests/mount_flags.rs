//! Workspaces on mounts with flags that a user namespace may not clear, as on hardened systems and
//! in containers.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]
#![expect(clippy::print_stderr, reason = "names tests that cannot run")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const FLAGS: [&str; 7] = [
    "nosuid", "nodev", "noexec", "nosuid,nodev,noexec", "nosymfollow,nosuid",
    "noatime,nodiratime,nodev", "strictatime,nosuid",
];

/// `$1`: flags, `$2`: where to mount, `$3`: the program that starts others in a sandbox, the rest:
/// its command line. The sandbox is started without the capability to change mounts, as it is
/// started outside of a container.
const SCRIPT: &str = r#"
mount -t tmpfs -o "$1" tmpfs "$2" && cd "$2" || exit 77
mkdir -p w/.git/hooks held/upper held/work && echo '[core]' >w/.git/config && cd w || exit 77
sandboxed=$3; shift 3
exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$sandboxed" "$@"
"#;

#[expect(
    clippy::disallowed_methods,
    reason = "the program that starts others is what is tested"
)]
fn run_on_mount(flags: &str, args: &[&str]) -> Output {
    let temp = tempfile::tempdir().unwrap();
    fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let directory = temp.path().join("mount");
    fs::create_dir(&directory).unwrap();
    // In namespaces of its own, so that no mount is left.
    Command::new("unshare")
        .args(["-r", "--mount", "/bin/sh", "-c", SCRIPT, "sh", flags])
        .arg(directory)
        .arg(Path::new(env!("CARGO_BIN_EXE_sandboxed")))
        .args(args)
        .output()
        .unwrap()
}

/// Whether this system has what the tests need.
fn are_mounts_possible() -> bool {
    let output = run_on_mount("nosuid", &["--tier", "base", "--", "/bin/true"]);
    let is_possible = output.status.code() == Some(0);
    if !is_possible {
        eprintln!("not run, as no file system can be mounted here: {output:?}");
    }
    is_possible
}

#[test]
fn workspace_on_a_mount_with_locked_flags_can_be_written_and_protected() {
    if !are_mounts_possible() {
        return;
    }
    let script = "echo ok >new && read -r text <new && echo $text
        echo x >.git/config || echo kept; echo x >.git/hooks/new || echo kept
        while read -r line; do case $line in *mount/w/.git/*) echo \"$line\";; esac; done </proc/self/mountinfo";
    for flags in FLAGS {
        let output = run_on_mount(flags, &["--tier", "full", "--", "/bin/sh", "-c", script]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.starts_with("ok\nkept\nkept\n"), "{flags}: {output:?}");
        let mounts: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(mounts.len(), 2, "{flags}: {mounts:?}");
        for mount in mounts {
            let options = mount.split(' ').nth(5).unwrap();
            let has = |flag: &str| flag == "strictatime" || options.split(',').any(|it| it == flag);
            assert!(has("ro") && flags.split(',').all(has), "{flags}: {options}");
        }
    }
}

#[test]
fn view_of_a_trial_keeps_the_flags_of_the_workspace() {
    if !are_mounts_possible() {
        return;
    }
    let script = "printf '#!/bin/sh\\n' >program; chmod +x program; ./program || echo refused";
    let trial = ["--level", "off", "--trial", ".", "--held", "../held"];
    for (flags, expected) in [("nosuid", ""), ("noexec", "refused\n")] {
        let args = [&trial[..], &["--", "/bin/sh", "-c", script]].concat();
        let output = run_on_mount(flags, &args);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, expected, "{flags}: {output:?}");
    }
}
