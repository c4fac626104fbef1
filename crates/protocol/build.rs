//! Sets `AGENT_BASH_BUILT_AS`, which describes the build: the commit, the target platform and the
//! cargo profile.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The commit, set by the packager.
    println!("cargo::rerun-if-env-changed=AGENT_BASH_BUILD");
    let commit = variable("AGENT_BASH_BUILD").unwrap_or_else(|| "development".to_owned());
    let [target, profile] = ["TARGET", "PROFILE"].map(|name| variable(name).unwrap_or_default());
    println!("cargo::rustc-env=AGENT_BASH_BUILT_AS={commit} {target} {profile}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what to do by its environment"
)]
/// Returns an environment variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}
