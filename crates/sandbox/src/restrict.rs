//! Restricting this process, in the order that it takes, and trying whether that holds.

use crate::base::{capabilities, landlock, seccomp};
use crate::error::SandboxError;
use crate::full;
use crate::networks::Entrance;
use crate::plan::Order;
use agent_bash_core::sandbox::{Lack, Report, Tier};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType};

/// What the base tier cannot do.
const LACKS_OF_BASE: [Lack; 5] = [
    Lack::Protected,
    Lack::Metadata,
    Lack::Stat,
    Lack::Ipc,
    Lack::Terminals,
];

/// Restricts this process. It must have a single thread. `None` if it is in a trial, but in no box.
pub(crate) fn restrict(
    order: &Order,
    entrance: Option<&Entrance>,
) -> Result<Option<Report>, SandboxError> {
    let Some(plan) = &order.plan else {
        full::enter(order, entrance)?;
        return Ok(None);
    };
    let own = &order.writable;
    rustix::thread::set_no_new_privs(true)
        .map_err(SandboxError::step("giving up new privileges"))?;
    let mut missing = full::enter(order, entrance)?;
    if plan.tier == Tier::Base {
        missing.extend(LACKS_OF_BASE);
    }
    capabilities::drop_capabilities()?;
    let gaps = landlock::restrict(plan, own)?;
    seccomp::restrict(plan, gaps.truncate)?;
    try_it()?;
    missing.extend(gaps.missing);
    missing.sort_unstable();
    missing.dedup();
    Ok(Some(Report {
        tier: plan.tier,
        missing,
    }))
}

/// Tries what every box forbids, and what this process could do a moment ago.
fn try_it() -> Result<(), SandboxError> {
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
