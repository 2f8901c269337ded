//! Implements `torg.topics.v1.TopicService`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::topics::{self, Description, Message, ReadLimit, Retention, TopicSpec, Topics};
use access::Action;
use connectrpc::{ConnectError, RequestContext, Response, ServiceResult};
use offers::time::{from_time, is_possible};
use watcher::Time;

use super::callers::require;
use wire::torg::topics::v1 as proto;

/// The longest wait of a read, below the idle timeouts of load balancers.
const WAIT_MAX: Duration = Duration::from_secs(30);
const READ_MESSAGES_DEFAULT: u32 = 1000;

pub(super) struct TopicsRpc {
    topics: Topics,
    /// The topic of changes, which clients cannot write to.
    changes: String,
}

impl TopicsRpc {
    /// `changes` names the topic of changes. Clients cannot publish to it, because it records what
    /// happened.
    pub(super) fn new(topics: Topics, changes: String) -> TopicsRpc {
        TopicsRpc { topics, changes }
    }
}

impl proto::TopicService for TopicsRpc {
    async fn create_topic(
        &self,
        context: RequestContext,
        request: proto::CreateTopicRequest,
    ) -> ServiceResult<proto::CreateTopicResponse> {
        require(&context, Action::UseTopics)?;
        let topic =
            request.topic.into_option().ok_or_else(|| ConnectError::invalid_argument("topic is missing"))?;
        let time = u64::try_from(topic.retention_ms)
            .map_err(|_| ConnectError::invalid_argument("topic.retention_ms is negative"))?;
        let retention = Retention {
            time: (time > 0).then(|| Duration::from_millis(time)),
            bytes: (topic.retention_bytes > 0).then_some(topic.retention_bytes),
        };
        let spec = TopicSpec::new(topic.name, topic.partition_count).retention(retention);
        self.topics.create(&spec).await.map_err(|error| rpc_error(&error))?;
        let description = self.topics.describe(&spec.name).await.map_err(|error| rpc_error(&error))?;
        Response::ok(proto::CreateTopicResponse {
            topic: wire_topic(description).into(),
            ..Default::default()
        })
    }

    async fn list_topics(
        &self,
        context: RequestContext,
        _request: proto::ListTopicsRequest,
    ) -> ServiceResult<proto::ListTopicsResponse> {
        require(&context, Action::UseTopics)?;
        let mut topics = Vec::new();
        for spec in self.topics.list().await.map_err(|error| rpc_error(&error))? {
            let description = self.topics.describe(&spec.name).await.map_err(|error| rpc_error(&error))?;
            topics.push(wire_topic(description));
        }
        Response::ok(proto::ListTopicsResponse { topics, ..Default::default() })
    }

    async fn append_messages(
        &self,
        context: RequestContext,
        request: proto::AppendMessagesRequest,
    ) -> ServiceResult<proto::AppendMessagesResponse> {
        require(&context, Action::UseTopics)?;
        if request.topic == self.changes {
            let why = format!("the topic {:?} is written by Torg alone", self.changes);
            return Err(ConnectError::permission_denied(why));
        }
        let now = now_ms();
        for (number, message) in request.messages.iter().enumerate() {
            if message.time.as_option().is_some_and(|time| !is_possible(time)) {
                let why =
                    format!("messages[{number}].time: outside the years 1 to 9999, or too many nanoseconds");
                return Err(ConnectError::invalid_argument(why));
            }
        }
        let messages = request.messages.into_iter().map(|message| message_from_wire(message, now)).collect();
        let places = self.topics.append(&request.topic, messages).await.map_err(|error| rpc_error(&error))?;
        let position = |place: topics::MessageId| proto::Position {
            partition: place.partition,
            offset: place.offset,
            ..Default::default()
        };
        let positions = places.into_iter().map(position).collect();
        Response::ok(proto::AppendMessagesResponse { positions, ..Default::default() })
    }

    async fn read_messages(
        &self,
        context: RequestContext,
        request: proto::ReadMessagesRequest,
    ) -> ServiceResult<proto::ReadMessagesResponse> {
        require(&context, Action::UseTopics)?;
        let limit = if request.limit == 0 { READ_MESSAGES_DEFAULT } else { request.limit };
        let wait = Duration::from_millis(request.wait_ms.into()).min(WAIT_MAX);
        let limit = ReadLimit::messages(limit as usize).waiting(wait);
        let page = self.topics.read(&request.topic, request.partition, request.offset, limit).await;
        let page = page.map_err(|error| rpc_error(&error))?;
        let placed = |delivered: topics::Delivered| proto::Message {
            partition: request.partition,
            offset: delivered.offset,
            ..message_to_wire(delivered.message)
        };
        let messages = page.messages.into_iter().map(placed).collect();
        Response::ok(proto::ReadMessagesResponse { messages, next_offset: page.next, ..Default::default() })
    }
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Decodes a message. One without a time gets `now`.
pub fn message_from_wire(message: proto::Message, now: i64) -> Message {
    let time = message.time.into_option().map_or(now, |time| {
        time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos) / 1_000_000)
    });
    let headers = message.headers.into_iter().map(|header| (header.name, header.value.into())).collect();
    Message { key: message.key.into(), headers, payload: message.payload.into(), time }
}

/// Encodes a message without its position.
pub fn message_to_wire(message: Message) -> proto::Message {
    let header = |(name, value): (String, bytes::Bytes)| proto::Header {
        name,
        value: value.into(),
        ..Default::default()
    };
    let time = from_time(Time::from_ms(message.time));
    proto::Message {
        key: message.key.into(),
        headers: message.headers.into_iter().map(header).collect(),
        payload: message.payload.into(),
        time: time.into(),
        ..Default::default()
    }
}

fn wire_topic(Description { spec, partitions }: Description) -> proto::Topic {
    let partition = |info: topics::PartitionInfo| proto::Partition {
        partition: info.partition,
        first_offset: info.first,
        end_offset: info.end,
        bytes: info.bytes,
        ..Default::default()
    };
    let time = spec.retention.time.map_or(0, |time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
    proto::Topic {
        name: spec.name,
        partition_count: spec.partitions,
        retention_ms: time,
        retention_bytes: spec.retention.bytes.unwrap_or(0),
        partitions: partitions.into_iter().map(partition).collect(),
        ..Default::default()
    }
}

fn rpc_error(error: &topics::Error) -> ConnectError {
    use topics::Error as E;
    let message = error.to_string();
    match error {
        E::BadName { .. } | E::BadPartitions { .. } | E::BadMessage { .. } | E::TooLarge { .. } => {
            ConnectError::invalid_argument(message)
        }
        E::UnknownTopic { .. } | E::UnknownPartition { .. } => ConnectError::not_found(message),
        E::PartitionsDiffer { .. } => ConnectError::failed_precondition(message),
        E::OffsetOutOfRange { .. } => ConnectError::out_of_range(message),
        E::Closed => ConnectError::unavailable(message),
        error if error.is_passing() => ConnectError::unavailable(message),
        _ => ConnectError::internal(message),
    }
}
