//! The programs that do harm: what is looked for where a text or a command line cannot be read.

/// The names of the commands.
pub(super) const HARMFUL_COMMANDS: [&str; 39] = [
    "rm", "git", "find", "dd", "mkfs", "mke2fs", "wipefs", "blkdiscard", "sgdisk", "parted",
    "shred", "chmod", "chown", "chgrp", "mv", "cp", "tee", "truncate", "kill", "pkill", "killall",
    "poweroff", "systemctl", "rsync", "crontab", "docker", "podman", "kubectl", "helm",
    "terraform", "tofu", "aws", "dropdb", "psql", "mysql", "mkfs.ext4", "prisma", "rails", "rake",
];

/// Commands whose names scripts of `npm run` and similar also use. They count only in the text of a
/// shell script.
pub(crate) const ALSO_NAMES: [&str; 3] = ["shutdown", "reboot", "halt"];
