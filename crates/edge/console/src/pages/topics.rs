//! Topics: partitions, offsets, last messages.

mod meaning;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::admin::v1::{Figure, GetFiguresRequest, GetFiguresResponse};
use wire::torg::topics::v1::{
    ListTopicsRequest, ListTopicsResponse, Message, Partition, ReadMessagesRequest, ReadMessagesResponse,
    Topic,
};

use crate::address::{Path, Query};
use crate::language::w;
use crate::layout::Section;
use crate::routes::Console;
use crate::services::{Failure, Kind};
use crate::view::{
    amount, bytes, columns, cut, cut_at, length, moment, number, part, path, plot, query, table,
};
use crate::visit::Visit;

/// Messages shown.
const TAIL: i64 = 20;
/// Characters of a folded message.
const FOLDED_CHARS_MAX: usize = 160;
/// The figure with the lag of a consumer.
const LAG: &str = "topic_lag_messages";

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/topics", get(list)).route("/console/topics/{topic}", get(show))
}

async fn list(visit: Visit) -> Response {
    let (topics_asked, figures_asked) = (
        ListTopicsRequest::default(),
        GetFiguresRequest { prefix: "topic_".to_owned(), ..Default::default() },
    );
    let (answer, figures) = tokio::join!(visit.call(&topics_asked), visit.call(&figures_asked));
    let body = answer.map(|answer| {
        html! {
            div data-live #topics { (topics(&visit, &answer)) }
            h2 { (visit.t("Consumer lag")) }
            div data-live #readers { (part(&visit, &figures, |figures| readers(&visit, figures))) }
        }
    });
    visit.page(Section::Topics, visit.t("Topics"), body)
}

fn topics(visit: &Visit, answer: &ListTopicsResponse) -> Markup {
    let columns = columns![
        text "Topic", number "Partitions", number "Messages", number "Size", text "Retention",
    ];
    let rows = answer.topics.iter().map(|topic| html! {
        th scope="row" { a href=(path(&["topics", &topic.name])) { (topic.name) } }
        td.n { a href=(path(&["topics", &topic.name])) { (topic.partition_count) } }
        td.n { a href={ (path(&["topics", &topic.name])) "#messages" } { (number(topic.partitions.iter().map(messages).sum())) } }
        td.n { a href={ (path(&["topics", &topic.name])) "#messages" } { (size(topic)) } }
        td { (kept(visit, topic)) }
    });
    table(visit, visit.t("Topics"), &columns, visit.t("There are no topics."), rows)
}

/// Torg's own consumers and their lag.
fn readers(visit: &Visit, answer: &GetFiguresResponse) -> Markup {
    let lags: Vec<&Figure> = answer.figures.iter().filter(|figure| figure.name == LAG).collect();
    let of = |figure: &Figure, label: &str| figure.labels.get(label).cloned().unwrap_or_default();
    let columns = columns![text "Topic", text "Consumer", number "Messages behind", text "Over time"];
    let rows = lags.iter().map(|figure| {
        html! {
            th scope="row" { a href=(path(&["topics", &of(figure, "topic")])) { (of(figure, "topic")) } }
            td { (of(figure, "consumer")) }
            td.n { a href={ (path(&["topics", &of(figure, "topic")])) "#messages" } { (amount(figure.now)) } }
            td { (plot(&of(figure, "topic"), &figure.past)) }
        }
    });
    table(
        visit,
        visit.t("Consumer lag"),
        &columns,
        visit.t("This process knows no consumers: others keep their own offsets."),
        rows,
    )
}

fn messages(partition: &Partition) -> u64 {
    partition.end_offset.saturating_sub(partition.first_offset).max(0).unsigned_abs()
}

fn size(topic: &Topic) -> String {
    let known: Option<u64> = topic.partitions.iter().map(|partition| partition.bytes).sum();
    known.map_or_else(|| "–".to_owned(), bytes)
}

fn kept(visit: &Visit, topic: &Topic) -> String {
    let time = (topic.retention_ms > 0).then(|| length(visit, topic.retention_ms as f64 / 1000.0));
    let most = (topic.retention_bytes > 0)
        .then(|| visit.f("up to {0} a partition", &[&bytes(topic.retention_bytes)]));
    let both: Vec<String> = time.into_iter().chain(most).collect();
    if both.is_empty() { visit.t("forever").to_owned() } else { both.join(", ") }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params {
    partition: u32,
    /// The first offset to show; the end if it is missing or not a number.
    offset: String,
}

async fn show(visit: Visit, Path(name): Path<String>, Query(params): Query<Params>) -> Response {
    let body = one(&visit, &name, &params).await;
    visit.page(Section::Topics, &visit.f("Topic {0}", &[&name]), body)
}

async fn one(visit: &Visit, name: &str, params: &Params) -> Result<Markup, Failure> {
    let answer = visit.call(&ListTopicsRequest::default()).await?;
    let topic = answer.topics.iter().find(|topic| topic.name == name);
    let topic =
        topic.ok_or_else(|| Failure::new(Kind::NotFound, visit.t("There is no topic with this name.")))?;
    let partition = topic.partitions.iter().find(|partition| partition.partition == params.partition);
    let first = match (params.offset.trim().parse(), partition) {
        (Ok(offset), _) => offset,
        (Err(_), Some(partition)) => partition.first_offset.max(partition.end_offset - TAIL),
        (Err(_), None) => 0,
    };
    let request = ReadMessagesRequest {
        topic: name.to_owned(),
        partition: params.partition,
        offset: first,
        limit: TAIL as u32,
        ..Default::default()
    };
    let figures = GetFiguresRequest { prefix: LAG.to_owned(), ..Default::default() };
    let (read, figures) = tokio::join!(visit.call(&request), visit.call(&figures));
    let figures = figures.map(|mut answer| {
        answer.figures.retain(|figure| figure.labels.get("topic").is_some_and(|topic| topic == name));
        answer
    });
    Ok(html! {
        div data-live #partitions { (partitions(visit, topic, params.partition)) }
        h2 { (visit.t("Consumer lag")) }
        div data-live #readers { (part(visit, &figures, |figures| readers(visit, figures))) }
        h2 { (visit.f("Messages of partition {0}", &[&params.partition])) }
        form.inline method="get" action=(path(&["topics", name])) {
            input type="hidden" name="partition" value=(params.partition);
            label for="offset" { (visit.t("From the offset")) input #offset name="offset" type="number" min="0" value=(first); }
            button { (visit.t("Show")) }
            a.button href={ (path(&["topics", name])) "?partition=" (params.partition) } { (visit.t("The newest")) }
        }
        div data-live #messages {
            @if let (Ok(read), Some(partition)) = (&read, partition) { (short_of_the_end(visit, read, partition)) }
            (part(visit, &read, |read| tail(visit, name, &read.messages, partition.is_some_and(|known| first >= known.end_offset))))
        }
        @if let Some(partition) = partition {
            (around(visit, name, partition, first, read.as_ref().map_or(first, |read| read.next_offset)))
        }
    })
}

/// A hint that large messages are shown in smaller portions.
fn short_of_the_end(visit: &Visit, read: &ReadMessagesResponse, partition: &Partition) -> Markup {
    let shown = read.messages.len();
    let is_short = (1..TAIL as usize).contains(&shown) && read.next_offset < partition.end_offset;
    html! {
        @if is_short { p.hint { (visit.f("These messages are large: {0} are shown at a time, and newer ones follow.", &[&shown])) } }
    }
}

fn at(topic: &str, partition: u32, offset: i64) -> String {
    let (partition, offset) = (partition.to_string(), offset.to_string());
    let query = query(&[("partition", &partition), ("offset", &offset)]);
    format!("{}{query}#messages", path(&["topics", topic]))
}

/// Links to older and newer messages. `next` is the offset after the answer, which may be short for
/// large messages.
fn around(visit: &Visit, topic: &str, partition: &Partition, first: i64, next: i64) -> Markup {
    let to = |offset: i64| at(topic, partition.partition, offset);
    let older = first.saturating_sub(TAIL).max(partition.first_offset);
    // Skips a range without messages.
    let newer = if next > first { next } else { first.saturating_add(TAIL) };
    html! {
        nav.pages aria-label=(visit.t("Pages of the list")) {
            @if older < first { a.button href=(to(older)) { (visit.t("Older")) } }
            @if newer < partition.end_offset { a.button href=(to(newer)) { (visit.t("Newer")) } }
        }
    }
}

fn partitions(visit: &Visit, topic: &Topic, chosen: u32) -> Markup {
    let columns = columns![
        number "Partition", number "First offset", number "Next offset", number "Messages",
        number "Size",
    ];
    let rows = topic.partitions.iter().map(|partition| html! {
        th.n scope="row" {
            a href={ (path(&["topics", &topic.name])) "?partition=" (partition.partition) }
                aria-current=[(partition.partition == chosen).then_some("true")] { (partition.partition) }
        }
        td.n { a href=(at(&topic.name, partition.partition, partition.first_offset)) { (partition.first_offset) } }
        td.n { a href=(at(&topic.name, partition.partition, partition.end_offset)) { (partition.end_offset) } }
        td.n { a href={ (path(&["topics", &topic.name])) "?partition=" (partition.partition) "#messages" } { (number(messages(partition))) } }
        td.n {
            @if let Some(size) = partition.bytes {
                a href=(at(&topic.name, partition.partition, partition.first_offset)) { (bytes(size)) }
            } @else { "–" }
        }
    });
    table(visit, visit.t("Partitions"), &columns, "", rows)
}

fn tail(visit: &Visit, topic: &str, messages: &[Message], behind_the_end: bool) -> Markup {
    let none = if behind_the_end {
        w("No messages from this offset on yet.")
    } else {
        w("No messages here: none yet, or removed by retention.")
    };
    let columns = columns![
        number "Offset", text "When", text "Key", text "Headers", number "Size", text "Content",
    ];
    let rows = messages.iter().rev().map(|message| {
        html! {
            td.n { (message.offset) }
            td { (moment(message.time.as_option())) }
            td.code { (cut(&readable(&message.key))) }
            td.code.headers {
                @for header in &message.headers { (header.name) "=" (cut(&readable(&header.value))) br; }
            }
            td.n { (bytes(message.payload.len() as u64)) }
            td.wide.most.code {
                @if let Some(text) = meaning::meaning(topic, &message.payload) {
                    details id={ "message-" (message.offset) } {
                        summary { (cut_at(&readable(&message.payload), FOLDED_CHARS_MAX)) }
                        pre tabindex="0" { (text) }
                    }
                } @else { (cut(&readable(&message.payload))) }
            }
        }
    });
    table(visit, visit.t("Messages"), &columns, visit.t(none), rows)
}

/// Printable characters of some bytes; a run of others becomes one dot.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for letter in String::from_utf8_lossy(bytes).chars() {
        if !letter.is_control() && letter != '\u{fffd}' {
            text.push(letter);
        } else if !text.ends_with('·') {
            text.push('·');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_binary_message_the_letters_are_shown() {
        assert_eq!(readable(b"\x0a\x05Sofas\x10\xff\x01red"), "·Sofas·red");
        assert_eq!(readable("вид".as_bytes()), "вид");
    }
}
