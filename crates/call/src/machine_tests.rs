use super::*;

const GRACE_MS: u64 = 2_000;
const DRAIN_MS: u64 = 1_000;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn terminate(millis: u64) -> Action {
    Action::Terminate { grace: ms(millis) }
}

fn exited(empty: bool) -> Event {
    let end = ShellEnd::Exited(0);
    Event::ShellEnded { end, empty }
}

fn one_survivor() -> Vec<Survivor> {
    vec![Survivor::new(7, "sleep 300", true)]
}

fn machine(survivors: Option<SurvivorPolicy>) -> Machine {
    Machine::new(FollowTerms {
        grace: ms(GRACE_MS),
        drain: ms(DRAIN_MS),
        survivors,
    })
}

/// The columns of a row: the event, its time, the expected action, and the next deadline, all in
/// milliseconds.
type Row = (Event, u64, Option<Action>, Option<u64>);

fn play(name: &str, mut machine: Machine, rows: Vec<Row>) -> Machine {
    for (row, (event, at, action, due)) in rows.into_iter().enumerate() {
        let happened = format!("{name}, row {row}: {event:?} at {at}");
        let state = machine.state;
        assert_eq!(
            machine.step(event, ms(at)),
            action,
            "{happened} in {state:?}"
        );
        assert_eq!(machine.deadline(), due.map(ms), "{happened} in {state:?}");
    }
    machine
}

use Action::{CloseStopped, HandOver, ReadNow, Sweep, Wake};
use Event::{
    ConsumerStopped, Due, Empty, Finish, HandedOver, HangUp, NothingRead, OutputEnded, Read,
    ShellDone, Stuck, SupervisorEnded, Terminating, Unreadable,
};

/// Plays the rows, and checks that the call is over after the last row and not before.
#[track_caller]
fn play_to_end(name: &str, policy: Option<SurvivorPolicy>, mut rows: Vec<Row>) -> Machine {
    let last = rows.pop().unwrap();
    let machine = play(name, machine(policy), rows);
    assert!(!machine.is_done(), "{name}: too early");
    let machine = play(name, machine, vec![last]);
    assert!(machine.is_done(), "{name}: {:?}", machine.state);
    machine
}

const ADOPT: Option<SurvivorPolicy> = Some(SurvivorPolicy::Adopt);
const KILL: Option<SurvivorPolicy> = Some(SurvivorPolicy::Kill);
const WAIT: Option<SurvivorPolicy> = Some(SurvivorPolicy::Wait);

#[test]
fn call_is_done_when_the_shell_and_its_output_have_ended() {
    let machine = play_to_end(
        "no process left",
        ADOPT,
        vec![
            (Read, 5, None, None),
            (exited(true), 10, None, None),
            (Finish, 10, Some(ReadNow), Some(110)),
            (OutputEnded, 11, None, None),
        ],
    );
    assert!(machine.is_empty());
    assert_eq!(machine.ended_at(), ms(10));
    assert_eq!(machine.shell(), Some(ShellEnd::Exited(0)));
}

#[test]
fn output_is_drained_until_quiet_or_the_limit() {
    play_to_end(
        "quiet",
        ADOPT,
        vec![
            (exited(true), 0, None, None),
            (Finish, 0, Some(ReadNow), Some(100)),
            (NothingRead, 0, None, Some(100)),
            (Read, 50, None, Some(150)),
            // Read once more, whatever the time: the host may be late.
            (Due, 150, Some(ReadNow), Some(DRAIN_MS)),
            (Read, 150, None, Some(250)),
            (Due, 250, Some(ReadNow), Some(DRAIN_MS)),
            (NothingRead, 250, None, None),
        ],
    );
    play_to_end(
        "never quiet",
        ADOPT,
        vec![
            (exited(true), 0, None, None),
            (Finish, 0, Some(ReadNow), Some(100)),
            (Read, 950, None, Some(DRAIN_MS)),
            (Due, DRAIN_MS, None, None),
        ],
    );
}

#[test]
fn exiting_process_is_not_a_survivor() {
    let gone = play_to_end(
        "goes",
        ADOPT,
        vec![
            (exited(false), 0, None, None),
            (Finish, 0, Some(ReadNow), Some(100)),
            (OutputEnded, 0, None, Some(50)),
            (Empty, 20, None, None),
        ],
    );
    assert!(gone.is_empty());
    let stays = play_to_end(
        "stays",
        ADOPT,
        vec![
            (exited(false), 0, None, None),
            (Finish, 0, Some(ReadNow), Some(100)),
            (OutputEnded, 0, None, Some(50)),
            (Due, 50, Some(HandOver), None),
            (HandedOver(one_survivor()), 51, None, None),
        ],
    );
    assert!(!stays.is_empty());
    assert_eq!(stays.into_survivors(), one_survivor());
}

#[test]
fn survivors_are_killed_by_the_policy_kill() {
    let begin = || {
        vec![
            (exited(false), 0, None, None),
            (Finish, 0, Some(ReadNow), Some(100)),
            (Due, 100, Some(ReadNow), Some(DRAIN_MS)),
            (NothingRead, 100, Some(terminate(0)), Some(1_100)),
        ]
    };
    let obey = [
        (Read, 110, None, Some(1_100)),
        (Empty, 120, Some(ReadNow), Some(220)),
        (OutputEnded, 120, None, None),
    ];
    let machine = play_to_end("they go", KILL, [begin(), obey.into()].concat());
    assert!(machine.is_empty() && machine.into_survivors().is_empty());
    let withstand = [(Stuck(one_survivor()), 600, None, None)];
    let machine = play_to_end("they withstand", KILL, [begin(), withstand.into()].concat());
    assert!(!machine.is_empty());
    assert_eq!(machine.into_survivors(), one_survivor());
    let silent = [
        (Due, 1_100, Some(ReadNow), Some(1_200)),
        (OutputEnded, 1_100, None, None),
    ];
    play_to_end("no report", KILL, [begin(), silent.into()].concat());
}

#[test]
fn survivors_are_awaited_within_the_time_limit() {
    let begin = || {
        vec![
            (exited(false), 0, None, None),
            (Finish, 0, Some(ReadNow), Some(100)),
            (Due, 100, Some(ReadNow), Some(DRAIN_MS)),
            (NothingRead, 100, None, None),
            (Read, 9_000, None, None),
        ]
    };
    let go = [
        (Empty, 9_500, Some(ReadNow), Some(9_600)),
        (OutputEnded, 9_500, None, None),
    ];
    play_to_end("they go", WAIT, [begin(), go.into()].concat());
    let late = [
        (
            Terminating(EndReason::Timeout),
            10_000,
            Some(terminate(GRACE_MS)),
            Some(10_000 + GRACE_MS + 1_000),
        ),
        (Empty, 10_001, Some(ReadNow), Some(10_101)),
        (OutputEnded, 10_001, None, None),
    ];
    let machine = play_to_end("too long", WAIT, [begin(), late.into()].concat());
    assert_eq!(machine.reason(), None, "the command itself ended in time");
    let enough = [
        (ConsumerStopped, 9_500, None, Some(10_500)),
        (Due, 10_500, Some(CloseStopped), None),
        (
            HangUp,
            10_500,
            Some(terminate(GRACE_MS)),
            Some(10_500 + GRACE_MS + 1_000),
        ),
        (Empty, 10_600, Some(ReadNow), Some(10_700)),
        (OutputEnded, 10_600, None, None),
    ];
    play_to_end(
        "enough was printed",
        WAIT,
        [begin(), enough.into()].concat(),
    );
}

#[test]
fn terminated_call_waits_for_its_tree() {
    let deadline = 500 + GRACE_MS + 1_000;
    let begin = || {
        vec![(
            Terminating(EndReason::Cancel),
            500,
            Some(Wake),
            Some(deadline),
        )]
    };
    let obey = [
        (exited(false), 600, None, Some(deadline)),
        (Terminating(EndReason::Timeout), 650, None, Some(deadline)),
        (Empty, 700, None, None),
        (Finish, 700, Some(ReadNow), Some(800)),
        (OutputEnded, 700, None, None),
    ];
    let machine = play_to_end("it goes", ADOPT, [begin(), obey.into()].concat());
    assert_eq!(machine.reason(), Some(EndReason::Cancel));
    assert!(machine.is_empty());
    let withstand = [
        (exited(false), 600, None, Some(deadline)),
        (Stuck(one_survivor()), 3_000, None, None),
        (Finish, 3_000, Some(ReadNow), Some(3_100)),
        // The policy is not applied again: the processes are already named and being killed.
        (OutputEnded, 3_000, None, Some(3_050)),
        (Due, 3_050, None, None),
    ];
    let machine = play_to_end(
        "they withstand",
        ADOPT,
        [begin(), withstand.into()].concat(),
    );
    assert_eq!(machine.into_survivors(), one_survivor());
    let silent = [
        (Due, deadline, None, None),
        (Finish, deadline, Some(ReadNow), Some(deadline + 100)),
        (OutputEnded, deadline, None, None),
    ];
    let machine = play_to_end("no report", ADOPT, [begin(), silent.into()].concat());
    assert!(!machine.is_empty(), "the supervisor serves no other call");
    assert_eq!(machine.shell(), None);
}

#[test]
fn call_without_its_supervisor_is_swept() {
    for policy in [ADOPT, KILL, WAIT] {
        let rows = vec![
            (SupervisorEnded, 5, None, None),
            (Finish, 5, Some(Sweep), Some(105)),
            (OutputEnded, 6, None, None),
        ];
        let machine = play_to_end("gone", policy, rows);
        assert!(!machine.is_empty() && !machine.expects_events());
    }
}

#[test]
fn stopped_consumer_closes_the_output() {
    let rows = vec![
        (ConsumerStopped, 100, None, Some(1_100)),
        (Read, 200, None, Some(1_100)),
        (Due, 1_100, Some(CloseStopped), None),
        (OutputEnded, 1_100, None, None),
        (exited(true), 1_200, None, None),
        (Finish, 1_200, Some(ReadNow), Some(1_300)),
        (OutputEnded, 1_200, None, None),
    ];
    play_to_end("pipes", ADOPT, rows);
    let deadline = 1_100 + GRACE_MS + 1_000;
    let rows = vec![
        (ConsumerStopped, 100, None, Some(1_100)),
        (Due, 1_100, Some(CloseStopped), None),
        (HangUp, 1_100, Some(terminate(GRACE_MS)), Some(deadline)),
        (HangUp, 1_150, None, Some(deadline)),
        (exited(false), 1_200, None, Some(deadline)),
        (Empty, 1_300, None, None),
        (Finish, 1_300, Some(ReadNow), Some(1_400)),
        (OutputEnded, 1_300, None, None),
    ];
    let machine = play_to_end("a terminal", ADOPT, rows);
    assert_eq!(machine.reason(), None);
}

#[test]
fn unreadable_output_terminates_the_call() {
    let rows = vec![
        (Unreadable, 100, Some(terminate(0)), Some(1_100)),
        (exited(true), 150, None, None),
        (Finish, 150, Some(ReadNow), Some(250)),
        (OutputEnded, 150, None, None),
    ];
    play_to_end("unreadable", ADOPT, rows);
}

#[test]
fn continuing_shell_is_left_to_the_caller() {
    let rows = vec![
        (ShellDone, 100, None, None),
        (Finish, 100, Some(ReadNow), Some(200)),
        (OutputEnded, 100, None, None),
    ];
    let machine = play_to_end("done", None, rows);
    assert!(machine.expects_events());
    let deadline = 50 + GRACE_MS + 1_000;
    let rows = vec![
        (
            Terminating(EndReason::Timeout),
            50,
            Some(Wake),
            Some(deadline),
        ),
        (ShellDone, 100, None, Some(deadline)),
        (exited(true), 150, None, None),
        (Finish, 150, Some(ReadNow), Some(250)),
        (OutputEnded, 150, None, None),
    ];
    play_to_end("done while it is ended", None, rows);
}

#[test]
fn survivors_beside_a_continuing_shell_are_killed_or_awaited() {
    let for_survivors = |policy, output_ended| {
        let terms = FollowTerms {
            survivors: policy,
            ..machine(policy).terms
        };
        Machine::for_survivors(terms, output_ended, ms(10))
    };
    let rows = vec![
        (Due, 60, Some(terminate(0)), Some(1_060)),
        (Empty, 70, Some(ReadNow), Some(170)),
        (OutputEnded, 70, None, None),
    ];
    assert!(play("silent", for_survivors(KILL, true), rows).is_done());
    let rows = vec![(Empty, 20, None, None)];
    assert!(play("the process was exiting", for_survivors(KILL, true), rows).is_done());
    let rows = vec![
        (Due, 10, Some(terminate(0)), Some(1_010)),
        (Stuck(one_survivor()), 600, None, None),
    ];
    let machine = play("it prints", for_survivors(KILL, false), rows);
    assert_eq!(machine.into_survivors(), one_survivor());
    let rows = vec![
        (Read, 5_000, None, None),
        (Empty, 9_000, Some(ReadNow), Some(9_100)),
        (OutputEnded, 9_000, None, None),
    ];
    assert!(play("the process is awaited", for_survivors(WAIT, false), rows).is_done());
}

#[test]
fn cancellation_while_draining_takes_effect() {
    let deadline = 50 + GRACE_MS + 1_000;
    let rows = vec![
        (exited(false), 0, None, None),
        (Finish, 0, Some(ReadNow), Some(100)),
        (
            Terminating(EndReason::Kill),
            50,
            Some(terminate(GRACE_MS)),
            Some(deadline),
        ),
        (Empty, 60, Some(ReadNow), Some(160)),
        (OutputEnded, 60, None, None),
    ];
    let machine = play_to_end("a process remained", ADOPT, rows);
    assert_eq!(machine.reason(), None, "the command ended by itself");
    let rows = vec![
        (exited(true), 0, None, None),
        (Finish, 0, Some(ReadNow), Some(100)),
        (Terminating(EndReason::Kill), 50, None, Some(100)),
        (OutputEnded, 60, None, None),
    ];
    play_to_end("no process remained", ADOPT, rows);
}
