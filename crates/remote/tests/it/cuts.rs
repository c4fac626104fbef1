//! A line that is cut at any byte: nothing runs twice, and nothing is believed that was not said.

use crate::world::World;
use agent_bash_core::Cancel;
use agent_bash_remote::{AskError, ChannelTimeouts};
use serde_json::json;
use std::fs;
use std::time::Duration;

/// Passes so many bytes to the target, and no more, then closes both ways.
const CUT_THERE: &str = r#"script=$1; n=$(cat "$HOME/cut" 2>/dev/null || echo 0); rm -f "$HOME/cut"
[ "$n" = 0 ] && exec sh -c "$script"
dd bs=1 count="$n" 2>/dev/null | exec sh -c "$script""#;

/// The same for what comes back.
const CUT_BACK: &str = r#"script=$1; n=$(cat "$HOME/cut" 2>/dev/null || echo 0); rm -f "$HOME/cut"
[ "$n" = 0 ] && exec sh -c "$script"
exec 3<&0
sh -c "$script" <&3 3<&- | dd bs=1 count="$n" 2>/dev/null 3<&- &
exec 3<&- >&- 2>&-
wait"#;

/// More bytes than a connection with one request carries either way, however long the paths of this
/// test are.
const LONGEST: u64 = 700;

/// How often each way is cut, unless `REMOTE_CUTS` says otherwise.
const CUTS: u64 = 100;

fn cuts() -> u64 {
    let printed = std::env::var("REMOTE_CUTS").ok();
    printed
        .and_then(|printed| printed.parse().ok())
        .unwrap_or(CUTS)
}

/// Numbers below a limit, others in each run.
fn numbers() -> impl FnMut(u64) -> u64 {
    let seed = agent_bash_process::random_bytes().unwrap_or_default();
    let mut state = u64::from_le_bytes(seed) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

async fn cut(way: &str, rounds: u64) -> [u64; 3] {
    let mut world = World::behind(&["sh", "-c", way, "sh", "{script}"]);
    world.patience = ChannelTimeouts {
        silence: Duration::from_secs(5),
        ..ChannelTimeouts::default()
    };
    // So that only what is said afterwards is cut.
    drop(world.remote().connected().await.unwrap());
    let (mut number, mut seen) = (numbers(), [0; 3]);
    for round in 0..rounds {
        let file = world.home().join("lines");
        let _ = fs::remove_file(&file);
        fs::write(world.home().join("cut"), (1 + number(LONGEST)).to_string()).unwrap();
        let remote = world.remote();
        let body = json!({"path": file, "line": round});
        let answer = remote
            .ask("append", &body, &mut |_| {}, &Cancel::new())
            .await;
        drop(remote);
        let ran = fs::read_to_string(&file)
            .unwrap_or_default()
            .lines()
            .count();
        match answer {
            Ok(_) => {
                assert_eq!(ran, 1, "round {round}: said to have run");
                seen[0] += 1;
            }
            Err(AskError::ConnectionLost(_)) => {
                assert!(ran <= 1, "round {round}: run twice");
                seen[1] += 1;
            }
            Err(_) => {
                assert_eq!(ran, 0, "round {round}: said not to have run");
                seen[2] += 1;
            }
        }
    }
    seen
}

#[tokio::test]
async fn interrupted_request_runs_at_most_once() {
    let seen = cut(CUT_THERE, cuts()).await;
    assert!(
        seen[0] > 0 && seen[1] > 0,
        "too few kinds of ends: {seen:?}"
    );
}

#[tokio::test]
async fn interrupted_answer_is_reported_as_lost() {
    let seen = cut(CUT_BACK, cuts()).await;
    assert!(
        seen[0] > 0 && seen[1] + seen[2] > 0,
        "too few kinds of ends: {seen:?}"
    );
}

#[tokio::test]
async fn request_reconnects_to_a_dead_target() {
    let world = World::new();
    let remote = world.remote();
    let first = remote.connected().await.unwrap().machine.pid;
    let died = remote
        .ask("die", &json!({}), &mut |_| {}, &Cancel::new())
        .await;
    assert!(matches!(died, Err(AskError::ConnectionLost(_))), "{died:?}");
    assert!(
        remote
            .ask("ping", &json!({}), &mut |_| {}, &Cancel::new())
            .await
            .is_ok()
    );
    let second = remote.connected().await.unwrap().machine.pid;
    assert_ne!(first, second);
}

#[tokio::test]
async fn call_cancelled_while_connecting_is_not_sent() {
    let world = World::behind(&["sh", "-c", "sleep 600", "{script}"]);
    let cancel = Cancel::new();
    cancel.cancel();
    let answer = world
        .remote()
        .ask("ping", &json!({}), &mut |_| {}, &cancel)
        .await;
    assert_eq!(answer.unwrap_err(), AskError::Cancelled);
}
