//! What a box costs, compared with the same without one: closing it, what runs in it, a system call.
//!
//! The sides alternate in one run, as the machine's own speed changes by the minute; the ratio of the medians is what
//! counts. Of what runs for long there is the ratio of CPU times too, for machines that do something else as well.
//!
//! A plain program without criterion, because it is also the launcher, and what runs in the box.

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

/// The median.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    agent_bash_sandbox::init();
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let only = words.next();
    if only.as_deref() == Some(calls::INSIDE) {
        return calls::inside();
    }
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wanted("closing") {
        closing::rows();
    }
    if wanted("calls") {
        calls::rows();
    }
    if wanted("work") {
        work::rows();
    }
}
