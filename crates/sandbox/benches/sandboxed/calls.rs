//! Measures the cost of a sandbox for a system call: one that passes by its number, and one with
//! arguments that the filter tests.

use crate::median;
use crate::started::{In, Launcher, SIDES, plan};
use std::io::Read;
use std::process::Stdio;
use std::time::Instant;

/// The argument that makes this program the measured one.
pub(crate) const INSIDE: &str = "--calls";

const ROUNDS: usize = 40;
const CALLS: u32 = 100_000;

pub(crate) fn rows(launcher: &Launcher) {
    let directory = tempfile::tempdir().unwrap();
    let own = std::env::current_exe().unwrap();
    let own = own.to_str().unwrap();
    let plans = SIDES.map(|(_, tier)| tier.map(|tier| plan(tier, directory.path())));
    let mut times = [const { [const { Vec::new() }; 2] }; 3];
    for _ in 0..ROUNDS {
        for (plan, times) in plans.iter().zip(&mut times) {
            let how = plan
                .as_ref()
                .map_or(In::Nothing, |plan| In::Box(Some(plan), &[]));
            let (mut child, _) = launcher.start(how, &[own, INSIDE], |program| {
                program.stdout(Stdio::piped());
            });
            let mut text = String::new();
            let printed = child.stdout.as_mut().unwrap();
            printed.read_to_string(&mut text).unwrap();
            child.wait().unwrap();
            for (word, times) in text.split_whitespace().zip(times) {
                times.push(word.parse().unwrap());
            }
        }
    }
    let [none, base, full] = times.map(|kinds| kinds.map(|mut times| median(&mut times)));
    let goals = [("plain", 30), ("inspected", 80)];
    for (kind, (name, goal)) in goals.into_iter().enumerate() {
        println!(
            "a system call, {name}: {:.0} ns; base + {:.0} ns, full + {:.0} ns (goal {goal})",
            none[kind],
            base[kind] - none[kind],
            full[kind] - none[kind]
        );
    }
}

/// Prints the nanoseconds of a call of either kind.
pub(crate) fn inside() {
    let (pipe, _write) = std::io::pipe().unwrap();
    let plain = each(rustix::process::getppid);
    let inspected = each(|| rustix::io::ioctl_fionread(&pipe));
    println!("{plain} {inspected}");
}

fn each<T>(call: impl Fn() -> T) -> f64 {
    let begun = Instant::now();
    for _ in 0..CALLS {
        std::hint::black_box(call());
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
}
