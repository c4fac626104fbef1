//! Restricts this process in the required order, and verifies the restrictions.

use crate::base::{capabilities, landlock, seccomp};
use crate::error::SandboxError;
use crate::full;
use crate::networks::NetworkEntrance;
use crate::path_lookup::PathLookup;
use crate::plan::Order;
use crate::restricted::Restricted;
use crate::sockets;
use agent_bash_core::sandbox::{MissingPromise, Report, Tier};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType};

/// The promises that the base tier cannot enforce.
const MISSING_IN_BASE_TIER: [MissingPromise; 5] = [
    MissingPromise::Protected,
    MissingPromise::Metadata,
    MissingPromise::Stat,
    MissingPromise::Ipc,
    MissingPromise::Terminals,
];

/// Restricts this single-threaded process.
pub(crate) fn restrict(
    order: &Order,
    entrance: Option<&NetworkEntrance>,
) -> Result<Restricted, SandboxError> {
    let lookup = PathLookup::default();
    let Some(plan) = &order.plan else {
        full::enter(order, entrance, &lookup)?;
        return Ok(Restricted::default());
    };
    let private_directories = &order.writable;
    rustix::thread::set_no_new_privs(true)
        .map_err(SandboxError::step("giving up new privileges"))?;
    let entered = full::enter(order, entrance, &lookup)?;
    let mut missing = entered.missing;
    let look = || lookup.existing(&plan.hidden);
    let existing = entered.covered.unwrap_or_else(look);
    if plan.tier == Tier::Base {
        missing.extend(MISSING_IN_BASE_TIER);
    }
    capabilities::drop_capabilities()?;
    let gaps = landlock::restrict(plan, private_directories, &existing, &lookup)?;
    let is_guarded = order.guards_sockets() && sockets::can_be_guarded();
    // Without a table, a sandbox has no Unix sockets.
    let socket_table = is_guarded.then(sockets::open_table).and_then(Result::ok);
    seccomp::restrict(plan, gaps.ignores_truncation, socket_table.is_some())?;
    verify_restrictions()?;
    missing.extend(gaps.missing);
    missing.sort_unstable();
    missing.dedup();
    let tier = plan.tier;
    Ok(Restricted {
        report: Some(Report { tier, missing }),
        socket_table,
    })
}

/// Tries operations that every sandbox forbids, and that this process could do before. Fails if one
/// succeeds.
fn verify_restrictions() -> Result<(), SandboxError> {
    let own_name = rustix::fs::open(
        "/proc/self/comm",
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    if own_name.is_ok() {
        return Err(SandboxError::Untight {
            what: "writing a file",
        });
    }
    if rustix::net::socket(AddressFamily::UNIX, SocketType::DGRAM, None).is_ok() {
        return Err(SandboxError::Untight {
            what: "opening a socket",
        });
    }
    Ok(())
}
