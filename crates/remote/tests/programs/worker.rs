//! Plays our program at a target. `PLAY` says which part; without it, it answers what a good one
//! would.

#![expect(clippy::print_stdout, reason = "it is what the host reads")]

use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::process::exit;

fn main() {
    let part = std::env::args_os().collect::<Vec<_>>();
    if part.len() != 3 || part[1] != "rpc" || part[2] != "--worker" {
        exit(64);
    }
    match play().as_deref() {
        Some("dies") => {
            let _ = writeln!(io::stderr(), "cannot load libfoo.so");
            exit(127);
        }
        Some("silent") => {
            // Until its input ends.
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            exit(0);
        }
        _ => {}
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(request) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let (success, data) = answer(&request);
        let answer = if success {
            json!({"type": "response", "id": request["id"], "command": request["type"], "success": true, "data": data})
        } else {
            json!({"type": "response", "id": request["id"], "command": request["type"], "success": false, "error": data})
        };
        println!("{answer}");
    }
}

#[expect(clippy::disallowed_methods, reason = "it is a program of its own")]
fn play() -> Option<String> {
    std::env::var("PLAY").ok()
}

fn answer(request: &Value) -> (bool, Value) {
    match request["type"].as_str() {
        Some("hello") if play().as_deref() == Some("refuses") => {
            (false, json!("no \u{1b}[31m here"))
        }
        Some("hello") => (
            true,
            json!({"version": "1", "protocol": 1, "profile": "standard", "tools": null, "boot_id": null,
                "pid": std::process::id(), "uid": 0, "cwd": "/", "home": null, "os": "linux", "arch": "x86_64",
                "bash": "/bin/bash", "known": false}),
        ),
        // A command that must not run twice.
        Some("append") => {
            let path = request["path"].as_str().unwrap_or_default();
            let line = format!("{}\n", request["line"]);
            let file = OpenOptions::new().append(true).create(true).open(path);
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            (written.is_ok(), json!({"appended": true}))
        }
        Some("die") => exit(1),
        _ => (true, json!({})),
    }
}
