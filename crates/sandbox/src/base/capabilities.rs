//! Drops capabilities: root keeps the capabilities for files and processes of other users, and none
//! that affects the machine.

use crate::error::SandboxError;
use rustix::thread::CapabilitySet;
use rustix::thread::{CapabilitySets, capabilities, set_capabilities};
use rustix::thread::{clear_ambient_capability_set, remove_capability_from_bounding_set};

/// The capabilities that root keeps.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::KILL);

/// Drops all other capabilities from this thread and its children.
pub(crate) fn drop_capabilities() -> Result<(), SandboxError> {
    let step = || SandboxError::step("dropping capabilities");
    let kept = if rustix::process::geteuid().is_root() {
        KEPT_CAPABILITIES
    } else {
        CapabilitySet::empty()
    };
    let current = capabilities(None).map_err(step())?;
    if current.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << number);
            if kept.contains(capability) {
                continue;
            }
            match remove_capability_from_bounding_set(capability) {
                Ok(()) => {}
                // The number is beyond the kernel's last capability.
                Err(rustix::io::Errno::INVAL) => break,
                Err(error) => return Err(step()(error)),
            }
        }
    }
    if current.permitted.is_empty() {
        return Ok(());
    }
    clear_ambient_capability_set().map_err(step())?;
    let sets = CapabilitySets {
        effective: current.effective & kept,
        permitted: current.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(step())
}
