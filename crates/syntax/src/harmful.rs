//! The programs that do harm: what is looked for where a text or a command line cannot be read.

/// Their names.
pub(super) const HARMFUL: [&str; 42] = [
    "rm", "git", "find", "dd", "mkfs", "mke2fs", "wipefs", "blkdiscard", "sgdisk", "parted",
    "shred", "chmod", "chown", "chgrp", "mv", "cp", "tee", "truncate", "kill", "pkill", "killall",
    "shutdown", "reboot", "halt", "poweroff", "systemctl", "rsync", "crontab", "docker", "podman",
    "kubectl", "helm", "terraform", "tofu", "aws", "dropdb", "psql", "mysql", "mkfs.ext4",
    "prisma", "rails", "rake",
];
