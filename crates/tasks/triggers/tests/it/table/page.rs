//! The page `docs/triggers.md`.

use std::fmt::Write;

use jiff::SignedDuration;
use jiff::civil::Weekday;
use triggers::{Calendar, Check, Leaf, check, earliest, show_duration};

use super::case::{Case, Section, read};
use super::{Joined, chapters, joined};

const HEAD: &str = "# Triggers: when a task runs

A trigger says when a task should run, in terms of the data it reads. A *parameter* such as `sales.loaded_to` is a property of the data; its value is a time or a
number. A trigger compares the current values with the time, with each other, and with what is *remembered*: the values that the check saw whose run succeeded last.

This page is made from the table of cases in `crates/tasks/triggers/tests/it/table/`, which the tests run: it shows what the code does. Regenerate it with
`cargo run -p triggers --example triggers_page > docs/triggers.md`.

## The six types

| | since the last run | behind the time | behind another parameter |
|---|---|---|---|
| exact | [Delta](#delta) | [Delay](#delay) | [RefDelay](#refdelay) |
| in chunks of the calendar | [ChunkDelta](#chunkdelta) | [ChunkDelay](#chunkdelay) | [ChunkRefDelay](#chunkrefdelay) |

`all` and `any` join them ([below](#several-conditions)); an `all` may contain an `any` and the reverse, no deeper.

- A parameter without a value never makes a condition hold. A value of the wrong kind does not either, and the verdict says so.
- With nothing remembered, a condition on growth holds at once: a new task runs as soon as it has values, and so does one with a new parameter in its trigger.
- On success, and only then, the current values of all parameters of the trigger are remembered, as the check saw them.
- Durations are written `30m`, `6h`, `2d`, `1h 30m`; a day of a duration is 24 hours.

## Chunks of the calendar

A chunk is a number of minutes that divides a day, an hour, a day, a week, a month or a year, in a time zone, with a day that weeks start with, and with a day offset that moves
where days (and with them weeks, months and years) begin. Chunks are counted by the calendar, never by dividing durations: the difference of two values is the number of
chunks that begin after the first and up to the second.

1. A chunk begins when the local clock first shows its beginning. Chunks of minutes are counted from the beginning of the day; an hour begins at minute zero, whatever the day offset is.
2. The clock jumps forward over a beginning: the chunk begins at that moment and is shorter. A chunk that is skipped entirely is not counted: the hour from 2 to 3 when
   summer time begins, or 2011-12-30 in Apia.
3. The clock goes back by less than a chunk: the current chunk is longer. A day has 25 hours then.
4. The clock goes back by a chunk or more: what it shows again is another chunk. The repeated hour is two hours.

Time zones are those of the IANA database, which is compiled in: every machine counts alike.
";

pub(crate) fn page() -> String {
    let mut out = String::from(HEAD);
    for chapter in chapters() {
        let _ = writeln!(out, "\n## {}\n\n{}", chapter.title, chapter.about);
        for section in &chapter.sections {
            write_section(&mut out, section);
        }
    }
    write_joined(&mut out);
    out
}

fn write_section(out: &mut String, section: &Section) {
    let leaf = &section.leaf;
    let (columns, figures) = columns(&leaf.check);
    let _ = writeln!(out, "\n### {leaf}\n\n| case | zone | {columns} | difference | fires | why |");
    let _ = writeln!(out, "|---|---|{}---|---|---|", "---|".repeat(columns.split('|').count()));
    for case in &section.cases {
        let verdict = case.verdict(leaf);
        let said = &verdict.leaves[0];
        let difference = said.difference.map(|difference| difference.to_string()).unwrap_or_default();
        let fires = if verdict.fires { "**yes**" } else { "no" };
        let (name, zone, figures) = (case.name, zone_of(case), figures(case, leaf));
        let _ = writeln!(out, "| {name} | {zone} | {figures} | {difference} | {fires} | {} |", said.reason);
    }
}

type Figures = fn(&Case, &Leaf) -> String;

/// The columns that matter for a check, and how they are filled.
fn columns(check: &Check) -> (&'static str, Figures) {
    match check {
        Check::Delta { .. } | Check::ChunkDelta { .. } => ("remembered | current", |case, _| {
            let calendar = case.calendar();
            format!("{} | {}", shown(case.last, &calendar), shown(case.current, &calendar))
        }),
        Check::Delay { .. } | Check::ChunkDelay { .. } => ("current | now | changes", |case, leaf| {
            let calendar = case.calendar();
            let next = case.verdict(leaf).next.map(|next| calendar.show(&next).to_string());
            let (current, now) = (shown(case.current, &calendar), shown(case.now, &calendar));
            format!("{current} | {now} | {}", next.unwrap_or_default())
        }),
        Check::RefDelay { .. } | Check::ChunkRefDelay { .. } => ("current | reference", |case, _| {
            let calendar = case.calendar();
            format!("{} | {}", shown(case.current, &calendar), shown(case.reference, &calendar))
        }),
    }
}

fn shown(text: &str, calendar: &Calendar) -> String {
    read(text, calendar).map(|value| calendar.show(&value).to_string()).unwrap_or_default()
}

fn zone_of(case: &Case) -> String {
    let mut zone = case.zone.to_owned();
    if case.week_start != Weekday::Monday {
        let _ = write!(zone, ", weeks from {:?}", case.week_start);
    }
    if case.day_offset != SignedDuration::ZERO {
        let _ = write!(zone, ", day offset {}", show_duration(case.day_offset));
    }
    zone
}

fn write_joined(out: &mut String) {
    let _ = writeln!(
        out,
        "\n## Several conditions\n\n`all` fires if every member holds, `any` if one does; of nothing, neither does. All conditions \
are always looked at, so that each can be explained. The explanations are those of 2021-04-25 at noon in Moscow. A plus stands before what holds."
    );
    let (calendar, now) = (Joined::calendar(), Joined::now());
    for case in joined() {
        let verdict = check(&case.trigger, &case.known, now, &calendar);
        let earliest = earliest(&case.trigger, &case.known, now, &calendar);
        let _ = writeln!(out, "\n### {}\n\nThe trigger: {}.\n\n```text", case.name, case.trigger);
        let _ = writeln!(out, "{}\n```\n", calendar.show(&verdict));
        let _ = writeln!(out, "Earliest: {}.", calendar.show(&earliest));
    }
}
