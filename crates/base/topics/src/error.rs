//! What can go wrong, and what to do about it.

/// The error of the topics.
///
/// An error from [`append`](crate::Topics::append) means that not all messages were acknowledged.
/// In the store none of them is in the log (but see [`store::Error::Unresolved`]); in Kafka some
/// may be.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields hold in its message")]
pub enum Error {
    #[error("{name:?} cannot be the name of a {what}: {reason}")]
    BadName { what: &'static str, name: String, reason: &'static str },
    #[error("topic {topic} cannot have {partitions} partitions; between 1 and {max} are allowed")]
    BadPartitions { topic: String, partitions: u32, max: u32 },
    #[error("there is no topic {topic}")]
    UnknownTopic { topic: String },
    #[error("topic {topic} has {partitions} partitions, there is no partition {partition}")]
    UnknownPartition { topic: String, partition: u32, partitions: u32 },
    /// The number of partitions is fixed when a topic is created.
    #[error("topic {topic} has {existing} partitions, which cannot become {wanted}")]
    PartitionsDiffer { topic: String, existing: u32, wanted: u32 },
    /// The offset was trimmed (below `first`), or nothing was appended there yet (above `end`).
    #[error("topic {topic}, partition {partition} holds offsets from {first} to {end}, not {offset}")]
    OffsetOutOfRange { topic: String, partition: u32, offset: i64, first: i64, end: i64 },
    #[error("a message for topic {topic} cannot be kept: {reason}")]
    BadMessage { topic: String, reason: &'static str },
    #[error("{what} for topic {topic} has {count} {unit}; at most {max} are allowed")]
    TooLarge { what: &'static str, topic: String, count: usize, unit: &'static str, max: usize },
    #[error("topic {topic}, partition {partition}: the message at offset {offset} is damaged: {detail}")]
    DamagedMessage { topic: String, partition: u32, offset: i64, detail: &'static str },
    #[error("damaged row {key}: {detail}")]
    DamagedRow { key: String, detail: &'static str },
    /// Other processes won every race for the same partitions. Nothing was appended.
    #[error("topic {topic}: other writers were faster {attempts} times")]
    Contended { topic: String, attempts: u32 },
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("Kafka cannot be reached: {detail}")]
    Unavailable { detail: String },
    /// Wrong password, unknown certificate, missing rights.
    #[error("Kafka refuses: {detail}")]
    Refused { detail: String },
    #[error("cannot understand the topics address {url:?}: {reason}")]
    BadUrl { url: String, reason: &'static str },
    #[error("bad Kafka setting: {detail}")]
    BadSetting { detail: String },
    /// The program was compiled without the feature of this log.
    #[error("this program is compiled without topics in {log}")]
    NotCompiledIn { log: &'static str },
    #[error("Kafka: {detail}")]
    Kafka { detail: String },
    #[error("the topics are closed")]
    Closed,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What a person can do about it, if known.
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

    /// Whether a retry of the same call may succeed.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => error.is_passing(),
            Self::Unavailable { .. } | Self::Contended { .. } => true,
            _ => false,
        }
    }
}
