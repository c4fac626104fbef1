//! Tracing of unusual programs: static programs, and programs that call the kernel by another
//! convention. Also, a supervisor that is killed while it traces.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{run, spec};
use crate::test_workspace::{TestWorkspace, names};
use agent_bash_core::ScriptEnding;
use agent_bash_core::changes::Change;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The address of a static program in memory, and the offset of its code, which follows the headers
/// of a file with one segment.
const BASE: u32 = 0x40_0000;
const CODE: u32 = BASE + 64 + 56;

/// How a program calls the kernel: the instruction, the registers of a number and three arguments
/// (as `mov` writes them), and the numbers of `open`, `write` and `exit`.
struct Convention {
    call: [u8; 2],
    arguments: [u8; 3],
    numbers: [u32; 3],
}

const USUAL: Convention = Convention {
    call: [0x0f, 0x05],
    arguments: [0xbf, 0xbe, 0xba],
    numbers: [2, 1, 60],
};

/// The convention of 32-bit programs; a 64-bit program may use it as well.
const I386: Convention = Convention {
    call: [0xcd, 0x80],
    arguments: [0xbb, 0xb9, 0xba],
    numbers: [5, 4, 1],
};

const X32_BIT: u32 = 0x4000_0000;

const X32: Convention = Convention {
    numbers: [X32_BIT + 2, X32_BIT + 1, X32_BIT + 60],
    ..USUAL
};

impl Convention {
    /// `call(number, arguments)`.
    fn call(&self, number: u32, arguments: &[Option<u32>]) -> Vec<u8> {
        let mut code = Vec::new();
        for (register, value) in self.arguments.iter().zip(arguments) {
            if let Some(value) = value {
                code.push(*register);
                code.extend(value.to_le_bytes());
            }
        }
        code.push(0xb8);
        code.extend(number.to_le_bytes());
        code.extend(self.call);
        code
    }

    /// A static program that writes its own name, `made`, to a file of that name, and exits with 0.
    fn program(&self) -> Vec<u8> {
        // O_WRONLY, O_CREAT, O_TRUNC
        const FLAGS: u32 = 0o1 | 0o100 | 0o1000;
        let [open, write, exit] = self.numbers;
        // The first argument of `write` is what `open` has returned: `mov edi, eax` or `mov ebx,
        // eax`.
        let take: [u8; 2] = if self.arguments[0] == 0xbf {
            [0x89, 0xc7]
        } else {
            [0x89, 0xc3]
        };
        let code = |name: u32| {
            [
                self.call(open, &[Some(name), Some(FLAGS), Some(0o644)]),
                take.to_vec(),
                self.call(write, &[None, Some(name), Some(4)]),
                self.call(exit, &[Some(0)]),
            ]
            .concat()
        };
        let length = u32::try_from(code(0).len()).unwrap();
        let mut body = code(CODE + length);
        body.extend(b"made\0");
        let size = u64::from(CODE - BASE) + body.len() as u64;
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        // An executable for x86-64, version 1.
        file.extend([2, 0, 62, 0, 1, 0, 0, 0]);
        for word in [u64::from(CODE), 64, 0] {
            file.extend(word.to_le_bytes());
        }
        // No flags; the sizes of the headers, and one segment header.
        file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0]);
        // To be loaded, readable and executable.
        file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
        for word in [0, u64::from(BASE), u64::from(BASE), size, size, 0x1000] {
            file.extend(word.to_le_bytes());
        }
        file.extend(body);
        file
    }
}

const FILES: &[(&str, &str)] = &[("one", "before\n")];

impl TestWorkspace {
    /// Creates a program of this convention outside of the workspace. `None` if this kernel cannot
    /// run such programs.
    async fn program(&self, convention: &Convention) -> Option<String> {
        let path = self.temp.path().join("program");
        fs::write(&path, convention.program()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let path = path.display().to_string();
        let untraced = run(&spec(&path).cwd(self.root.clone())).await;
        let made = fs::read_to_string(self.root.join("made")).is_ok_and(|text| text == "made");
        let _ = fs::remove_file(self.root.join("made"));
        (made && untraced.outcome.ending == ScriptEnding::Exited { code: 0 }).then_some(path)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn static_program_is_traced() {
    let workspace = TestWorkspace::with(FILES);
    let program = workspace.program(&USUAL).await.unwrap();
    let (ran, changes) = workspace.changed_by(&program).await;
    assert!(ran.outcome.traced.unwrap().incomplete_reason.is_none());
    let files: Vec<_> = changes
        .files
        .iter()
        .map(|file| (&*file.name.path, file.change))
        .collect();
    assert_eq!(files, [("made", Change::Created)]);
    workspace.store().undo("s", changes.id, &[], false).unwrap();
    assert!(!workspace.root.join("made").exists());
}

/// The arguments of a 32-bit program are not read, so the record reports that such a program ran
/// and that its changes are unknown.
#[tokio::test(flavor = "multi_thread")]
async fn call_of_another_architecture_is_unknown() {
    for convention in [I386, X32] {
        let workspace = TestWorkspace::with(FILES);
        let Some(program) = workspace.program(&convention).await else {
            // This kernel does not support the convention.
            continue;
        };
        let (ran, changes) = workspace
            .changed_by(&format!("echo more >>one; {program}"))
            .await;
        assert_eq!(ran.exit_code(), 0, "{ran:?}");
        let later = workspace.store().show("s", changes.id).unwrap();
        assert!(!changes.exact && !later.exact, "it stays inexact");
        assert!(
            workspace.root.join("made").exists(),
            "it runs as it does elsewhere"
        );
        assert!(ran.incomplete_reason().is_some(), "{ran:?}");
    }
    // The control: with the usual convention, the changes of the same program are known.
    let workspace = TestWorkspace::with(FILES);
    let program = workspace.program(&USUAL).await.unwrap();
    let (ran, changes) = workspace
        .changed_by(&format!("echo more >>one; {program}"))
        .await;
    assert_eq!(ran.outcome.traced.unwrap().incomplete_reason, None);
    assert!(changes.exact);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_recorded_before_the_supervisor_was_killed_can_be_undone() {
    let workspace = TestWorkspace::with(FILES);
    let script = "echo more >>one; echo new >two; read -r _ _ _ up _ </proc/$$/stat; kill -9 $up; sleep 9; echo late >late";
    let (ran, changes) = workspace.changed_by(script).await;
    assert!(
        matches!(ran.outcome.ending, ScriptEnding::Lost { .. }),
        "{ran:?}"
    );
    let complete = ran
        .outcome
        .traced
        .is_some_and(|traced| traced.incomplete_reason.is_none());
    assert!(!complete, "the tracer is dead");
    assert_eq!(names(&changes), ["one", "two"]);
    workspace.store().undo("s", changes.id, &[], false).unwrap();
    assert_eq!(
        fs::read_to_string(workspace.root.join("one")).unwrap(),
        "before\n"
    );
    assert!(!workspace.root.join("two").exists() && !workspace.root.join("late").exists());
}
