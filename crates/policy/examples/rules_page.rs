//! Prints the documentation of the safety rules; `crates/policy/RULES.md` is its output.

#[expect(
    clippy::print_stdout,
    reason = "a program of its own, whose output is the page"
)]
fn main() {
    print!("{}", agent_bash_policy::rules_page());
}
