//! The supervisor for this crate's tests, which run under libtest's `main` and hence cannot call `init`.

fn main() {
    let _ = agent_bash_process::supervisor::init();
}
