//! Observes a shell's sandbox from outside: its report, the targets that its proxy refused, and its
//! refused network accesses, which the kernel counts per network namespace.
//!
//! The counters count packets without a route, and datagrams to a port of the loopback without a
//! server: a system may resolve names by a server of its own. A name lookup counts once for each
//! server. In a shared network, the accesses of all its sandboxes are counted.

use agent_bash_core::sandbox::{Network, ObservedSandbox, Plan, RefusedHost, Report, Tier};
use agent_bash_os::network_namespace;
use agent_bash_proxy::{RefusalCounts, Refusals};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The sandbox of a running shell.
#[derive(Debug)]
pub struct SandboxWatch {
    report: Report,
    counters: Option<DenialCounters>,
    network_namespace: Option<PathBuf>,
    /// The proxy's refusals, and their counts at the last observation.
    refusals: Option<(Arc<Refusals>, RefusalCounts)>,
}

impl SandboxWatch {
    /// Returns a watch on the sandbox of the running shell `pid`; `None` for a shell without a
    /// sandbox. `refusals` are those of the proxy of the shell's network, counted from now on.
    pub fn of(
        report: Option<Report>,
        plan: Option<&Plan>,
        pid: u32,
        refusals: Option<Arc<Refusals>>,
    ) -> Option<Self> {
        let report = report?;
        let counters = plan.filter(|_| report.tier == Tier::Full);
        let counters = counters.and_then(|plan| DenialCounters::of(pid, plan.network));
        Some(Self {
            report,
            network_namespace: counters.as_ref().and_then(|_| network_namespace(pid)),
            counters,
            refusals: refusals.map(|refusals| {
                let counts = refusals.counts();
                (refusals, counts)
            }),
        })
    }

    /// Returns the current observation, with the refused accesses since the last one.
    pub fn observe(&mut self) -> ObservedSandbox {
        let mut observed = ObservedSandbox::new(self.report.clone());
        observed.network_refused = self.counters.as_mut().and_then(DenialCounters::new_denials);
        observed
            .network_namespace
            .clone_from(&self.network_namespace);
        if let Some((refusals, last)) = &mut self.refusals {
            let counts = refusals.counts();
            let refused = counts.since(last).into_iter();
            let refused = refused.map(|(refused, count)| RefusedHost {
                host: refused.target.to_string(),
                count,
                secret: refused.secret,
            });
            observed.refused_hosts = refused.collect();
            *last = counts;
        }
        observed
    }
}

/// The kernel's counters of one network namespace. The files stay open, because `/proc/PID/net`
/// disappears with the process.
#[derive(Debug)]
struct DenialCounters {
    v4: File,
    /// `None` without IPv6.
    v6: Option<File>,
    reported: u64,
}

impl DenialCounters {
    /// Opens the counters; `None` if the network is the host's. Counts from now on: a shared
    /// namespace has earlier denials of other sandboxes.
    fn of(pid: u32, network: Network) -> Option<Self> {
        if network == Network::On {
            return None;
        }
        let open = |name| File::open(format!("/proc/{pid}/net/{name}")).ok();
        let mut counters = Self {
            v4: open("snmp")?,
            v6: open("snmp6"),
            reported: 0,
        };
        if network.is_shared() {
            counters.new_denials()?;
        }
        Some(counters)
    }

    /// Returns the number of new denials.
    fn new_denials(&mut self) -> Option<u64> {
        let v4 = ipv4_denials(&text(&self.v4)?)?;
        let v6 = self.v6.as_ref().and_then(|file| ipv6_denials(&text(file)?));
        let all = v4 + v6.unwrap_or(0);
        let new_denials = all.saturating_sub(self.reported);
        self.reported = all;
        Some(new_denials)
    }
}

/// Reads a file of `/proc/PID/net` again from its beginning.
fn text(file: &File) -> Option<String> {
    let mut text = vec![0; 16 * 1024];
    let count = file.read_at(&mut text, 0).ok()?;
    text.truncate(count);
    String::from_utf8(text).ok()
}

/// Parses `/proc/PID/net/snmp`: for each protocol a line of names, then a line of values, both
/// beginning with the protocol.
fn ipv4_denials(text: &str) -> Option<u64> {
    let counter = |protocol: &str, wanted: &str| -> Option<u64> {
        let mut lines = text.lines().filter(|line| line.starts_with(protocol));
        let names = lines.next()?.split_ascii_whitespace();
        let mut columns = names.zip(lines.next()?.split_ascii_whitespace());
        let (_, value) = columns.find(|(name, _)| *name == wanted)?;
        value.parse().ok()
    };
    Some(counter("Ip:", "OutNoRoutes")? + counter("Udp:", "NoPorts").unwrap_or(0))
}

/// Parses `/proc/PID/net/snmp6`: a name and its value in each line.
fn ipv6_denials(text: &str) -> Option<u64> {
    let counter = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line?.trim().parse().ok()
    };
    Some(counter("Ip6OutNoRoutes")? + counter("Udp6NoPorts").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denial_counters_are_found_by_name() {
        let text = "Ip: Forwarding OutNoRoutes ReasmTimeout\nIp: 2 40 7\nIcmp: InMsgs\nIcmp: 1\n";
        assert_eq!(ipv4_denials(text), Some(40));
        let text = format!("{text}Udp: InDatagrams NoPorts\nUdp: 9 2\nUdpLite: NoPorts\n");
        assert_eq!(ipv4_denials(&text), Some(42));
        assert_eq!(ipv4_denials("Ip: Forwarding\nIp: 2\n"), None);
        let text = "Ip6InNoRoutes                   \t3\nIp6OutNoRoutes                  \t5\n";
        assert_eq!(ipv6_denials(text), Some(5));
        assert_eq!(ipv6_denials(&format!("{text}Udp6NoPorts 1\n")), Some(6));
        assert_eq!(ipv6_denials(""), None);
    }
}
