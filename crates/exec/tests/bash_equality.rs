//! Real bash is the oracle: a script run here and by `bash -c` prints the same, ends the same.
mod support;
use agent_bash_core::Ending;
use std::process::{Command, Stdio};
use std::os::unix::process::CommandExt;

#[tokio::test(flavor = "multi_thread")]
async fn probe() {
    let text = std::fs::read_to_string("/work/shared/corpus/bash_scripts.jsonl").unwrap();
    let mut n = 0;
    for line in text.lines() {
        let script: String = serde_json::from_str(line).unwrap();
        let got = support::run(&support::spec(&script)).await.unwrap();
        let mut c = Command::new("/bin/bash");
        c.arg0("bash").args(["--norc", "--noprofile", "-c", &script]).env_clear().envs(support::environment()).env("OLDPWD", "").env_remove("OLDPWD").current_dir("/tmp").stdin(Stdio::null()).process_group(0);
        let want = c.output().unwrap();
        let w = (String::from_utf8_lossy(&want.stdout).into_owned(), String::from_utf8_lossy(&want.stderr).into_owned(), want.status.code());
        let code = match &got.outcome.ending { Ending::Exited { code } => Some(*code), _ => None };
        if (got.out.clone(), got.err.replace("eval:", "-c:"), code) != (w.0.clone(), w.1.clone(), w.2) {
            n += 1;
            println!("--- {script:?}\n  got {:?} {:?} {:?}\n want {:?} {:?} {:?} {:?}", got.out, got.err, got.outcome.ending, w.0, w.1, w.2, want.status);
        }
    }
    println!("{n} differ");
}
