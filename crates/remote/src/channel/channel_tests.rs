//! Tests of the channel with a misbehaving remote host.

use super::*;
use agent_bash_process::{SystemClock, Transport};
use serde_json::json;
use tokio::io::{AsyncReadExt, BufReader, DuplexStream, duplex, split};

const QUICK_TIMEOUTS: ChannelTimeouts = ChannelTimeouts {
    ping: Duration::from_millis(50),
    silence: Duration::from_millis(400),
    cancelled: Duration::from_millis(300),
};

fn channel(timeouts: ChannelTimeouts) -> (Arc<Channel>, DuplexStream) {
    let (ours, theirs) = duplex(64 * 1024);
    let (output, input) = split(ours);
    let clock = Arc::new(SystemClock::new());
    let output = BufReader::new(output);
    (
        Arc::new(Channel::over(input, output, None, clock, timeouts)),
        theirs,
    )
}

async fn ask(
    channel: &Channel,
    cancel: &Cancel,
) -> (String, Result<Option<String>, RequestFailure>) {
    let mut text = String::new();
    let mut live = |update: OutputUpdate| {
        text.truncate(text.len().saturating_sub(update.rewind));
        text.push_str(&update.text);
    };
    let answer = channel.ask("x", &json!({"a": 1}), &mut live, cancel).await;
    (
        text,
        answer.map(|data| data.map(|data| data.get().to_owned())),
    )
}

/// Returns the next line that the remote host receives.
async fn line(target: &mut DuplexStream) -> serde_json::Value {
    let mut line = Vec::new();
    loop {
        match target.read_u8().await.unwrap() {
            b'\n' => return serde_json::from_slice(&line).unwrap(),
            byte => line.push(byte),
        }
    }
}

fn spawn_ask(
    channel: &Arc<Channel>,
) -> JoinHandle<(String, Result<Option<String>, RequestFailure>)> {
    let channel = Arc::clone(channel);
    tokio::spawn(async move { ask(&channel, &Cancel::new()).await })
}

#[tokio::test]
async fn answers_are_matched_by_id_in_any_order() {
    let (channel, mut target) = channel(ChannelTimeouts::default());
    let (one, two) = (spawn_ask(&channel), spawn_ask(&channel));
    let (first, second) = (line(&mut target).await, line(&mut target).await);
    assert_eq!((&first["type"], &first["a"]), (&json!("x"), &json!(1)));
    for (id, data) in [(&second["id"], 2), (&first["id"], 1)] {
        let update =
            json!({"type": "update", "id": id, "delta": format!("out{data}"), "total_bytes": 4});
        let answer = json!({"type": "response", "id": id, "success": true, "data": data});
        target
            .write_all(format!("{update}\n{answer}\n").as_bytes())
            .await
            .unwrap();
    }
    let mut got = [one.await.unwrap(), two.await.unwrap()];
    got.sort_by(|a, b| a.0.cmp(&b.0));
    let want = |n: u32| (format!("out{n}"), Ok(Some(n.to_string())));
    assert_eq!(got, [want(1), want(2)]);
    assert_eq!(channel.closed(), None);
}

#[tokio::test]
async fn unexpected_line_closes_the_channel() {
    let long = format!("{{\"id\": 0, \"x\": \"{}\"}}\n", "x".repeat(MAX_LINE));
    let deep = format!("{{\"id\": 0, \"data\": {}\n", "[".repeat(100_000));
    for (sent, why) in [
        ("hello\n", "not of the protocol"),
        ("{}\n", "not of the protocol"),
        ("\n", "not of the protocol"),
        ("[1]\n", "not of the protocol"),
        (
            "{\"type\": \"response\", \"success\": true}\n",
            "not of the protocol",
        ),
        (
            "{\"type\": \"response\", \"id\": 0}\n",
            "not of the protocol",
        ),
        (
            "{\"type\": \"response\", \"id\": -1, \"success\": true}\n",
            "not of the protocol",
        ),
        (
            "{\"type\": \"update\", \"id\": 0, \"delta\": 5}\n",
            "not of the protocol",
        ),
        ("{\"type\": \"run\", \"id\": 0}\n", "not of the protocol"),
        ("\u{1b}]0;x\u{7}\n", "not of the protocol"),
        (
            "{\"type\": \"response\", \"id\": 7, \"success\": true}\n",
            "an unknown request (7)",
        ),
        (&long, "longer than 8 MiB"),
        (&deep, "not of the protocol"),
    ] {
        let (channel, mut target) = channel(ChannelTimeouts::default());
        let call = spawn_ask(&channel);
        line(&mut target).await;
        // The channel may be closed before the request is written completely.
        let _ = target.write_all(sent.as_bytes()).await;
        let answer = call.await.unwrap().1;
        let Err(RequestFailure::ConnectionLost(reason)) = answer else {
            panic!("{answer:?}");
        };
        assert!(reason.contains(why), "{reason}");
        assert_eq!(
            ask(&channel, &Cancel::new()).await.1,
            Err(RequestFailure::Unsent(reason))
        );
    }
}

#[tokio::test]
async fn second_answer_closes_the_channel() {
    let (channel, mut target) = channel(ChannelTimeouts::default());
    let call = spawn_ask(&channel);
    let id = line(&mut target).await["id"].clone();
    let answer = json!({"type": "response", "id": id, "success": false, "error": "no"});
    target
        .write_all(format!("{answer}\n{answer}\n").as_bytes())
        .await
        .unwrap();
    assert_eq!(
        call.await.unwrap().1,
        Err(RequestFailure::Refused("no".to_owned()))
    );
    let mut rest = Vec::new();
    target.read_to_end(&mut rest).await.unwrap();
    assert!(channel.closed().unwrap().contains("an unknown request"));
}

#[tokio::test]
async fn unwritten_request_is_reported_as_not_run() {
    let (ours, theirs) = duplex(16);
    let (output, input) = split(ours);
    let clock = Arc::new(SystemClock::new());
    let channel = Channel::over(
        input,
        BufReader::new(output),
        None,
        clock,
        ChannelTimeouts::default(),
    );
    let channel = Arc::new(channel);
    let call = spawn_ask(&channel);
    // Half of the request is written.
    tokio::task::yield_now().await;
    drop(theirs);
    assert!(matches!(
        call.await.unwrap().1,
        Err(RequestFailure::Unsent(_))
    ));
}

#[tokio::test]
async fn silence_closes_the_channel_and_pings_do_not() {
    let (channel, mut target) = channel(QUICK_TIMEOUTS);
    let call = spawn_ask(&channel);
    assert_eq!(line(&mut target).await["type"], "x");
    for _ in 0..15 {
        let ping = line(&mut target).await;
        assert_eq!(ping["type"], "ping");
        let reply = json!({"type": "response", "id": ping["id"], "success": true, "data": {}});
        target
            .write_all(format!("{reply}\n").as_bytes())
            .await
            .unwrap();
    }
    assert_eq!(channel.closed(), None);
    let Err(RequestFailure::ConnectionLost(why)) = call.await.unwrap().1 else {
        panic!("the request was answered");
    };
    assert!(why.contains("sent nothing"), "{why}");
}

#[tokio::test]
async fn unanswered_cancellation_ends_after_its_timeout() {
    let (channel, mut target) = channel(QUICK_TIMEOUTS);
    let cancel = Cancel::new();
    let (waiting, signal) = (Arc::clone(&channel), cancel.clone());
    let call = tokio::spawn(async move { ask(&waiting, &signal).await });
    let id = line(&mut target).await["id"].clone();
    cancel.cancel();
    let mut received = line(&mut target).await;
    while received["type"] == "ping" {
        received = line(&mut target).await;
    }
    let kind_and_target = (&received["type"], &received["target"]);
    assert_eq!(kind_and_target, (&json!("cancel"), &id));
    // The remote host runs, but ignores the cancellation.
    let answering = tokio::spawn(async move {
        loop {
            let ping = line(&mut target).await;
            let reply = json!({"type": "response", "id": ping["id"], "success": true});
            target
                .write_all(format!("{reply}\n").as_bytes())
                .await
                .unwrap();
        }
    });
    let Err(RequestFailure::ConnectionLost(why)) = call.await.unwrap().1 else {
        panic!("the request was answered");
    };
    assert!(why.contains("cancellation"), "{why}");
    answering.abort();
}

#[tokio::test]
async fn unread_flood_is_dropped_or_ends_the_channel() {
    let (channel, mut target) = channel(ChannelTimeouts::default());
    // A request without a reader.
    let one = channel.shared.begin("x", &json!({})).unwrap();
    let id = line(&mut target).await["id"].clone();
    let update =
        json!({"type": "update", "id": id, "delta": "x".repeat(100_000), "total_bytes": 0});
    for _ in 0..50 {
        target
            .write_all(format!("{update}\n").as_bytes())
            .await
            .unwrap();
    }
    let is_read = async {
        while channel.shared.last_heard().is_zero() {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    is_read.await;
    let (updates, answer) = one.take();
    assert!(answer.is_none());
    let kept: usize = updates.iter().map(|update| update.text.len()).sum();
    let skipped: u64 = updates.iter().map(|update| update.skipped_bytes).sum();
    assert!(
        kept <= 300_000 && kept as u64 + skipped == 5_000_000,
        "{kept} {skipped}"
    );

    // Answers are not dropped.
    let calls: Vec<_> = (0..12)
        .map(|_| channel.shared.begin("x", &json!({})).unwrap())
        .collect();
    for _ in &calls {
        let id = line(&mut target).await["id"].clone();
        let answer =
            json!({"type": "response", "id": id, "success": true, "data": "x".repeat(7 << 20)});
        if target
            .write_all(format!("{answer}\n").as_bytes())
            .await
            .is_err()
        {
            break;
        }
    }
    let mut rest = Vec::new();
    let _ = target.read_to_end(&mut rest).await;
    assert!(channel.closed().unwrap().contains("64 MiB"));
}

#[tokio::test]
async fn requests_beyond_the_limit_are_refused() {
    let (channel, _target) = channel(ChannelTimeouts::default());
    let calls: Vec<_> = (0..256)
        .map(|_| channel.shared.begin("x", &json!({})).unwrap())
        .collect();
    assert!(matches!(
        ask(&channel, &Cancel::new()).await.1,
        Err(RequestFailure::NotSendable(_))
    ));
    drop(calls);
}

/// No task runs between the end of `close` and the check, as in a process that exits right after
/// `close`.
#[tokio::test]
async fn close_ends_a_transport_that_does_not_exit() {
    let words = ["/bin/sh", "-c", "exec sleep 600"].map(std::ffi::OsString::from);
    let env = std::collections::BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    let transport = Transport::start(&words, &env, std::path::Path::new("/")).unwrap();
    let mut errors = std::fs::File::from(transport.errors.into_blocking_fd().unwrap());
    let channel = Channel::over(
        transport.input,
        BufReader::new(transport.output),
        Some(transport.process),
        Arc::new(SystemClock::new()),
        ChannelTimeouts::default(),
    );
    channel.close(Duration::from_millis(50)).await;

    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The stderr ends with the transport.
        let printed = io::read_to_string(&mut errors);
        let _ = sender.send(printed);
    });
    let printed = ended.recv_timeout(Duration::from_secs(5));
    assert_eq!(printed.expect("the transport still runs").unwrap(), "");
}
