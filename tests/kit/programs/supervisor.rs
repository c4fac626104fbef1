//! The supervisor of a crate's own tests: they run under libtest's `main`, which does not call `init`.

fn main() {
    let _ = agent_bash_process::supervisor::init();
}
