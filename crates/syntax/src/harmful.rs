//! The programs that do harm: what is looked for where a text or a command line cannot be read.

/// Their names.
pub(super) const HARMFUL: [&str; 39] = [
    "rm", "git", "find", "dd", "mkfs", "mke2fs", "wipefs", "blkdiscard", "sgdisk", "parted",
    "shred", "chmod", "chown", "chgrp", "mv", "cp", "tee", "truncate", "kill", "pkill", "killall",
    "poweroff", "systemctl", "rsync", "crontab", "docker", "podman", "kubectl", "helm",
    "terraform", "tofu", "aws", "dropdb", "psql", "mysql", "mkfs.ext4", "prisma", "rails", "rake",
];

/// Those that scripts of `npm run` and its like are named after, too: they count only where they stand in a text.
pub(crate) const ALSO_NAMES: [&str; 3] = ["shutdown", "reboot", "halt"];
