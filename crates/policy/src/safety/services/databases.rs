//! `no_database_drop`: dropping databases, emptying tables and stores.

use super::super::command_line::{Deed, deed};
use super::super::rule::{Hit, Rule, Scene};
use super::sql;
use crate::Group;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_database_drop",
    group: Group::Services,
    summary: "Dropping databases, schemas and tables, emptying tables and stores: `DROP`, `TRUNCATE`, and `DELETE` without `WHERE`, handed to psql, mysql, sqlite3 and their like as an option, on standard input or in a file of the script; `dropdb`, `mysqladmin drop`, `redis-cli flushall`, `dropDatabase()` of mongosh, `rails db:drop`, `prisma migrate reset`.",
    message: "permission denied: this drops or empties a database, and nothing brings it back. Keep a dump first, and let a person do it",
    suggestion: "keep a dump (`pg_dump`, `mysqldump`), or narrow it down with WHERE",
    fires: &[
        "psql -c 'DROP DATABASE prod'",
        "psql -h db -U me -d x --command='drop schema public cascade'",
        "mysql -u root -e 'DROP DATABASE prod'",
        "mysql -e'truncate table users' x",
        "echo 'TRUNCATE users;' | psql x",
        "mysql x <<< 'DROP TABLE users'",
        "psql <<E\nBEGIN;\nDELETE FROM users;\nCOMMIT;\nE",
        "sqlite3 app.db 'DELETE FROM users'",
        "sqlite3 app.db 'drop table users'",
        "docker exec db psql -c 'drop database x'",
        "psql -c \"DROP DATABASE $DB\"",
        "echo 'drop database x' > x.sql; psql -f x.sql",
        "dropdb prod",
        "mysqladmin -f drop prod",
        "redis-cli flushall",
        "redis-cli -h cache FLUSHDB",
        "mongosh x --eval 'db.dropDatabase()'",
        "rails db:drop",
        "bundle exec rake db:reset",
        "npx prisma migrate reset --force",
        "php artisan migrate:fresh",
        "python manage.py flush --noinput",
    ],
    spares: &[
        "psql -c 'SELECT 1'",
        "psql -c \"SELECT 'drop database x'\"",
        "psql -c \"COMMENT ON TABLE t IS 'TRUNCATE; DROP'\"",
        "psql -c 'DELETE FROM users WHERE id = 1'",
        "psql -c 'ALTER TABLE x DROP COLUMN y'",
        "psql -c 'DROP INDEX x'",
        "mysql -e 'show databases'",
        "sqlite3 app.db .schema",
        "redis-cli get x",
        "mongosh --eval 'db.users.find()'",
        "createdb x",
        "echo 'DROP DATABASE prod'",
        "grep -r 'DROP DATABASE' migrations",
        "rails db:migrate",
        "npx prisma migrate dev",
    ],
    check,
};

/// Programs that execute SQL.
const SQL_CLIENTS: [&str; 17] = [
    "psql", "pgcli", "mysql", "mycli", "mariadb", "sqlite3", "sqlite", "litecli", "duckdb",
    "sqlcmd", "sqlplus", "clickhouse-client", "clickhouse", "cockroach", "cqlsh", "usql", "turso",
];

/// Stores with commands of their own.
const STORE_CLIENTS: [&str; 5] = ["redis-cli", "valkey-cli", "keydb-cli", "mongo", "mongosh"];

/// Options whose value is executed, as a whole or at the beginning.
const CARRIED_OUT: [&str; 8] = [
    "-c", "-e", "-q", "-Q", "--command", "--execute", "--query", "-cmd",
];

const FRAMEWORKS: &[&str] = &[
    "rails", "rake", "artisan", "sequelize", "sequelize-cli", "typeorm",
];

static DEEDS: [Deed; 9] = [
    Deed::of(&["dropdb"], &[]).without(&["-i", "--interactive"]),
    Deed::of(&["mysqladmin", "mariadb-admin"], &["drop"]),
    Deed::of(
        FRAMEWORKS,
        &[
            "db:drop|db:drop:all|db:reset|db:migrate:reset|db:purge|migrate:fresh|migrate:reset|db:wipe|schema:drop",
        ],
    ),
    Deed::of(
        &["php"],
        &["artisan", "migrate:fresh|migrate:reset|db:wipe"],
    ),
    Deed::of(&["prisma"], &["migrate", "reset"]),
    Deed::of(&["prisma"], &["db", "push"]).with(&["--force-reset", "--accept-data-loss"]),
    Deed::of(
        &["python", "python3"],
        &["manage.py|./manage.py", "flush|reset_db|sqlflush"],
    ),
    Deed::of(&["rabbitmqctl"], &["reset|force_reset|delete_vhost"]),
    Deed::of(&["supabase"], &["db", "reset"]),
];

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    let name = ran.name().filter(|_| !ran.is_function)?;
    match in_container(name, ran) {
        Some(inner) => drops(inner.name()?, &inner),
        None => drops(name, ran),
    }
}

fn drops(name: &str, ran: &ResolvedCommand) -> Option<Hit> {
    let arguments = ran.arguments();
    let found = match name {
        _ if SQL_CLIENTS.contains(&name) => texts(name, ran).iter().any(|text| sql::destroys(text)),
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            let flushes = |text: &str| {
                let word = text.trim().to_ascii_lowercase();
                matches!(word.split_whitespace().next(), Some("flushall" | "flushdb"))
            };
            arguments.iter().any(|field| flushes(field.value.prefix()))
                || ran
                    .stdin
                    .as_deref()
                    .is_some_and(|text| text.script().lines().any(flushes))
        }
        "mongo" | "mongosh" => {
            let drops = |text: &str| {
                let known = sql::without_literals(text);
                ["dropDatabase(", ".drop(", "deleteMany({})", "remove({})"]
                    .iter()
                    .any(|call| known.contains(call))
            };
            arguments.iter().any(|field| drops(&field.value.script()))
                || ran
                    .stdin
                    .as_deref()
                    .is_some_and(|text| drops(&text.script()))
        }
        _ => deed(&DEEDS, ran).is_some(),
    };
    found.then(|| Hit::on(ran, arguments))
}

/// Programs that run another one in a container, after the word `exec`.
const CONTAINER_PROGRAMS: [&str; 7] = [
    "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc",
];

/// The client that runs in a container, whose data is just as valuable.
fn in_container(name: &str, ran: &ResolvedCommand) -> Option<ResolvedCommand> {
    if !CONTAINER_PROGRAMS.contains(&name) {
        return None;
    }
    let is = |field: &Field, names: &[&str]| {
        let word = field.value.literal().unwrap_or("");
        names.contains(&word.rsplit('/').next().unwrap_or(word))
    };
    let exec = ran.words.iter().position(|field| is(field, &["exec"]))?;
    let at = ran.words.iter().skip(exec).position(|field| {
        is(field, &SQL_CLIENTS)
            || is(field, &STORE_CLIENTS)
            || DEEDS.iter().any(|deed| is(field, deed.programs))
    })?;
    let mut inner = ran.clone();
    inner.words = ran.words.get(exec + at..)?.into();
    Some(inner)
}

/// Returns the statements that a client executes, as far as they are known.
fn texts(name: &str, ran: &ResolvedCommand) -> Vec<String> {
    let arguments = ran.arguments();
    let mut out: Vec<String> = ran
        .stdin
        .as_deref()
        .map(Value::script)
        .into_iter()
        .collect();
    for (at, field) in arguments.iter().enumerate() {
        let text = field.value.prefix();
        let before = at
            .checked_sub(1)
            .and_then(|at| arguments.get(at))
            .map(|field| field.value.prefix());
        if before.is_some_and(|before| CARRIED_OUT.contains(&before)) {
            out.push(field.value.script());
        } else if matches!(before, Some("-f" | "-i" | "--file" | "-init")) {
            out.extend(ran.file(&field.value).map(Value::script));
        } else if let Some(option) = CARRIED_OUT.iter().find(|option| is_attached(text, option)) {
            let skip = option.len() + usize::from(option.starts_with("--"));
            out.push(field.value.without_prefix(skip).script());
        } else if let Some(file) = text.strip_prefix("--file=") {
            out.extend(ran.file(&Value::text(file)).map(Value::script));
        } else if name.contains("lite") || name == "duckdb" {
            out.extend(operand(field));
        }
    }
    out
}

/// `-e'…'`, `--execute=…`
fn is_attached(text: &str, option: &str) -> bool {
    text.strip_prefix(option).is_some_and(|rest| {
        if option.starts_with("--") {
            rest.starts_with('=')
        } else {
            option.len() == 2 && !rest.is_empty()
        }
    })
}

fn operand(field: &Field) -> Option<String> {
    (!field.value.prefix().starts_with('-')).then(|| field.value.script())
}
