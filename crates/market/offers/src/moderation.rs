//! Opinions of moderation: read from a topic, saved beside their offers, and turned into bans.
//!
//! The newest opinion counts, by the time at which it was formed; of two with the same time, the
//! later one in the topic. Opinions are applied in the order of the topic, and the position of the
//! consumer moves in the same commit: each is applied once. Opinions that cannot be applied go to a
//! dead-letter topic with the reason.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use buffa::Message as _;
use store::{Batch, Read};
use tokio::sync::watch;
use topics::{Delivered, Message, Position, ReadLimit};
use watcher::{Fields, Time, Versioned};
use wire::torg::offers::v1::{Author, Moderation, Opinion, Status, author, opinion};

use crate::entity::StoredOffer;
use crate::error::{Error, Result, damaged};
use crate::id::OfferId;
use crate::limits::{OPINION_PAGE, OPINION_REASONS_MAX, OPINION_TEXT_BYTES_MAX};
use crate::moves::Move;
use crate::offers::Offers;
use crate::status::Mover;
use crate::tables::{ARCHIVE, MODERATION};
use crate::time;

/// The consumer group.
pub const GROUP: &str = "offers.moderation";
/// How long a read of the topic waits for the next opinion.
const WAIT: Duration = Duration::from_secs(1);
/// The pause after a failure.
const RETRY_PAUSE: Duration = Duration::from_secs(2);

/// The topics of moderation.
#[derive(Clone, Debug)]
pub struct OpinionTopics {
    pub topic: String,
    pub dead_letters: String,
}

/// A valid opinion; its time is set.
struct ValidOpinion {
    id: OfferId,
    opinion: Opinion,
}

impl Offers {
    /// The opinion about an offer, if there is one.
    pub async fn moderation(&self, id: OfferId) -> Result<Option<Moderation>> {
        let Some(row) = self.store().get_one(&self.key(&MODERATION, id)).await? else { return Ok(None) };
        let moderation = Moderation::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        Ok(Some(Moderation { version: row.version, ..moderation }))
    }

    /// Appends an opinion to the topic, as services of moderation do. Refuses invalid ones.
    pub async fn give_opinion(&self, topic: &str, opinion: &Opinion) -> Result<(), OpinionError> {
        let now_ms = self.now().as_ms();
        let given = validate(opinion.clone(), now_ms)?;
        let message = Message::new(given.id.to_string(), given.opinion.encode_to_vec(), now_ms.max(1));
        self.topics()
            .append(topic, vec![message])
            .await
            .map_err(|error| OpinionError::Failed(Arc::new(error).into()))?;
        Ok(())
    }

    /// Applies the opinions of one partition until `stop` is true.
    pub async fn consume_opinions(
        &self,
        opinions: &OpinionTopics,
        partition: u32,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut limit = OPINION_PAGE;
        while !*stop.borrow() {
            let page = async {
                let position =
                    self.topics().position(GROUP, &opinions.topic, partition).await.map_err(Arc::new)?;
                self.apply_opinions(opinions, partition, &position, limit).await
            };
            let rest = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                applied = page => match applied {
                    // After a conflict with changes of the same offers, one opinion at a time.
                    Ok(applied) => { limit = if applied { OPINION_PAGE } else { 1 }; None }
                    Err(error) => {
                        tracing::warn!(partition, %error, "applying opinions failed, it is retried");
                        Some(RETRY_PAUSE)
                    }
                },
            };
            if let Some(rest) = rest {
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stop| *stop) => return,
                    () = tokio::time::sleep(rest) => {}
                }
            }
        }
    }

    /// Applies the opinions behind a position in one commit; waits for the first one. `false` on a
    /// conflict.
    pub async fn apply_opinions(
        &self,
        opinions: &OpinionTopics,
        partition: u32,
        position: &Position,
        limit: usize,
    ) -> Result<bool> {
        let read = ReadLimit::messages(limit).waiting(WAIT);
        let page = match self.topics().read(&opinions.topic, partition, position.offset(), read).await {
            Err(topics::Error::OffsetOutOfRange { first, offset, .. }) if offset < first => {
                tracing::error!(
                    partition,
                    from = offset,
                    to = first,
                    "opinions were trimmed before they were applied"
                );
                let mut batch = Batch::new();
                let _ = position.commit_into(&mut batch, first);
                return Ok(self.store().commit(batch).await?.is_applied());
            }
            page => page.map_err(Arc::new)?,
        };
        let mut batch = Batch::new();
        let mut seen = BTreeSet::new();
        let mut next = position.offset();
        let mut dead = Vec::new();
        for Delivered { offset, message } in &page.messages {
            let added = match decode_opinion(message) {
                // A second opinion about an offer needs the result of the first: it is in the next
                // commit.
                Ok(valid) if !seen.insert(valid.id) => break,
                Ok(valid) => self.add_opinion(&mut batch, &valid).await,
                Err(error) => Err(error),
            };
            match added {
                Ok(()) => {}
                Err(OpinionError::Failed(error)) => return Err(error),
                Err(error) => dead.push(dead_letter(message, opinions, partition, *offset, &error)),
            }
            next = offset + 1;
        }
        if next == position.offset() {
            return Ok(true);
        }
        if !dead.is_empty() {
            self.topics().append(&opinions.dead_letters, dead).await.map_err(Arc::new)?;
        }
        let _ = position.commit_into(&mut batch, next);
        Ok(self.store().commit(batch).await?.is_applied())
    }

    /// Adds an opinion and its consequences to a batch.
    async fn add_opinion(&self, batch: &mut Batch, given: &ValidOpinion) -> Result<(), OpinionError> {
        let found = self.watcher().load_to_change(&given.id, &Fields::all()).await;
        let found = found.map_err(|error| opinion_error(error.into()))?;
        if found.is_none() && !self.is_archived(given.id).await.map_err(opinion_error)? {
            return Err(OpinionError::UnknownOffer(given.id));
        }
        let key = self.key(&MODERATION, given.id);
        let before = self.moderation(given.id).await.map_err(opinion_error)?.unwrap_or_default();
        if time_of(before.opinion.as_option()) > time_of(Some(&given.opinion)) {
            return Ok(());
        }
        let opinion = Some(given.opinion.clone()).into();
        let moderation = Moderation { opinion, version: 0, ..Moderation::default() };
        batch.check(key.clone(), before.version).put(key, before.version + 1, moderation.encode_to_vec());
        match found {
            Some(found) if found.entity.status() != Status::Archived => {
                self.add_verdict(batch, given, &found).await.map_err(opinion_error)
            }
            // Archived offers do not change.
            _ => Ok(()),
        }
    }

    /// Bans the offer, or restores its status before the ban.
    async fn add_verdict(
        &self,
        batch: &mut Batch,
        given: &ValidOpinion,
        found: &Versioned<StoredOffer>,
    ) -> Result<()> {
        let stored = &found.entity;
        let is_banned = stored.status() == Status::Banned;
        let bans = given.opinion.verdict.as_known() == Some(opinion::Verdict::VERDICT_BAN);
        let to = match (bans, is_banned) {
            (true, false) => Status::Banned,
            (false, true) if stored.has_ban() => stored.status_before_ban(),
            (false, true) => Status::Active,
            // No move: the reasons of the ban may change, or the ban of a removed offer is lifted.
            (true, true) => Status::Unspecified,
            (false, false) if stored.has_ban() => Status::Unspecified,
            (false, false) => return Ok(()),
        };
        let author = author_of(&given.opinion);
        let mut after = stored.clone();
        let first = given.opinion.reasons.first();
        let code = first.map_or("", |reason| &*reason.code);
        let texts: Vec<&str> = given.opinion.reasons.iter().map(|reason| &*reason.text).collect();
        let text = texts.join("; ");
        if to == Status::Unspecified {
            if bans {
                let reason = after.offer.status_reason.get_or_insert_default();
                (reason.code, reason.text) = (code.to_owned(), text);
            } else {
                after.internal_mut().status_before_ban = Status::Unspecified.into();
            }
            after.set_author(&author);
        } else {
            let exposure = self.config().exposure;
            Move::to(to)
                .because(code, &text)
                .apply(&mut after, &author, Mover::Moderation, self.now(), exposure)
                .map_err(|why| Error::NotMoved { id: given.id, why })?;
        }
        if after == *stored {
            return Ok(());
        }
        after.offer.update_time = Some(time::from_time(self.now())).into();
        self.watcher().save(batch, Some(found), &after).await?;
        Ok(())
    }

    async fn is_archived(&self, id: OfferId) -> Result<bool> {
        Ok(self.store().get_one(&self.key(&ARCHIVE, id)).await?.is_some())
    }
}

/// The reason why an opinion cannot be applied.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpinionError {
    #[error("malformed: {0}")]
    Malformed(String),
    #[error("offer {offer:?}: {why}")]
    WrongId { offer: String, why: crate::WrongId },
    #[error("the verdict must be VERDICT_ALLOW or VERDICT_BAN")]
    NoVerdict,
    #[error("at most {OPINION_REASONS_MAX} reasons of {OPINION_TEXT_BYTES_MAX} bytes each can be kept")]
    TooLong,
    #[error("its time lies outside the years 1 to 9999, or has too many nanoseconds")]
    WrongTime,
    #[error("there is no offer {0}")]
    UnknownOffer(OfferId),
    /// A retry would fail likewise.
    #[error("it cannot be applied to the offer: {0}")]
    NotApplicable(String),
    /// The opinion may be valid.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Tells errors of one offer, which must not hold up other opinions, from failures that are
/// retried.
fn opinion_error(error: Error) -> OpinionError {
    match error {
        Error::NotMoved { .. }
        | Error::Damaged { .. }
        | Error::Watcher(watcher::Error::Damaged { .. } | watcher::Error::Refused { .. }) => {
            OpinionError::NotApplicable(error.to_string())
        }
        error => OpinionError::Failed(error),
    }
}

/// Decodes an opinion, JSON or binary.
fn decode_opinion(message: &Message) -> Result<ValidOpinion, OpinionError> {
    let malformed = |error: String| OpinionError::Malformed(error);
    let is_json = message.payload.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let opinion = if is_json {
        serde_json::from_slice::<Opinion>(&message.payload).map_err(|error| malformed(error.to_string()))?
    } else {
        Opinion::decode_from_slice(&message.payload).map_err(|error| malformed(error.to_string()))?
    };
    validate(opinion, message.time)
}

fn validate(mut opinion: Opinion, message_ms: i64) -> Result<ValidOpinion, OpinionError> {
    let id = opinion
        .offer
        .parse()
        .map_err(|why| OpinionError::WrongId { offer: opinion.offer.chars().take(40).collect(), why })?;
    if matches!(opinion.verdict.as_known(), None | Some(opinion::Verdict::VERDICT_UNSPECIFIED)) {
        return Err(OpinionError::NoVerdict);
    }
    let texts = opinion.reasons.iter().flat_map(|reason| [&reason.code, &reason.text]);
    let too_long = texts.chain([&opinion.moderator]).any(|text| text.len() > OPINION_TEXT_BYTES_MAX);
    if too_long || opinion.reasons.len() > OPINION_REASONS_MAX {
        return Err(OpinionError::TooLong);
    }
    if opinion.time.as_option().is_some_and(|time| !time::is_possible(time)) {
        return Err(OpinionError::WrongTime);
    }
    // A time in the future would outrank all opinions until then.
    let formed_ms = opinion.time.as_option().map_or(i64::MAX, time::to_ms);
    if formed_ms > message_ms {
        opinion.time = Some(time::from_time(Time::from_ms(message_ms))).into();
    }
    Ok(ValidOpinion { id, opinion })
}

/// When an opinion was formed; `None`, the least, if there is none.
fn time_of(opinion: Option<&Opinion>) -> Option<(i64, i32)> {
    opinion?.time.as_option().map(|time| (time.seconds, time.nanos))
}

fn author_of(opinion: &Opinion) -> Author {
    Author {
        kind: author::Kind::KIND_MODERATION.into(),
        name: opinion.moderator.clone(),
        ..Author::default()
    }
}

/// The unchanged message, with headers for its position and the error.
fn dead_letter(
    message: &Message,
    opinions: &OpinionTopics,
    partition: u32,
    offset: i64,
    why: &OpinionError,
) -> Message {
    message
        .clone()
        .header("torg-reason", why.to_string())
        .header("torg-topic", opinions.topic.clone())
        .header("torg-partition", partition.to_string())
        .header("torg-offset", offset.to_string())
}
