//! Tests of shells for a host, with real shells and a real supervisor.
//!
//! All of them are in one program. Each test next to `it/` inspects its whole process, so it is a
//! separate program.

mod background_changes;
mod bash_equality;
mod bash_suite;
mod containment;
mod definitions;
mod environment;
mod fallback;
mod faults;
mod host_proxy;
mod jobs;
mod ladder;
mod other_shells;
mod replaced;
mod sandboxed;
mod session_cwd;
mod session_faults;
mod session_reports;
mod session_survivors;
mod sessions;
mod shared_network;
mod snapshot;
mod stages;
mod start_noise;
mod stopped_host;
mod stuck;
mod support;
mod survivors;
mod test_workspace;
mod traced;
mod traced_held;
mod traced_others;
mod traced_random;
mod traced_ways;
mod trial;
mod warm;
