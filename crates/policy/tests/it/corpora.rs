//! The corpora: cases measured in real bash and git, and invented variants of them.
//!
//! The suite takes a random sample of the variants; `cargo xtask fuzz policy-variants` takes all.
//! `POLICY_VARIANTS` sets their number (1500), `POLICY_SEED` the seed.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Returns the lines of the measured cases and of a sample of the variants, whose seed is printed.
/// A line has five fields, separated by tabs: check, group, verdict, the script as a JSON string,
/// and a reason.
pub(crate) fn lines() -> Vec<&'static str> {
    let measured = include_str!("../data/policy_cases.tsv").lines().skip(1);
    let variants = include_str!("../data/variants.tsv").lines().skip(1);
    let all = variants.clone().count() as u64;
    let wanted = setting("POLICY_VARIANTS").unwrap_or(1500);
    let seed = setting("POLICY_SEED").unwrap_or_else(|| RandomState::new().build_hasher().finish());
    if wanted < all {
        say(seed);
    }
    let mut state = seed | 1;
    let sample = variants.filter(|_| {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16) % all < wanted
    });
    measured.chain(sample).collect()
}

/// Returns the script of a line.
pub(crate) fn script(line: &str) -> Option<String> {
    serde_json::from_str(line.split('\t').nth(3)?).ok()
}

#[expect(
    clippy::print_stderr,
    reason = "a failure is only reproducible with the seed"
)]
fn say(seed: u64) {
    eprintln!("a sample of the variants: POLICY_SEED={seed}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "a switch of the test, not of the product"
)]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
