//! Runs scripts in real bash and decides which argument lists are forbidden, by code that shares
//! nothing with the policy.

#![expect(
    clippy::unwrap_used,
    reason = "a sandbox that cannot be made fails the test"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The home directory for the scripts; it does not exist.
pub(crate) const HOME: &str = "/nonexistent/home/u";

/// The number of scripts that run at the same time: one, because the scripts write to the same
/// directory.
const WORKERS: usize = 1;

/// A directory with stubs, and a working directory.
pub(crate) struct Sandbox {
    root: tempfile::TempDir,
    cwd: PathBuf,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let cwd = root.path().join("work");
        Sandbox { root, cwd }
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Runs each script; returns the arguments with which the stubs were called.
    pub(crate) fn run<'s>(&self, scripts: impl Iterator<Item = &'s str>) -> Vec<Vec<Vec<String>>> {
        for directory in ["work/build", "work/.git", "scripts", "logs"] {
            fs::create_dir_all(self.root.path().join(directory)).unwrap();
        }
        let mut count = 0;
        for (index, script) in scripts.enumerate() {
            fs::write(self.path("scripts", index), script).unwrap();
            count = index + 1;
        }
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| self.worker(worker, count))
            .collect();
        for mut worker in workers {
            assert!(worker.wait().unwrap().success());
        }
        (0..count)
            .map(|index| read_log(&self.path("logs", index)))
            .collect()
    }

    fn path(&self, directory: &str, index: usize) -> PathBuf {
        self.root.path().join(directory).join(index.to_string())
    }

    /// Starts a bash that runs every `WORKERS`-th script, in its own namespace if available.
    fn worker(&self, worker: usize, count: usize) -> std::process::Child {
        let bin = self.root.path().join(format!("bin{worker}"));
        fs::create_dir_all(&bin).unwrap();
        // The stubs find their log through the environment, so that a background process of one
        // script does not write into the next one's log; if the script has cleared the environment,
        // they find it here.
        let current = bin.join("current");
        for name in ["rm", "git"] {
            let mut text = String::from("#!/bin/sh\n");
            writeln!(
                text,
                "read -r log < '{}'\nlog=${{DIFFERENTIAL_LOG:-$log}}\n{{ printf '%s\\000' {name} \"$@\"; printf '\\001\\000'; }} >> \"$log\"",
                current.display()
            )
            .unwrap();
            let file = bin.join(name);
            fs::write(&file, text).unwrap();
            let mut permissions = fs::metadata(&file).unwrap().permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
            fs::set_permissions(&file, permissions).unwrap();
        }
        let root = self.root.path().display();
        let driver = format!(
            "cd '{root}/work' || exit 1\n\
             for ((i = {worker}; i < {count}; i += {WORKERS})); do\n\
             echo '{root}/logs/'$i > '{current}'; : > '{root}/logs/'$i\n\
             DIFFERENTIAL_LOG='{root}/logs/'$i timeout -k 1 10 bash -c \"$(< '{root}/scripts/'$i)\" < /dev/null > /dev/null 2>&1\n\
             done\n\
             exit 0\n",
            current = current.display(),
        );
        let inside = Command::new("unshare")
            .args(["-Urmpf", "--mount-proc", "true"])
            .stderr(Stdio::null())
            .status();
        let mut command = if inside.is_ok_and(|status| status.success()) {
            let mut command = Command::new("unshare");
            command.args(["-Urmpf", "--mount-proc", "bash", "-c", &driver]);
            command
        } else {
            let mut command = Command::new("bash");
            command.args(["-c", &driver]);
            command
        };
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", HOME)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }
}

fn read_log(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read(path).unwrap();
    let mut out = Vec::new();
    let mut argv = Vec::new();
    for word in text.split(|byte| *byte == 0) {
        if word == b"\x01" {
            out.push(std::mem::take(&mut argv));
        } else {
            argv.push(String::from_utf8_lossy(word).into_owned());
        }
    }
    out
}

/// Returns true if the core rules forbid an argument list.
pub(crate) fn is_forbidden(argv: &[String], cwd: &Path) -> bool {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    let cluster = |letters: &[char]| {
        arguments
            .iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    match *name {
        "rm" => {
            let cwd = cwd.to_string_lossy();
            let recursive = cluster(&['r', 'R']) || arguments.contains(&"--recursive");
            recursive
                && arguments
                    .iter()
                    .any(|word| ["/", ".", "..", ".git", HOME, &cwd].contains(word))
        }
        "git" if arguments.first() == Some(&"add") => {
            let named = arguments[1..].iter().any(|word| !word.starts_with('-'));
            let all = cluster(&['A']) || arguments.contains(&"--all");
            (all && !named) || arguments.iter().any(|word| [".", ":/"].contains(word))
        }
        "git" if arguments.first() == Some(&"push") => {
            cluster(&['f'])
                || arguments
                    .iter()
                    .any(|word| *word == "--force" || word.starts_with('+'))
        }
        _ => false,
    }
}
