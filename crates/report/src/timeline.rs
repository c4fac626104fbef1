//! The timeline at the top: each call at its time, with simultaneous calls below each other. Long
//! pauses are drawn short, and marked.

use agent_bash_core::{Timestamp, visible};
use agent_bash_journal::JournalEntry;
use agent_bash_render::call_summary::{clock, date, duration, from_millis, outcome};
use maud::{Markup, html};

/// Width of the timeline in its own units.
const TIMELINE_WIDTH: f64 = 1000.0;
/// Minimum width of a call, so that it is visible: a refusal takes no time.
const MIN_CALL_WIDTH: f64 = 4.0;
/// The largest number of lanes for simultaneous calls. Further calls share the last lane.
const MAX_LANES: usize = 8;
/// Height of a lane.
const LANE_HEIGHT: usize = 12;
/// Length in milliseconds beyond which a pause is drawn short.
const LONG_PAUSE_MS: f64 = 60_000.0;
/// The width of a long pause.
const PAUSE_WIDTH: f64 = 16.0;
/// The largest width of all long pauses together.
const MAX_PAUSES_WIDTH: f64 = 300.0;
/// The number of time labels below the timeline.
const TICK_COUNT: u32 = 5;

/// A part of the timeline: its range of time in milliseconds, and its range of horizontal
/// positions.
struct TimelinePart {
    time: [f64; 2],
    x: [f64; 2],
    is_pause: bool,
}

/// Returns the timeline; empty if all calls are at one moment.
pub(crate) fn timeline(entries: &[JournalEntry]) -> Markup {
    let spans: Vec<[f64; 2]> = entries.iter().map(span).collect();
    let parts = parts(&spans);
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return html! {};
    };
    let lanes = lanes(&spans);
    let height = LANE_HEIGHT * (lanes.iter().max().unwrap_or(&0) + 1).max(2);
    // Failures are drawn last, so that nothing covers them.
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(
        |index| match outcome(&entries[*index].result.status).class {
            "ok" => 0,
            "warn" => 1,
            _ => 2,
        },
    );
    let [begin, end] = [first.time[0], last.time[1]].map(moment);
    html! {
        figure.timeline {
            figcaption.unseen { "Timeline of " (entries.len()) " calls, from " (date(begin)) " to " (date(end)) ". The list below has the same calls." }
            // The links are for the mouse only. As tab stops, they would repeat the list of calls.
            svg viewBox={ "0 0 " (TIMELINE_WIDTH) " " (height) } height=(height) preserveAspectRatio="none" aria-hidden="true" {
                @for part in parts.iter().filter(|part| part.is_pause) {
                    rect.pause x=(units(part.x[0])) y="0" width=(units(part.x[1] - part.x[0])) height=(height) {
                        title { (duration(from_millis(part.time[1] - part.time[0]))) " without a call" }
                    }
                }
                @for index in order {
                    @let (entry, [begin, end]) = (&entries[index], spans[index]);
                    @let outcome_text = outcome(&entry.result.status);
                    @let x = position(&parts, begin).min(TIMELINE_WIDTH - MIN_CALL_WIDTH);
                    @let width = (position(&parts, end) - x).max(MIN_CALL_WIDTH);
                    a href={ "#c" (index + 1) } tabindex="-1" {
                        rect.(outcome_text.class) x=(units(x)) y=(lanes[index] * LANE_HEIGHT + 1) width=(units(width)) height=(LANE_HEIGHT - 2) {
                            title { (index + 1) " · " (clock(entry.result.started_at)) " · " (visible::one_line(&outcome_text.text)) " · " (duration(from_millis(entry.result.duration_ms))) }
                        }
                    }
                }
            }
            div.axis aria-hidden="true" { @for time in ticks(&parts) { span { (time) } } }
            @if parts.iter().any(|part| part.is_pause) { p.note { "Dotted frames: more than a minute without a call, drawn short." } }
        }
    }
}

/// Returns the start and the end of a call in milliseconds since 1970.
#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds since 1970 have 41 bits"
)]
pub(crate) fn span(entry: &JournalEntry) -> [f64; 2] {
    let begin = entry.result.started_at.0 as f64;
    [begin, begin + entry.result.duration_ms.max(0.0)]
}

/// Returns the timestamp of milliseconds since 1970.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is a timestamp plus a duration in milliseconds"
)]
pub(crate) fn moment(time: f64) -> Timestamp {
    Timestamp(time as u64)
}

/// Returns a length in units of the timeline as text.
fn units(value: f64) -> String {
    format!("{value:.1}")
}

/// Divides the time from the first moment to the last into busy parts and pauses. Empty if there is
/// only one moment.
fn parts(spans: &[[f64; 2]]) -> Vec<TimelinePart> {
    let mut sorted = spans.to_vec();
    sorted.sort_by(|left, right| left[0].total_cmp(&right[0]));
    let mut times: Vec<([f64; 2], bool)> = Vec::new();
    for [begin, end] in sorted {
        match times.last_mut() {
            Some((busy, _)) if begin - busy[1] <= LONG_PAUSE_MS => busy[1] = busy[1].max(end),
            last => {
                let before = last.map(|(busy, _)| busy[1]);
                times.extend(before.map(|before| ([before, begin], true)));
                times.push(([begin, end], false));
            }
        }
    }
    let total_ms = |is_pause| -> f64 {
        let selected = times.iter().filter(|(_, pause)| *pause == is_pause);
        selected.map(|([begin, end], _)| end - begin).sum()
    };
    if total_ms(true) + total_ms(false) <= 0.0 {
        return Vec::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "there are not that many calls")]
    let pauses = times.iter().filter(|(_, is_pause)| *is_pause).count() as f64;
    let pause = PAUSE_WIDTH.min(MAX_PAUSES_WIDTH / pauses.max(1.0));
    // Each busy part has the width of a call without duration; the rest of the width is divided by
    // time.
    let room = TIMELINE_WIDTH - pauses * pause - (pauses + 1.0) * MIN_CALL_WIDTH.min(pause);
    let scale = room.max(0.0) / total_ms(false).max(1.0);
    let mut x = 0.0;
    let parts = times.into_iter().map(|(time, is_pause)| {
        let width = if is_pause {
            pause
        } else {
            MIN_CALL_WIDTH.min(pause) + (time[1] - time[0]) * scale
        };
        let begin = x;
        x += width;
        TimelinePart {
            time,
            x: [begin, x],
            is_pause,
        }
    });
    parts.collect()
}

/// Returns the horizontal position of a moment.
fn position(parts: &[TimelinePart], time: f64) -> f64 {
    let part = parts.iter().find(|part| time <= part.time[1]);
    part.map_or(TIMELINE_WIDTH, |part| map_range(time, part.time, part.x))
}

/// Maps `value` from the range `from` to the range `to`.
fn map_range(value: f64, from: [f64; 2], to: [f64; 2]) -> f64 {
    let share = (value - from[0]) / (from[1] - from[0]).max(f64::MIN_POSITIVE);
    to[0] + share.clamp(0.0, 1.0) * (to[1] - to[0])
}

/// Returns the time labels below the timeline, at equal distances, with the day if it changes.
fn ticks(parts: &[TimelinePart]) -> Vec<String> {
    let mut day = String::new();
    let ticks = (0..TICK_COUNT).map(|tick| {
        let x = TIMELINE_WIDTH * f64::from(tick) / f64::from(TICK_COUNT - 1);
        let part = parts.iter().find(|part| x <= part.x[1]).or(parts.last());
        let time = part.map_or(0.0, |part| map_range(x, part.x, part.time));
        let date = date(moment(time));
        let today = date.get(..10).unwrap_or_default().to_owned();
        let clock = clock(moment(time));
        if today == day {
            return clock;
        }
        let is_first = std::mem::replace(&mut day, today.clone()).is_empty();
        if is_first {
            clock
        } else {
            format!("{today} {clock}")
        }
    });
    ticks.collect()
}

/// Returns the lane of each call: the first lane that is free when the call begins.
fn lanes(spans: &[[f64; 2]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by(|left, right| spans[*left][0].total_cmp(&spans[*right][0]));
    let mut free: Vec<f64> = Vec::new();
    let mut lanes = vec![0; spans.len()];
    for index in order {
        let [begin, end] = spans[index];
        let lane = match free.iter().position(|time| *time <= begin) {
            Some(lane) => lane,
            None if free.len() < MAX_LANES => {
                free.push(end);
                free.len() - 1
            }
            None => MAX_LANES - 1,
        };
        free[lane] = free[lane].max(end);
        lanes[index] = lane;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simultaneous_calls_are_in_lanes() {
        let spans = [[0.0, 10.0], [1.0, 3.0], [4.0, 5.0], [11.0, 12.0]];
        assert_eq!(lanes(&spans), [0, 1, 1, 0]);
        assert_eq!(lanes(&[[0.0, 9.0]; 12])[8..], [7; 4]);
    }

    #[test]
    fn long_pause_is_short_and_the_rest_is_to_scale() {
        let hour = 3_600_000.0;
        let spans = [[0.0, 1000.0], [2000.0, 4000.0], [hour, hour + 4000.0]];
        let parts = parts(&spans);
        let pauses: Vec<bool> = parts.iter().map(|part| part.is_pause).collect();
        assert_eq!(pauses, [false, true, false]);
        assert!((position(&parts, hour + 4000.0) - TIMELINE_WIDTH).abs() < 0.01);
        let (left, right) = (
            position(&parts, 4000.0),
            TIMELINE_WIDTH - position(&parts, hour),
        );
        assert!((left - right).abs() < 0.01, "{left} {right}");
        assert!((position(&parts, hour) - position(&parts, 4000.0) - PAUSE_WIDTH).abs() < 0.01);
        assert!((position(&parts, 2000.0) - left / 2.0).abs() < 0.01);
    }

    #[test]
    fn many_pauses_leave_room_for_calls() {
        let spans: Vec<[f64; 2]> = (0..2000)
            .map(|n| [f64::from(n) * 1e6, f64::from(n) * 1e6])
            .collect();
        let parts = parts(&spans);
        assert!(
            parts
                .last()
                .is_some_and(|part| part.x[1] <= TIMELINE_WIDTH + 0.01)
        );
        assert!(super::parts(&[[5.0, 5.0]]).is_empty() && super::parts(&[]).is_empty());
    }

    #[test]
    fn axis_goes_from_the_start_to_the_end() {
        let night = 86_400_000.0;
        let parts = parts(&[[night - 8000.0, night + 8000.0]]);
        let wanted = [
            "23:59:52", "23:59:56", "1970-01-02 00:00:00", "00:00:04", "00:00:08",
        ];
        assert_eq!(ticks(&parts), wanted);
    }
}
