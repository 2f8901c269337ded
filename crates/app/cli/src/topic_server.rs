//! A client for the topics of a running process, through its RPC port.

use std::time::Duration;

use connectrpc::{ConnectError, ErrorCode};
use topics::{Delivered, Description, Message, Page, PartitionInfo, Retention, TopicSpec};

use super::remote::{Remote, said};
use node::server::{message_from_wire, message_to_wire};
use terminal::errors::advised;
use wire::torg::topics::v1 as proto;

pub(super) struct TopicServer {
    client: proto::TopicServiceClient,
}

impl TopicServer {
    pub(super) fn over(Remote { connection, config }: Remote) -> TopicServer {
        TopicServer { client: proto::TopicServiceClient::new(connection, config) }
    }

    pub(super) async fn describe_all(&self) -> anyhow::Result<Vec<Description>> {
        self.list().await.map_err(|error| told(&error))
    }

    /// Returns the RPC error unchanged, for callers that inspect it.
    pub(super) async fn list(&self) -> Result<Vec<Description>, ConnectError> {
        let answer = self.client.list_topics(proto::ListTopicsRequest::default()).await?;
        Ok(answer.topics.into_iter().map(description).collect())
    }

    pub(super) async fn create(&self, spec: TopicSpec) -> anyhow::Result<()> {
        let topic = proto::Topic {
            name: spec.name,
            partition_count: spec.partitions,
            retention_ms: spec.retention.time.map_or(0, |time| time.as_millis() as i64),
            retention_bytes: spec.retention.bytes.unwrap_or(0),
            ..Default::default()
        };
        let request = proto::CreateTopicRequest { topic: topic.into(), ..Default::default() };
        self.client.create_topic(request).await.map(|_| ()).map_err(|error| told(&error))
    }

    pub(super) async fn append(&self, topic: &str, messages: Vec<Message>) -> anyhow::Result<()> {
        let messages = messages.into_iter().map(message_to_wire).collect();
        let request =
            proto::AppendMessagesRequest { topic: topic.to_owned(), messages, ..Default::default() };
        self.client.append_messages(request).await.map(|_| ()).map_err(|error| told(&error))
    }

    pub(super) async fn read(
        &self,
        topic: &str,
        partition: u32,
        offset: i64,
        limit: u32,
        wait: Duration,
    ) -> anyhow::Result<Page> {
        let request = proto::ReadMessagesRequest {
            topic: topic.to_owned(),
            partition,
            offset,
            limit,
            wait_ms: wait.as_millis() as u32,
            ..Default::default()
        };
        let answer = self.client.read_messages(request).await.map_err(|error| told(&error))?;
        let delivered = |message: proto::Message| Delivered {
            offset: message.offset,
            message: message_from_wire(message, 0),
        };
        Ok(Page { messages: answer.messages.into_iter().map(delivered).collect(), next: answer.next_offset })
    }
}

/// Converts a server error into an error with a hint for the command line.
fn told(error: &ConnectError) -> anyhow::Error {
    match error.code {
        ErrorCode::NotFound => advised(
            said(error),
            "`torg topic list` shows the topics that there are, `torg topic create` makes others",
        ),
        ErrorCode::InvalidArgument => advised(said(error), "`torg topic create --help` says what can be"),
        _ => said(error),
    }
}

fn description(topic: proto::Topic) -> Description {
    let time = u64::try_from(topic.retention_ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis);
    let retention = Retention { time, bytes: (topic.retention_bytes > 0).then_some(topic.retention_bytes) };
    let partition = |info: proto::Partition| PartitionInfo {
        partition: info.partition,
        first: info.first_offset,
        end: info.end_offset,
        bytes: info.bytes,
    };
    Description {
        spec: TopicSpec::new(topic.name, topic.partition_count).retention(retention),
        partitions: topic.partitions.into_iter().map(partition).collect(),
    }
}
