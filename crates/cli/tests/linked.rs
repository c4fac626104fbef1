//! How the program is linked (`build.rs`): each call pays twice for the dynamic loader's work before `main`.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::fs;

/// `e_type` of an ELF executable with a fixed load address.
const ET_EXEC: [u8; 2] = 2_u16.to_ne_bytes();

#[test]
fn it_is_loaded_where_it_was_linked_for_with_its_unwinder() {
    let program = fs::read(env!("CARGO_BIN_EXE_agent-bash")).expect("the binary is there");
    assert_eq!(program.get(..4), Some(&b"\x7fELF"[..]));
    assert_eq!(program.get(16..18), Some(&ET_EXEC[..]));
    // What the build script found on this machine.
    if option_env!("AGENT_BASH_UNWINDER") == Some("inside") {
        let shared = b"\0libgcc_s.so.";
        let needed = program.windows(shared.len()).any(|window| window == shared);
        assert!(!needed, "libgcc_s is loaded at each start");
    }
}
