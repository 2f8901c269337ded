//! `torg topic list | create | append | tail`: manages topics and their messages.
//!
//! A store that a running `torg serve` has open can be reached only through that process. The
//! command opens the store itself if it can. Otherwise it asks the process at `--server`, or at the
//! configured address.

mod listing;

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Subcommand;
use serde_json::json;
use store::{Store, StoreUrl};
use topics::limits::{APPEND_BYTES_MAX, MESSAGE_BYTES_MAX};
use topics::{Description, Message, ReadLimit, Retention, TopicSpec, Topics};

use self::listing::{described, made_in_words, words};
use super::owner::require_own;
use super::remote::Place;
use super::topic_server::TopicServer;
use node::config::Config;
use node::parts::{open_topics, schema, store_error, topics_error, try_open_store};
use terminal::{AlwaysJson, counted, print_on, say};
use text::hex;

/// Maximum messages in one append of lines from stdin.
const APPEND_STEP: usize = 500;
/// Maximum bytes in one append. Each line may be sent twice: as key and as message.
const APPEND_STEP_BYTES: usize = APPEND_BYTES_MAX / 2 - MESSAGE_BYTES_MAX;
const READ_STEP: usize = 500;
/// How long one read waits at the end of a partition before the next partition is read.
const WAIT: Duration = Duration::from_millis(250);

/// What can be done with topics.
#[derive(Debug, Subcommand)]
pub(crate) enum TopicCommand {
    /// Lists the topics with their partitions.
    List {
        /// Prints a list of JSON objects instead of a table.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Makes a topic, or changes the retention of one.
    Create {
        /// Letters, digits, '.', '_' and '-'.
        name: String,
        /// How many parts it has, for ever.
        #[arg(long, value_name = "N", default_value_t = 16)]
        partitions: u32,
        /// Messages older than this are removed; 0 keeps them for ever. The default is
        /// `topics.retention_hours`. `topics.retention_mb` limits the size as well.
        #[arg(long, value_name = "H")]
        retention_hours: Option<u32>,
        /// Prints the topic as an object of JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Appends every line of stdin as a message, whatever its bytes are.
    Append {
        /// The topic.
        name: String,
        /// The key of the messages; without it each line is its own key.
        #[arg(long)]
        key: Option<String>,
        /// Prints how many were appended as an object of JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Prints messages as lines of JSON: those to come, or those that are there.
    Tail {
        /// The topic.
        name: String,
        /// From the oldest message on, instead of those to come.
        #[arg(long)]
        from_start: bool,
        /// Ends at the end of the log instead of waiting for more.
        #[arg(long)]
        no_follow: bool,
        /// Ends after so many messages.
        #[arg(long, value_name = "N")]
        limit: Option<u64>,
        /// Only this partition.
        #[arg(long, value_name = "N")]
        partition: Option<u32>,
        #[command(flatten)]
        json: AlwaysJson,
        #[command(flatten)]
        place: Place,
    },
}

/// How the topics are accessed.
enum Access {
    Own(Store, Topics),
    Server(Box<TopicServer>),
}

impl Access {
    /// Access for reading, which does not create a missing store.
    async fn to_read(place: Place, config: &Config) -> anyhow::Result<Access> {
        Access::open(place, config, false).await
    }

    /// Access for writing, which creates a missing store.
    async fn to_write(place: Place, config: &Config) -> anyhow::Result<Access> {
        Access::open(place, config, true).await
    }

    async fn open(place: Place, config: &Config, create: bool) -> anyhow::Result<Access> {
        if let Some(url) = &place.server {
            return Ok(Access::Server(Box::new(TopicServer::over(place.connect(url).await?))));
        }
        require_own(config.store.url.expose(), create)?;
        let store = match try_open_store(config, create).await {
            Ok(store) => store,
            // A running process has the store open.
            Err(error @ store::Error::Locked { .. }) => {
                let remote = place.connect_to_own(config, error).await?;
                return Ok(Access::Server(Box::new(TopicServer::over(remote))));
            }
            // Messages in Kafka can be read without a store.
            Err(store::Error::Missing { .. }) if config.topics.url.scheme() == "kafka" => {
                let tables = schema().map_err(store_error)?;
                let options = store::StoreOptions::default();
                Store::open(&StoreUrl::Memory, tables, &options).await.map_err(store_error)?
            }
            Err(error) => return Err(store_error(error)),
        };
        let topics = open_topics(config, &store).await?;
        Ok(Access::Own(store, topics))
    }

    async fn describe_all(&self) -> anyhow::Result<Vec<Description>> {
        match self {
            Access::Own(_, topics) => {
                let mut all = Vec::new();
                for spec in topics.list().await.map_err(topics_error)? {
                    all.push(topics.describe(&spec.name).await.map_err(topics_error)?);
                }
                Ok(all)
            }
            Access::Server(server) => server.describe_all().await,
        }
    }

    async fn describe(&self, name: &str) -> anyhow::Result<Description> {
        match self {
            Access::Own(_, topics) => topics.describe(name).await.map_err(topics_error),
            Access::Server(server) => {
                let found = server.describe_all().await?.into_iter().find(|topic| topic.spec.name == name);
                found.ok_or_else(|| topics_error(topics::Error::UnknownTopic { topic: name.to_owned() }))
            }
        }
    }

    async fn create(&self, spec: TopicSpec) -> anyhow::Result<()> {
        match self {
            Access::Own(_, topics) => topics.create(&spec).await.map_err(topics_error),
            Access::Server(server) => server.create(spec).await,
        }
    }

    async fn append(&self, name: &str, messages: Vec<Message>) -> anyhow::Result<()> {
        match self {
            Access::Own(_, topics) => topics.append(name, messages).await.map(|_| ()).map_err(topics_error),
            Access::Server(server) => server.append(name, messages).await,
        }
    }

    async fn read(
        &self,
        name: &str,
        partition: u32,
        offset: i64,
        wait: Duration,
    ) -> anyhow::Result<topics::Page> {
        match self {
            Access::Own(_, topics) => {
                let limit = ReadLimit::messages(READ_STEP).waiting(wait);
                topics.read(name, partition, offset, limit).await.map_err(topics_error)
            }
            Access::Server(server) => server.read(name, partition, offset, READ_STEP as u32, wait).await,
        }
    }

    async fn close(self) -> anyhow::Result<()> {
        if let Access::Own(store, topics) = self {
            topics.close().await.map_err(topics_error)?;
            store.close().await.map_err(store_error)?;
        }
        Ok(())
    }
}

pub(crate) async fn run(command: TopicCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        TopicCommand::List { json, place } => {
            let access = Access::to_read(place, config).await?;
            let done = list(&access, json).await;
            access.close().await.and(done)
        }
        TopicCommand::Create { name, partitions, retention_hours, json, place } => {
            let hours = retention_hours.unwrap_or(config.topics.retention_hours);
            let retention = retention(hours, config.topics.retention_mb, partitions);
            let spec = TopicSpec::new(name, partitions).retention(retention);
            let access = Access::to_write(place, config).await?;
            let done = create(&access, spec, json).await;
            access.close().await.and(done)
        }
        TopicCommand::Append { name, key, json, place } => {
            let access = Access::to_write(place, config).await?;
            let done = append(&access, &name, key.as_deref(), json).await;
            access.close().await.and(done)
        }
        TopicCommand::Tail { name, from_start, no_follow, limit, partition, json: _, place } => {
            let access = Access::to_read(place, config).await?;
            let tail = Tail { name, from_start, follow: !no_follow, left: limit, partition };
            let done = tail.run(&access).await;
            access.close().await.and(done)
        }
    }
}

/// The retention per partition of a topic; zeros keep everything.
pub(crate) fn retention(hours: u32, megabytes: u32, partitions: u32) -> Retention {
    let share = (u64::from(megabytes) << 20) / u64::from(partitions.max(1));
    Retention {
        time: (hours > 0).then(|| Duration::from_secs(u64::from(hours) * 3600)),
        bytes: (megabytes > 0).then_some(share),
    }
}

async fn list(access: &Access, as_json: bool) -> anyhow::Result<()> {
    let topics = access.describe_all().await?;
    let answer: Vec<_> = topics.iter().map(described).collect();
    say(as_json, &answer, || words(&topics))
}

async fn create(access: &Access, spec: TopicSpec, as_json: bool) -> anyhow::Result<()> {
    let name = spec.name.clone();
    access.create(spec).await?;
    let made = access.describe(&name).await?;
    say(as_json, &described(&made), || vec![made_in_words(&made)])
}

async fn append(access: &Access, name: &str, key: Option<&str>, as_json: bool) -> anyhow::Result<()> {
    let mut appended = 0;
    let done = append_lines(access, name, key, std::io::stdin().lock(), &mut appended).await;
    if appended == 0 {
        done?;
    } else {
        done.with_context(|| format!("after {} that were appended", counted(appended, "message")))?;
    }
    let answer = json!({ "topic": name, "appended": appended });
    say(as_json, &answer, || vec![format!("appended {}", counted(appended, "message"))])
}

/// Appends every line, and counts the appended messages.
async fn append_lines(
    access: &Access,
    name: &str,
    key: Option<&str>,
    mut input: impl BufRead,
    appended: &mut u64,
) -> anyhow::Result<()> {
    loop {
        let mut messages = Vec::new();
        // Append what was read before stdin failed.
        let read = read_lines(&mut input, APPEND_STEP, |line| {
            let key = key.map_or_else(|| line.clone(), |key| key.as_bytes().to_owned());
            messages.push(Message::new(key, line, now_ms()));
        });
        let count = messages.len() as u64;
        access.append(name, messages).await?;
        *appended += count;
        if !read.with_context(|| format!("line {} of stdin cannot be read", *appended + 1))? {
            return Ok(());
        }
    }
}

/// Reads up to `most` lines, or fewer if they are long, without their line ends. Returns `false` at
/// the end of the input.
fn read_lines(input: &mut impl BufRead, most: usize, mut take: impl FnMut(Vec<u8>)) -> std::io::Result<bool> {
    let mut bytes = 0;
    for _ in 0..most {
        let mut line = Vec::new();
        // The longest message plus its line end: do not wait for the end of a line that is too
        // long.
        let longest = MESSAGE_BYTES_MAX as u64 + 2;
        if input.take(longest).read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if line.len() as u64 == longest && !line.ends_with(b"\n") {
            let text = format!("it is longer than a message may be: {MESSAGE_BYTES_MAX} bytes");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, text));
        }
        for end in [b'\n', b'\r'] {
            if line.last() == Some(&end) {
                line.pop();
            } else {
                break;
            }
        }
        bytes += line.len();
        take(line);
        if bytes > APPEND_STEP_BYTES {
            break;
        }
    }
    Ok(true)
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64
}

struct Tail {
    name: String,
    from_start: bool,
    follow: bool,
    left: Option<u64>,
    partition: Option<u32>,
}

impl Tail {
    async fn run(mut self, access: &Access) -> anyhow::Result<()> {
        let description = access.describe(&self.name).await?;
        let count = description.spec.partitions;
        if let Some(partition) = self.partition.filter(|partition| *partition >= count) {
            let topic = self.name;
            return Err(topics_error(topics::Error::UnknownPartition {
                topic,
                partition,
                partitions: count,
            }));
        }
        let chosen =
            description.partitions.iter().filter(|info| self.partition.is_none_or(|p| p == info.partition));
        let mut offsets: BTreeMap<u32, i64> = chosen
            .map(|info| (info.partition, if self.from_start { info.first } else { info.end }))
            .collect();
        loop {
            let mut found = false;
            let waiting = if offsets.len() == 1 { WAIT * 4 } else { WAIT / offsets.len().max(1) as u32 };
            for (partition, offset) in &mut offsets {
                let wait = if self.follow { waiting } else { Duration::ZERO };
                let page = access.read(&self.name, *partition, *offset, wait).await?;
                found |= !page.messages.is_empty();
                *offset = page.next;
                if !self.print(*partition, &page)? {
                    return Ok(());
                }
            }
            if !found && !self.follow {
                return Ok(());
            }
        }
    }

    /// Prints a page. Returns `false` when no more messages are wanted.
    fn print(&mut self, partition: u32, page: &topics::Page) -> anyhow::Result<bool> {
        let most = self.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
        let lines: Vec<_> = page.messages.iter().take(most).map(|each| shown(partition, each)).collect();
        self.left = self.left.map(|left| left - lines.len() as u64);
        Ok(print_on(&lines)? && self.left != Some(0))
    }
}

fn shown(partition: u32, delivered: &topics::Delivered) -> serde_json::Value {
    let Message { key, headers, payload, time } = &delivered.message;
    let headers: Vec<_> = headers.iter().map(|(name, value)| json!([name, text(value)])).collect();
    json!({
        "partition": partition, "offset": delivered.offset, "time_ms": time,
        "key": text(key), "headers": headers, "payload": text(payload),
    })
}

/// UTF-8 text unchanged, other bytes in hexadecimal.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("0x{}", hex(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_as_bytes_without_what_ends_them() {
        let mut taken = Vec::new();
        let mut input = &b"one\r\n\xff\xfe\n\nlast\r"[..];
        assert!(read_lines(&mut input, 2, |line| taken.push(line)).unwrap());
        assert!(!read_lines(&mut input, 9, |line| taken.push(line)).unwrap());
        assert_eq!(taken, [&b"one"[..], b"\xff\xfe", b"", b"last\r"]);
    }

    #[test]
    fn long_lines_are_taken_a_few_at_a_time_and_endless_ones_are_refused() {
        let long = [vec![b'x'; MESSAGE_BYTES_MAX], b"\r\n".to_vec()].concat().repeat(9);
        let (mut taken, mut input) = (Vec::new(), &*long);
        assert!(read_lines(&mut input, 9, |line| taken.push(line.len())).unwrap());
        assert!(taken.len() < 9 && 2 * taken.iter().sum::<usize>() <= APPEND_BYTES_MAX, "{}", taken.len());
        assert!(taken.iter().all(|bytes| *bytes == MESSAGE_BYTES_MAX));
        let endless = vec![b'x'; MESSAGE_BYTES_MAX + 2];
        let refused = read_lines(&mut &*endless, 9, |_| panic!("it was taken")).unwrap_err();
        assert!(refused.to_string().contains("longer than a message may be"), "{refused}");
    }

    #[test]
    fn the_size_of_a_topic_is_shared_by_its_partitions_and_zeros_keep_everything() {
        assert_eq!(retention(0, 0, 16), Retention::FOREVER);
        assert_eq!(retention(0, 64, 16), Retention::of_bytes(4 << 20));
        assert_eq!(retention(2, 0, 1), Retention::of_time(Duration::from_secs(7200)));
    }
}
