//! `no_database_drop`: dropping databases, emptying tables and stores.

use super::rule::{RuleFinding, RuleInput};
use super::sql;
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

/// Programs that execute SQL.
const SQL_CLIENTS: [&str; 25] = [
    "psql", "pgcli", "mysql", "mycli", "mariadb", "sqlite3", "sqlite", "litecli", "duckdb",
    "sqlcmd", "sqlplus", "clickhouse-client", "clickhouse", "cockroach", "cqlsh", "usql", "turso",
    "hive", "beeline", "impala-shell", "spark-sql", "trino", "presto", "snow", "snowsql",
];

/// Options with statements as their value, which may be attached to the option.
const STATEMENT_OPTIONS: [&str; 8] = [
    "-c", "-e", "-q", "-Q", "--command", "--execute", "--query", "-cmd",
];

pub(super) fn check(command: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    let name = command.name().filter(|_| !command.is_function)?;
    let input = command
        .stdin
        .as_deref()
        .map(Value::script)
        .unwrap_or_default();
    let found = match name {
        _ if SQL_CLIENTS.contains(&name) => {
            let texts = statements(name, command);
            let is_persistent = !command.arguments().iter().any(is_memory)
                || texts.iter().any(|text| opens_file(text));
            is_persistent && texts.iter().any(|text| sql::destroys(text))
        }
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            let flushes = |text: &str| {
                let word = text.trim().to_ascii_lowercase();
                matches!(word.split_whitespace().next(), Some("flushall" | "flushdb"))
            };
            input.lines().any(flushes)
        }
        "mongo" | "mongosh" => {
            let drops = |text: &str| {
                let code = sql::without_literals(text);
                ["dropDatabase(", ".drop(", "deleteMany({})", "remove({})"]
                    .iter()
                    .any(|call| code.contains(call))
            };
            let mut arguments = command.arguments().iter();
            drops(&input) || arguments.any(|field| drops(&field.value.script()))
        }
        _ => false,
    };
    found.then(|| RuleFinding::on(command, command.arguments()))
}

/// True if the database ends with its client: `sqlite3 :memory: …`.
fn is_memory(field: &Field) -> bool {
    field.value.literal() == Some(":memory:")
}

/// True if statements open another database: `ATTACH 'app.db' AS app`, `.open app.db`.
fn opens_file(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [".open", "attach"].iter().any(|word| text.contains(word))
}

/// Returns the known statements that a client executes.
fn statements(name: &str, command: &ResolvedCommand) -> Vec<String> {
    let arguments = command.arguments();
    let mut out: Vec<String> = command
        .stdin
        .as_deref()
        .map(Value::script)
        .into_iter()
        .collect();
    let attached_option = |text: &str| {
        let mut options = STATEMENT_OPTIONS.iter();
        options.find(|option| has_attached_value(text, option))
    };
    for (index, field) in arguments.iter().enumerate() {
        let text = field.value.prefix();
        let before = index
            .checked_sub(1)
            .and_then(|index| arguments.get(index))
            .map(|field| field.value.prefix());
        if before.is_some_and(takes_statement) {
            out.push(field.value.script());
        } else if matches!(before, Some("-f" | "-i" | "--file" | "-init")) {
            out.extend(command.file(&field.value).map(Value::script));
        } else if let Some(option) = attached_option(text) {
            let skip = option.len() + usize::from(option.starts_with("--"));
            out.push(field.value.without_prefix(skip).script());
        } else if let Some(file) = text.strip_prefix("--file=") {
            out.extend(command.file(&Value::text(file)).map(Value::script));
        } else if (name.contains("lite") || name == "duckdb") && !text.starts_with('-') {
            out.push(field.value.script());
        }
    }
    out
}

/// True if the next word is a statement, also after a cluster of letters: `psql -qc`, `mysql -Ne`.
fn takes_statement(option: &str) -> bool {
    let is_cluster = |letters: &str| letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    STATEMENT_OPTIONS.contains(&option)
        || option.len() < 6
            && option.ends_with(['c', 'e'])
            && option.strip_prefix('-').is_some_and(is_cluster)
}

/// True if a word is an option with its value attached: `-e'…'`, `--execute=…`.
fn has_attached_value(text: &str, option: &str) -> bool {
    text.strip_prefix(option).is_some_and(|rest| {
        if option.starts_with("--") {
            rest.starts_with('=')
        } else {
            option.len() == 2 && !rest.is_empty()
        }
    })
}
