//! The combined result of the runs of one attempt.

use crate::kit::Kit;
use crate::row::{Row, User};
use crate::run::{Observations, Outcome, Run, Tier};
use anyhow::{Result, bail, ensure};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::process::ExitCode;
use std::sync::Arc;

/// Minimum percentage of trials that must be made if all are selected. The others need facilities
/// that a machine may lack.
const AT_LEAST: u64 = 85;

pub(crate) fn all(kit: &Arc<Kit>, rows: Vec<Row>) -> Vec<Trial> {
    let mut trials = Vec::new();
    let users = if rustix::process::geteuid().is_root() {
        &[User::Root, User::Unprivileged][..]
    } else {
        eprintln!("not tried as an unprivileged user: it takes root to be both");
        &[User::Root]
    };
    for row in rows {
        for &user in users {
            if row.users.is_some_and(|only| only != user) {
                continue;
            }
            let (row, kit) = (row.clone(), kit.clone());
            let name = match user {
                User::Root => format!("{} (root)", row.title()),
                User::Unprivileged => row.title(),
            };
            trials.push(Trial::ignorable_test(name, move || {
                one(&row, user, &kit).map_err(|error| Failed::from(format!("{error:#}")))
            }));
        }
    }
    trials
}

/// Runs the trials. Also fails if too few could be made.
pub(crate) fn conclude(arguments: &Arguments, trials: Vec<Trial>) -> ExitCode {
    let conclusion = libtest_mimic::run(arguments, trials);
    let tried = conclusion.num_passed + conclusion.num_failed;
    let possible = tried + conclusion.num_ignored;
    if conclusion.num_filtered_out == 0 && !arguments.list && tried * 100 < possible * AT_LEAST {
        eprintln!("only {tried} of {possible} could be tried here; the reasons are above");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

fn one(row: &Row, user: User, kit: &Kit) -> Result<Completion> {
    let control = Run::new(row, user, Tier::None, kit).on_stage()?;
    match &control.outcome {
        Outcome::NotTried(why) => return Ok(Completion::ignored_with(why.clone())),
        Outcome::Through => {}
        other => bail!(
            "without a sandbox the attempt must succeed: {other:?}\n{}\n{}",
            row.tried,
            start(&control.printed)
        ),
    }
    let mut faults = Vec::new();
    for tier in [Tier::Base, Tier::Full] {
        let run = Run::new(row, user, tier, kit);
        let seen = run.on_stage()?;
        if let Err(fault) = judge(&run, &seen) {
            faults.push(format!(
                "{fault:#}\n{}\n{}",
                row.tried,
                start(&seen.printed)
            ));
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(Completion::Completed)
}

/// The part of the output that is shown with a failure.
fn start(printed: &str) -> String {
    printed.chars().take(2000).collect()
}

/// Checks that the observations in a sandbox are those that the row promises.
fn judge(run: &Run, seen: &Observations) -> Result<()> {
    let Run { row, tier, .. } = run;
    let through = run.goes_through(&seen.missing);
    if row.refused && matches!(seen.outcome, Outcome::NotBegun(_)) {
        return Ok(());
    }
    if matches!(row.network.as_str(), "loopback" | "hosts") && *tier == Tier::Base {
        // Without a network namespace there is no loopback that is the call's own.
        ensure!(
            matches!(seen.outcome, Outcome::NotBegun(_)),
            "base: there is a sandbox with a loopback"
        );
        return Ok(());
    }
    match (&seen.outcome, through) {
        (Outcome::Held, false) | (Outcome::Through, true) => Ok(()),
        (Outcome::Through, false) => bail!("{}: the attempt succeeded", tier.name()),
        (Outcome::Held, true) if row.works => bail!("{}: it does not work", tier.name()),
        (Outcome::Held, true) => bail!(
            "{}: it was held, against what its row says: {}",
            tier.name(),
            row.hole.as_deref().or(row.part.as_deref()).unwrap_or("")
        ),
        (other, _) => bail!("{}: {other:?}", tier.name()),
    }
}
