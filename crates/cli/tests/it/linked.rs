//! Checks how the program is linked (`build.rs`): each call starts it twice, so it pays twice for
//! the dynamic loader.

#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    target_endian = "little"
))]

use std::fs;

/// `e_type` of an ELF file that is not position independent.
const ET_EXEC: [u8; 2] = 2_u16.to_ne_bytes();

/// `p_type` of the program header that names the dynamic loader.
const PT_INTERP: u32 = 3;

#[test]
fn program_is_not_position_independent_and_has_its_libraries_inside() {
    let program = fs::read(env!("CARGO_BIN_EXE_agent-bash")).expect("the binary is there");
    assert_eq!(program.get(..4), Some(&b"\x7fELF"[..]));
    assert_eq!(program.get(16..18), Some(&ET_EXEC[..]));
    // The result of the build script on this machine.
    if option_env!("AGENT_BASH_LIBRARIES") == Some("inside") {
        let headers = program_headers(&program);
        assert!(!headers.is_empty());
        let is_dynamic = headers.contains(&PT_INTERP);
        assert!(!is_dynamic, "shared libraries are loaded at each start");
    } else if option_env!("AGENT_BASH_UNWINDER") == Some("inside") {
        let shared = b"\0libgcc_s.so.";
        let needed = program.windows(shared.len()).any(|window| window == shared);
        assert!(!needed, "libgcc_s is loaded at each start");
    }
}

/// The types of the program headers of a 64-bit ELF file.
fn program_headers(program: &[u8]) -> Vec<u32> {
    let number = |at: usize, length: usize| {
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(&program[at..at + length]);
        u64::from_le_bytes(bytes) as usize
    };
    let (table, entry, count) = (number(32, 8), number(54, 2), number(56, 2));
    (0..count)
        .map(|index| number(table + index * entry, 4) as u32)
        .collect()
}
