//! The state that children inherit besides descriptors and environment: umask and resource limits.
//! A warm shell has the values of its start, so they are part of the key that selects it.

use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::io::Read;

/// Umask, and soft and hard limits, of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inherited {
    umask: Option<u32>,
    /// The soft and the hard limit of each of [`LIMITED_RESOURCES`]; `None` for no limit.
    limits: [(Option<u64>, Option<u64>); LIMITED_RESOURCES.len()],
}

/// The limits that exist on every Unix and affect what a command can do.
const LIMITED_RESOURCES: [Resource; 7] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Nofile,
    Resource::As,
];

impl Inherited {
    /// Returns the current state of this process. Costs a few system calls.
    pub fn now() -> Self {
        let limits = LIMITED_RESOURCES.map(|resource| {
            let limit = getrlimit(resource);
            (limit.current, limit.maximum)
        });
        Self {
            umask: umask(),
            limits,
        }
    }
}

/// Reads the umask from `/proc`: setting and restoring it would affect files that other threads
/// create meanwhile.
fn umask() -> Option<u32> {
    // The line is within the first 512 bytes. One read is enough, as this runs for each call.
    let mut buffer = [0; 512];
    let count = File::open("/proc/self/status")
        .and_then(|mut status| status.read(&mut buffer))
        .ok()?;
    let status = &buffer[..count];
    let line = status
        .split(|byte| *byte == b'\n')
        .find_map(|line| line.strip_prefix(b"Umask:"))?;
    u32::from_str_radix(std::str::from_utf8(line).ok()?.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherited_state_read_twice_is_equal() {
        assert_eq!(Inherited::now(), Inherited::now());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn umask_is_read_from_proc() {
        assert!(umask().is_some_and(|mask| mask <= 0o777));
    }
}
