//! Topics: their partitions, how far they go, and their last messages.

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
use crate::layout::Place;
use crate::routes::Console;
use crate::services::methods::{GET_FIGURES, LIST_TOPICS, READ_MESSAGES};
use crate::services::{Failure, Kind};
use crate::view::{amount, bytes, cut, empty, length, moment, number, part, path, plot, query, table};
use crate::visit::Visit;

/// How many of the last messages are shown.
const TAIL: i64 = 20;
/// Letters of a message that are seen before it is unfolded.
const FOLDED_CHARS_MAX: usize = 160;
/// The figure of how far a reader is behind.
const LAG: &str = "topic_lag_messages";

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/topics", get(list)).route("/console/topics/{topic}", get(show))
}

async fn list(visit: Visit) -> Response {
    let (topics_asked, figures_asked) = (
        ListTopicsRequest::default(),
        GetFiguresRequest { prefix: "topic_".to_owned(), ..Default::default() },
    );
    let (answer, figures) =
        tokio::join!(visit.call(LIST_TOPICS, &topics_asked), visit.call(GET_FIGURES, &figures_asked));
    let body = answer.map(|answer| {
        html! {
            div data-live #topics { (topics(&visit, &answer)) }
            h2 { (visit.t("Who reads how far behind")) }
            div data-live #readers { (part(&visit, &figures, |figures| readers(&visit, figures))) }
        }
    });
    visit.page(Place::Topics, visit.t("Topics"), body)
}

fn topics(visit: &Visit, answer: &ListTopicsResponse) -> Markup {
    if answer.topics.is_empty() {
        return empty(visit.t("There are no topics."));
    }
    let head = html! {
        th scope="col" { (visit.t("Topic")) }
        th.n scope="col" { (visit.t("Partitions")) }
        th.n scope="col" { (visit.t("Messages")) }
        th.n scope="col" { (visit.t("Size")) }
        th scope="col" { (visit.t("Kept for")) }
    };
    table(
        visit.t("Topics"),
        &head,
        &html! {
            @for topic in &answer.topics {
                tr {
                    th scope="row" { a href=(path(&["topics", &topic.name])) { (topic.name) } }
                    td.n { a href=(path(&["topics", &topic.name])) { (topic.partition_count) } }
                    td.n { a href={ (path(&["topics", &topic.name])) "#messages" } { (number(topic.partitions.iter().map(messages).sum())) } }
                    td.n { a href={ (path(&["topics", &topic.name])) "#messages" } { (size(topic)) } }
                    td { (kept(visit, topic)) }
                }
            }
        },
    )
}

/// Readers inside of Torg: how many messages each has before it.
fn readers(visit: &Visit, answer: &GetFiguresResponse) -> Markup {
    let lags: Vec<&Figure> = answer.figures.iter().filter(|figure| figure.name == LAG).collect();
    if lags.is_empty() {
        return empty(visit.t("This process knows of no readers: others keep their own offsets."));
    }
    let of = |figure: &Figure, label: &str| figure.labels.get(label).cloned().unwrap_or_default();
    let head = html! {
        th scope="col" { (visit.t("Topic")) }
        th scope="col" { (visit.t("Reader")) }
        th.n scope="col" { (visit.t("Messages behind")) }
        th scope="col" { (visit.t("Over time")) }
    };
    table(
        visit.t("Who reads how far behind"),
        &head,
        &html! {
            @for figure in lags {
                tr {
                    th scope="row" { a href=(path(&["topics", &of(figure, "topic")])) { (of(figure, "topic")) } }
                    td { (of(figure, "consumer")) }
                    td.n { a href={ (path(&["topics", &of(figure, "topic")])) "#messages" } { (amount(figure.now)) } }
                    td { (plot(&of(figure, "topic"), &figure.past)) }
                }
            }
        },
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
    if both.is_empty() { visit.t("for ever").to_owned() } else { both.join(", ") }
}

#[derive(Debug, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    partition: u32,
    /// Where to begin; the end if it is left out, or is no number.
    #[serde(default)]
    offset: String,
}

async fn show(visit: Visit, Path(name): Path<String>, Query(asked): Query<Asked>) -> Response {
    let body = one(&visit, &name, &asked).await;
    visit.page(Place::Topics, &visit.f("Topic {0}", &[&name]), body)
}

async fn one(visit: &Visit, name: &str, asked: &Asked) -> Result<Markup, Failure> {
    let answer = visit.call(LIST_TOPICS, &ListTopicsRequest::default()).await?;
    let topic = answer.topics.iter().find(|topic| topic.name == name);
    let topic =
        topic.ok_or_else(|| Failure::new(Kind::NotFound, visit.t("There is no topic of this name.")))?;
    let partition = topic.partitions.iter().find(|partition| partition.partition == asked.partition);
    let first = match (asked.offset.trim().parse(), partition) {
        (Ok(offset), _) => offset,
        (Err(_), Some(partition)) => partition.first_offset.max(partition.end_offset - TAIL),
        (Err(_), None) => 0,
    };
    let request = ReadMessagesRequest {
        topic: name.to_owned(),
        partition: asked.partition,
        offset: first,
        limit: TAIL as u32,
        ..ReadMessagesRequest::default()
    };
    let figures = GetFiguresRequest { prefix: LAG.to_owned(), ..GetFiguresRequest::default() };
    let (read, figures) =
        tokio::join!(visit.call(READ_MESSAGES, &request), visit.call(GET_FIGURES, &figures));
    let figures = figures.map(|mut answer| {
        answer.figures.retain(|figure| figure.labels.get("topic").is_some_and(|topic| topic == name));
        answer
    });
    Ok(html! {
        div data-live #partitions { (partitions(visit, topic, asked.partition)) }
        h2 { (visit.t("Who reads how far behind")) }
        div data-live #readers { (part(visit, &figures, |figures| readers(visit, figures))) }
        h2 { (visit.f("Messages of partition {0}", &[&asked.partition])) }
        form.inline method="get" action=(path(&["topics", name])) {
            input type="hidden" name="partition" value=(asked.partition);
            label for="offset" {
                (visit.t("From the offset"))
                input #offset name="offset" type="number" min="0" value=(first);
            }
            button { (visit.t("Show")) }
            a.button href={ (path(&["topics", name])) "?partition=" (asked.partition) } { (visit.t("The newest")) }
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

/// Says that fewer messages than usual are shown, though there are more: they are large.
fn short_of_the_end(visit: &Visit, read: &ReadMessagesResponse, partition: &Partition) -> Markup {
    let shown = read.messages.len();
    let is_short = (1..TAIL as usize).contains(&shown) && read.next_offset < partition.end_offset;
    html! {
        @if is_short { p.hint { (visit.f("These messages are large: {0} are shown at a time, and newer ones follow.", &[&shown])) } }
    }
}

/// Leads to the messages from a place on.
fn at(topic: &str, partition: u32, offset: i64) -> String {
    let (partition, offset) = (partition.to_string(), offset.to_string());
    let query = query(&[("partition", &partition), ("offset", &offset)]);
    format!("{}{query}#messages", path(&["topics", topic]))
}

/// Leads to the messages before and behind those that are shown. `next` is where the answer ended: large messages come fewer at a time.
fn around(visit: &Visit, topic: &str, partition: &Partition, first: i64, next: i64) -> Markup {
    let to = |offset: i64| at(topic, partition.partition, offset);
    let older = first.saturating_sub(TAIL).max(partition.first_offset);
    // Also past a place that has nothing to read any more.
    let newer = if next > first { next } else { first.saturating_add(TAIL) };
    html! {
        nav.pages aria-label=(visit.t("Pages of the list")) {
            @if older < first { a.button href=(to(older)) { (visit.t("Older")) } }
            @if newer < partition.end_offset { a.button href=(to(newer)) { (visit.t("Newer")) } }
        }
    }
}

fn partitions(visit: &Visit, topic: &Topic, chosen: u32) -> Markup {
    let head = html! {
        th.n scope="col" { (visit.t("Partition")) }
        th.n scope="col" { (visit.t("First offset")) }
        th.n scope="col" { (visit.t("Next offset")) }
        th.n scope="col" { (visit.t("Messages")) }
        th.n scope="col" { (visit.t("Size")) }
    };
    table(
        visit.t("Partitions"),
        &head,
        &html! {
            @for partition in &topic.partitions {
                tr {
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
                }
            }
        },
    )
}

fn tail(visit: &Visit, topic: &str, messages: &[Message], behind_the_end: bool) -> Markup {
    if messages.is_empty() && behind_the_end {
        return empty(visit.t("There is no message yet from this offset on."));
    }
    if messages.is_empty() {
        return empty(visit.t("No messages here yet, or none any more: retention has removed them."));
    }
    let head = html! {
        th.n scope="col" { (visit.t("Offset")) }
        th scope="col" { (visit.t("When")) }
        th scope="col" { (visit.t("Key")) }
        th scope="col" { (visit.t("Headers")) }
        th.n scope="col" { (visit.t("Size")) }
        th scope="col" { (visit.t("Content")) }
    };
    table(
        visit.t("Messages"),
        &head,
        &html! {
            @for message in messages.iter().rev() {
                tr {
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
                                summary { (text::shortened(&readable(&message.payload), FOLDED_CHARS_MAX)) }
                                pre tabindex="0" { (text) }
                            }
                        } @else { (cut(&readable(&message.payload))) }
                    }
                }
            }
        },
    )
}

/// The letters among some bytes; what lies between them is one dot.
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
