//! Measures the cost of a sandbox compared with the same work without one: the start, the work in
//! it, a system call.
//!
//! The sides alternate in one run, because the speed of the machine varies by the minute; the ratio
//! of the medians counts. Long work also has the ratio of CPU times, for busy machines.
//!
//! A plain program without criterion, because it is also the launcher and the measured program.
//! `--launcher PATH` measures another one: `agent-bash` itself, which is linked to start faster.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts both sides and measures"
)]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

mod calls;
mod closing;
mod started;
mod work;

use started::Launcher;

/// The median.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    agent_bash_sandbox::init();
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut only, mut launcher) = (None, Launcher("/proc/self/exe".into()));
    while let Some(word) = words.next() {
        match word.as_str() {
            calls::INSIDE => return calls::inside(),
            "--launcher" => launcher = Launcher(words.next().unwrap().into()),
            _ => only = Some(word),
        }
    }
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wanted("closing") {
        closing::rows(&launcher);
    }
    if wanted("calls") {
        calls::rows(&launcher);
    }
    if wanted("work") {
        work::rows(&launcher);
    }
}
