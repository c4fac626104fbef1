//! The programs that do harm: what is looked for where a text or a command line cannot be read.

/// The names of harmful programs.
pub(super) const HARMFUL_COMMANDS: &[&str] = &[
    "rm", "git", "find", "dd", "mkfs", "mke2fs", "wipefs", "blkdiscard", "sgdisk", "parted",
    "shred", "chmod", "chown", "chgrp", "mv", "cp", "tee", "truncate", "kill", "pkill", "killall",
    "poweroff", "systemctl", "rsync", "crontab", "docker", "podman", "kubectl", "helm",
    "terraform", "tofu", "aws", "dropdb", "psql", "mysql", "mkfs.ext4", "prisma", "rails", "rake",
    "trash", "trash-put", "drizzle-kit", "sequelize", "sequelize-cli", "typeorm", "knex",
    "supabase", "wrangler", "vercel", "netlify", "firebase", "serverless", "sls", "cdk", "pulumi",
    "alembic", "flask", "manage.py", "redis-cli", "mongosh", "mongo", "userdel", "tsx", "ts-node",
    "julia", "Rscript", "pwsh", "railway", "medusa", "wp", "drush", "artisan", "mix", "dbmate",
    "goose", "flyway", "liquibase", "atlas", "hasura", "convex", "nx", "lerna", "fly", "flyctl",
    "heroku", "gh", "glab", "gcloud", "az", "doctl",
];

/// Programs to look for first in the arguments of a launcher with unknown options.
pub(super) const SOUGHT_PROGRAMS: [&str; 26] = [
    "rimraf", "rm", "git", "find", "xargs", "env", "sudo", "doas", "eval", "python", "python3",
    "perl", "ruby", "node", "php", "bun", "deno", "lua", "awk", "sed", "tar", "make", "timeout",
    "nice", "unlink", "cat",
];

/// Whether a text names a program that can do harm, or one that can start it.
pub(super) fn is_relevant(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut words = text.split(|c: char| !is_part(c));
    words.any(|word| {
        HARMFUL_COMMANDS.contains(&word)
            || SOUGHT_PROGRAMS.contains(&word)
            || matches!(word, "sh" | "bash" | "zsh")
    })
}

/// Commands whose names scripts of `npm run` and similar also use. They count only in the text of a
/// shell script.
pub(crate) const ALSO_NAMES: [&str; 3] = ["shutdown", "reboot", "halt"];
