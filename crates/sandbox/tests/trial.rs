//! Trials hold the changes of a program, with and without a sandbox, as root and as an unprivileged
//! user. If that is not possible, nothing is run.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An unprivileged user, which every system has.
const NOBODY: u32 = 65534;

/// A workspace, and a directory for held changes.
struct TrialDirs {
    _temp: tempfile::TempDir,
    sandboxed: PathBuf,
    workspace: PathBuf,
    held: PathBuf,
    user: Option<u32>,
}

impl TrialDirs {
    #[expect(
        clippy::disallowed_methods,
        reason = "the process is no command of a call"
    )]
    fn of(user: Option<u32>) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        // Other users may be unable to enter the build directory. Another process copies: a child
        // that another test starts meanwhile would inherit this process's descriptor, and a file
        // that is open for writing cannot be executed.
        let sandboxed = root.join("sandboxed");
        let mut copy = Command::new("cp");
        let copied = copy.arg(env!("CARGO_BIN_EXE_sandboxed")).arg(&sandboxed);
        assert!(copied.status().unwrap().success());
        let dirs = Self {
            _temp: temp,
            sandboxed,
            // Characters that a mount option cannot contain.
            workspace: root.join("a:b,c\\d e"),
            held: root.join("held"),
            user,
        };
        for directory in ["", "src", "gone"] {
            fs::create_dir(dirs.workspace.join(directory)).unwrap();
        }
        fs::write(dirs.workspace.join("old"), "old\n").unwrap();
        fs::write(dirs.workspace.join("gone/file"), "").unwrap();
        for directory in ["", "upper", "work"] {
            fs::create_dir(dirs.held.join(directory)).unwrap();
        }
        for directory in [&dirs.workspace, &dirs.held] {
            dirs.give(directory);
        }
        dirs
    }

    /// A workspace for each kind of user as which this test can run.
    fn all() -> Vec<Self> {
        let users = if rustix::process::geteuid().is_root() {
            vec![None, Some(NOBODY)]
        } else {
            vec![None]
        };
        users.into_iter().map(Self::of).collect()
    }

    fn give(&self, directory: &Path) {
        let Some(user) = self.user else { return };
        chown(directory, Some(user), Some(user)).unwrap();
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                self.give(&entry.path());
            } else {
                chown(entry.path(), Some(user), Some(user)).unwrap();
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the program that starts others is what is tested"
    )]
    fn run(&self, options: &[&str], script: &str) -> Output {
        let mut command = Command::new(&self.sandboxed);
        command
            .arg("--trial")
            .arg(&self.workspace)
            .arg("--held")
            .arg(&self.held)
            .arg("--workspace")
            .arg(&self.workspace)
            .args(options)
            .args(["--", "/bin/sh", "-c", script])
            .current_dir(&self.workspace);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.output().unwrap()
    }

    /// Everything in a directory, with its content.
    fn seen(directory: &Path) -> Vec<(PathBuf, Option<String>)> {
        let mut all = Vec::new();
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let is_directory = path.symlink_metadata().unwrap().is_dir();
            all.push((path.clone(), fs::read_to_string(&path).ok()));
            if is_directory {
                all.extend(Self::seen(&path));
            }
        }
        all.sort();
        all
    }
}

const CHANGES: &str =
    "echo new >>old; echo n >src/new; rm -r gone; mkdir gone2; cat old src/new; ls -d gone* src";
const CHANGED: &str = "old\nnew\nn\ngone2\nsrc\n";

#[test]
fn trial_changes_are_visible_only_inside() {
    let sandboxes: [&[&str]; 3] = [
        &["--level", "off"],
        &["--tier", "full", "--network", "on"],
        &["--tier", "base"],
    ];
    for options in sandboxes {
        for dirs in TrialDirs::all() {
            let before = TrialDirs::seen(&dirs.workspace);
            let output = dirs.run(options, CHANGES);
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!(stdout, CHANGED, "{options:?} {:?} {output:?}", dirs.user);
            assert_eq!(TrialDirs::seen(&dirs.workspace), before, "{options:?}");
            let upper = dirs.held.join("upper");
            assert_eq!(fs::read(upper.join("old")).unwrap(), b"old\nnew\n");
            assert_eq!(fs::read(upper.join("src/new")).unwrap(), b"n\n");
            assert!(upper.join("gone").symlink_metadata().is_ok());
        }
    }
}

#[test]
fn sandbox_is_enforced_in_a_trial() {
    for tier in ["full", "base"] {
        for dirs in TrialDirs::all() {
            let options = ["--level", "read_only", "--tier", tier];
            let output = dirs.run(&options, "cat old; echo x >old");
            assert_eq!(output.stdout, b"old\n", "{output:?}");
            assert!(!output.status.success(), "{output:?}");
        }
    }
}

#[test]
fn private_directory_in_the_workspace_stays_outside_the_overlay() {
    for dirs in TrialDirs::all() {
        let own = dirs.workspace.join("src");
        let options = ["--level", "off", "--own", own.to_str().unwrap()];
        let output = dirs.run(&options, "echo real >src/own; echo held >gone/held");
        assert!(output.status.success(), "{output:?}");
        assert!(own.join("own").exists());
        assert!(!dirs.workspace.join("gone/held").exists());
    }
}

/// Each is refused with its name, and the script does not run: it would create a file.
#[test]
fn impossible_trial_runs_nothing() {
    let dirs = TrialDirs::of(None);
    let outside = tempfile::tempdir().unwrap();
    let trace = outside.path().join("ran");
    let script = format!("touch {}", trace.display());
    let level = ["--level", "off"];
    let run = |dirs: &TrialDirs, script: &str| {
        let output = dirs.run(&level, script);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), stderr)
    };
    // The negative control.
    assert!(run(&dirs, &script).0 && trace.exists());
    fs::remove_file(&trace).unwrap();

    let within = TrialDirs {
        held: dirs.workspace.join("src"),
        ..TrialDirs::of(None)
    };
    let within = TrialDirs {
        workspace: dirs.workspace.clone(),
        ..within
    };
    let missing = TrialDirs {
        held: dirs.held.join("upper"),
        ..TrialDirs::of(None)
    };
    for (dirs, why) in [(&within, "is within"), (&missing, "No such file")] {
        let (ran, stderr) = run(dirs, &script);
        assert!(!ran && stderr.contains(why), "{stderr}");
        assert!(stderr.contains("a trial is not possible here"), "{stderr}");
    }
    if rustix::process::geteuid().is_root() {
        let foreign = TrialDirs {
            user: Some(NOBODY),
            ..TrialDirs::of(None)
        };
        foreign.give(&foreign.held);
        let (ran, stderr) = run(&foreign, "true");
        assert!(!ran && stderr.contains("belongs to user 0"), "{stderr}");
    }
    assert!(!trace.exists());
}

#[test]
fn mount_in_the_workspace_is_refused_in_a_trial() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dirs = TrialDirs::of(None);
    // In namespaces of its own, so that no mount is left.
    let script = format!(
        "mount -t tmpfs none src && {} --level off --trial . --held {} -- /bin/sh -c 'touch ran'",
        dirs.sandboxed.display(),
        dirs.held.display()
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "the program that starts others is what is tested"
    )]
    let output = Command::new("unshare")
        .args(["--mount", "/bin/sh", "-c", &script])
        .current_dir(&dirs.workspace)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("something is mounted at"), "{stderr}");
    assert!(!dirs.workspace.join("ran").exists());
}
