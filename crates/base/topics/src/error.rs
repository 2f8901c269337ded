//! What can go wrong, and what to do about it.

/// The error of the topics.
///
/// An error from [`append`](crate::Topics::append) means that not all messages were acknowledged. In the store, none of
/// them is in the log then (but see [`store::Error::Unresolved`]); in Kafka, some may be.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields hold in its message")]
pub enum Error {
    /// A topic's or consumer's name breaks the rules.
    #[error("{name:?} cannot be the name of a {what}: {reason}")]
    BadName { what: &'static str, name: String, reason: &'static str },
    /// A topic with no partitions, or too many.
    #[error("topic {topic} cannot have {partitions} partitions; between 1 and {max} are allowed")]
    BadPartitions { topic: String, partitions: u32, max: u32 },
    /// No such topic was created.
    #[error("there is no topic {topic}")]
    UnknownTopic { topic: String },
    /// The topic has fewer partitions.
    #[error("topic {topic} has {partitions} partitions, there is no partition {partition}")]
    UnknownPartition { topic: String, partition: u32, partitions: u32 },
    /// The number of partitions is fixed when a topic is created.
    #[error("topic {topic} has {existing} partitions, which cannot become {wanted}")]
    PartitionsDiffer { topic: String, existing: u32, wanted: u32 },
    /// The offset was trimmed away (it is below `first`), or nothing was appended there yet (it is above `end`).
    #[error("topic {topic}, partition {partition} holds offsets from {first} to {end}, not {offset}")]
    OffsetOutOfRange { topic: String, partition: u32, offset: i64, first: i64, end: i64 },
    /// A message cannot be kept.
    #[error("a message for topic {topic} cannot be kept: {reason}")]
    BadMessage { topic: String, reason: &'static str },
    /// A message or an append is too large.
    #[error("{what} for topic {topic} has {count} {unit}; at most {max} are allowed")]
    TooLarge { what: &'static str, topic: String, count: usize, unit: &'static str, max: usize },
    /// A stored message is not what was written.
    #[error("topic {topic}, partition {partition}: the message at offset {offset} is damaged: {detail}")]
    DamagedMessage { topic: String, partition: u32, offset: i64, detail: &'static str },
    /// Another row of the topics is not what was written.
    #[error("damaged row {key}: {detail}")]
    DamagedRow { key: String, detail: &'static str },
    /// Other processes append to the same partitions so fast that this one never got its turn. Nothing was appended.
    #[error("topic {topic}: other writers were faster {attempts} times")]
    Contended { topic: String, attempts: u32 },
    /// The store's error.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Kafka cannot be reached (any more), or did not answer in time.
    #[error("Kafka cannot be reached: {detail}")]
    Unavailable { detail: String },
    /// Kafka was reached and refused: wrong password, unknown certificate, missing rights.
    #[error("Kafka refuses: {detail}")]
    Refused { detail: String },
    /// The address of the topics cannot be understood.
    #[error("cannot understand the topics address {url:?}: {reason}")]
    BadUrl { url: String, reason: &'static str },
    /// A setting of the Kafka client has no meaning.
    #[error("bad Kafka setting: {detail}")]
    BadSetting { detail: String },
    /// The program was compiled without the feature of this log.
    #[error("this program is compiled without topics in {log}")]
    NotCompiledIn { log: &'static str },
    /// An error of Kafka that has no name above.
    #[error("Kafka: {detail}")]
    Kafka { detail: String },
    /// The topics were closed.
    #[error("the topics are closed")]
    Closed,
}

/// A result with the error of the topics.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What a person can do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::BadName { .. } => "use letters, digits, '.', '_' and '-'",
            Self::UnknownTopic { .. } => "check the name; `torg serve` creates the topics that it uses",
            Self::PartitionsDiffer { .. } => {
                "keep the number of partitions that the topic was created with, or use a topic of another name"
            }
            Self::OffsetOutOfRange { .. } => {
                "the messages were trimmed by the topic's retention, or the consumer's offset belongs to another log"
            }
            Self::DamagedMessage { .. } | Self::DamagedRow { .. } => {
                "restore this store from a copy; `torg store check` lists what is damaged"
            }
            Self::Store(error) => return error.hint(),
            Self::Unavailable { .. } => {
                "check that Kafka runs and that hosts and ports in the address are right"
            }
            Self::Refused { .. } => {
                "check user, password, mechanism and certificates, and the rights of this user in Kafka"
            }
            Self::NotCompiledIn { .. } => "compile `topics` with the feature of that name",
            Self::BadUrl { .. } => "use `store`, or kafka://HOST:PORT,HOST:PORT",
            _ => return None,
        })
    }

    /// Whether the same call may succeed later, with nothing changed by the caller.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => error.is_passing(),
            Self::Unavailable { .. } | Self::Contended { .. } => true,
            _ => false,
        }
    }
}
