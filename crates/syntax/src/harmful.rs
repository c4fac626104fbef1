//! Programs that can do harm. Texts and command lines that cannot be parsed are searched for their
//! names.

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
    "heroku", "gh", "glab", "gcloud", "az", "doctl", "agent-bash",
];

/// Programs for which the arguments of a launcher with unknown options are searched first.
pub(super) const SEARCHED_FIRST: [&str; 26] = [
    "rimraf", "rm", "git", "find", "xargs", "env", "sudo", "doas", "eval", "python", "python3",
    "perl", "ruby", "node", "php", "bun", "deno", "lua", "awk", "sed", "tar", "make", "timeout",
    "nice", "unlink", "cat",
];

/// True if a text names a harmful program, or a program that can start one.
pub(super) fn is_relevant(text: &str) -> bool {
    let is_name_char = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut words = text.split(|c: char| !is_name_char(c));
    words.any(|word| {
        HARMFUL_COMMANDS.contains(&word)
            || SEARCHED_FIRST.contains(&word)
            || matches!(word, "sh" | "bash" | "zsh")
    })
}

/// Harmful commands with names that are also used for scripts of `npm run` and similar runners.
/// They count only in the text of a shell script.
pub(crate) const AMBIGUOUS_COMMANDS: [&str; 3] = ["shutdown", "reboot", "halt"];
