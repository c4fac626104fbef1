//! `refuse NUMBER[:ARGUMENT=VALUE…]=ERROR … -- PROGRAM WORDS…` runs the program under a seccomp
//! filter. These system calls fail with these errors, for the program and its descendants, as in a
//! container.
//!
//! Argument numbers begin with 0; `!` in place of the first `=` selects every other value.

use anyhow::{Context, Result, bail};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The rules of each error: a seccomp filter returns only one error.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn condition(text: &str) -> Result<SeccompCondition> {
    let (index, value) = text
        .split_once(['=', '!'])
        .context("an argument has a value")?;
    let operator = if text.contains('!') {
        SeccompCmpOp::Ne
    } else {
        SeccompCmpOp::Eq
    };
    let width = SeccompCmpArgLen::Dword;
    Ok(SeccompCondition::new(
        index.parse()?,
        width,
        operator,
        value.parse()?,
    )?)
}

fn main() -> Result<()> {
    let mut words = std::env::args_os().skip(1);
    let mut by_error: BTreeMap<u32, Rules> = BTreeMap::new();
    for word in words.by_ref() {
        let word = word.to_str().context("a refusal is UTF-8")?;
        if word == "--" {
            break;
        }
        let (call, error) = word.rsplit_once('=').context("a refusal names its error")?;
        let mut parts = call.split(':');
        let number = parts.next().context("a refusal has a number")?;
        let conditions: Vec<SeccompCondition> = parts.map(condition).collect::<Result<_>>()?;
        let rules = by_error.entry(error.parse()?).or_default();
        let rules = rules.entry(number.parse()?).or_default();
        if !conditions.is_empty() {
            rules.push(SeccompRule::new(conditions)?);
        }
    }
    // All filters are built before the first one is installed.
    let filters = by_error.into_iter().map(|(error, rules)| {
        let architecture = std::env::consts::ARCH.try_into()?;
        let (others, these) = (SeccompAction::Allow, SeccompAction::Errno(error));
        let filter = SeccompFilter::new(rules, others, these, architecture)?;
        Ok(filter.try_into()?)
    });
    for filter in filters.collect::<Result<Vec<BpfProgram>>>()? {
        apply_filter(&filter)?;
    }
    let program = words.next().context("a program follows `--`")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the program"
    )]
    let error = Command::new(&program).args(words).exec();
    bail!("{}: {error}", program.display())
}
