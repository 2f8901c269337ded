//! Moderation: opinions arrive in a topic, are saved beside their offers, and decide bans.
//!
//! The newest opinion counts, by the time at which it was formed; of two of the same time, the one that stands later in the topic. Opinions are applied in the order of the topic, and
//! the consumer's place in it moves in the commit that applies them: each is applied once. What cannot be applied goes to a topic of its own with the reason.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use buffa::Message as _;
use store::{Batch, Key, Outcome, Read};
use tokio::sync::watch;
use topics::{Delivered, Message, Position, ReadLimit};
use watcher::{Fields, Versioned, Time};
use wire::torg::offers::v1::{Author, Moderation, Opinion, Status, author, opinion};

use crate::entity::StoredOffer;
use crate::error::{Error, Result, damaged};
use crate::id::OfferId;
use crate::limits::{OPINION_PAGE, OPINION_REASONS_MAX, OPINION_TEXT_BYTES_MAX};
use crate::moves::{Move, before_ban, keep, stands_banned};
use crate::offers::Offers;
use crate::status::Mover;
use crate::tables::{ARCHIVE, MODERATION};
use crate::time;

/// The group under which the consumer's places are kept.
pub const GROUP: &str = "offers.moderation";
/// How long a read of the topic waits for the next opinion.
const WAIT: Duration = Duration::from_secs(1);
/// How long a consumer rests whose place another one moved, or that failed.
const REST: Duration = Duration::from_secs(2);

/// The topics of moderation.
#[derive(Clone, Debug)]
pub struct Opinions {
    /// Where opinions come from.
    pub topic: String,
    /// Where those go that cannot be applied.
    pub dead_letters: String,
}

/// An opinion that concerns an offer, with its time.
struct Given {
    id: OfferId,
    opinion: Opinion,
}

impl Offers {
    /// What moderation thinks of an offer; `None` if it has said nothing yet.
    pub async fn moderation(&self, id: OfferId) -> Result<Option<Moderation>> {
        let Some(row) = self.store().get_one(&self.moderation_key(id)).await? else { return Ok(None) };
        let moderation = Moderation::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        Ok(Some(Moderation { version: row.version, ..moderation }))
    }

    /// Puts an opinion into the topic, as outside services do themselves. Refused if it could not be applied.
    pub async fn give_opinion(&self, topic: &str, opinion: &Opinion) -> Result<(), Unfit> {
        let now_ms = self.now().as_ms();
        let given = read_opinion(opinion.clone(), now_ms)?;
        let message = Message::new(given.id.to_string(), given.opinion.encode_to_vec(), now_ms.max(1));
        self.topics()
            .append(topic, vec![message])
            .await
            .map_err(|error| Unfit::Failed(Arc::new(error).into()))?;
        Ok(())
    }

    /// Applies opinions of one partition until `stop` says so.
    pub async fn follow_moderation(
        &self,
        opinions: &Opinions,
        partition: u32,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut few = false;
        while !*stop.borrow() {
            let page = async {
                let position =
                    self.topics().position(GROUP, &opinions.topic, partition).await.map_err(Arc::new)?;
                self.apply_opinions(opinions, partition, &position, if few { 1 } else { OPINION_PAGE }).await
            };
            let rest = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                applied = page => match applied {
                    // In conflict with changes of the same offers: one at a time gets through.
                    Ok(applied) => { few = !applied; None }
                    Err(error) => {
                        tracing::warn!(partition, %error, "opinions of moderation wait");
                        Some(REST)
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

    /// Applies what stands behind this position, in one commit; waits a little if there is nothing. False if something changed meanwhile.
    pub async fn apply_opinions(
        &self,
        opinions: &Opinions,
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
        let (mut batch, mut seen, mut next, mut dead) =
            (Batch::new(), BTreeSet::new(), position.offset(), Vec::new());
        for Delivered { offset, message } in &page.messages {
            match decode_opinion(message) {
                // Two of one offer are not one commit: the second sees what the first made of it.
                Ok(given) if !seen.insert(given.id) => break,
                Ok(given) => match self.judge(&mut batch, &given).await {
                    Ok(()) => {}
                    Err(Unfit::Failed(error)) => return Err(error),
                    Err(unfit) => dead.push(dead_letter(message, opinions, partition, *offset, &unfit)),
                },
                Err(unfit) => dead.push(dead_letter(message, opinions, partition, *offset, &unfit)),
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
        Ok(matches!(self.store().commit(batch).await?, Outcome::Applied))
    }

    /// Adds to a batch what follows from an opinion.
    async fn judge(&self, batch: &mut Batch, given: &Given) -> Result<(), Unfit> {
        let found = self.watcher().load_to_change(&given.id, &Fields::all()).await;
        let found = found.map_err(|error| unfit(error.into()))?;
        if found.is_none() && !self.is_archived(given.id).await.map_err(unfit)? {
            return Err(Unfit::UnknownOffer(given.id));
        }
        let key = self.moderation_key(given.id);
        let before = self.moderation(given.id).await.map_err(unfit)?.unwrap_or_default();
        if time_of(before.opinion.as_option()) > time_of(Some(&given.opinion)) {
            return Ok(());
        }
        let opinion = Some(given.opinion.clone()).into();
        let moderation = Moderation { opinion, version: 0, ..Moderation::default() };
        batch.check(key.clone(), before.version).put(key, before.version + 1, moderation.encode_to_vec());
        match found {
            Some(found) if found.entity.status() != Status::Archived => {
                self.follow_verdict(batch, given, &found).await.map_err(unfit)
            }
            // Archived, or about to leave: nothing moves it any more.
            _ => Ok(()),
        }
    }

    /// A ban moves the status; lifting it returns the one that the offer had.
    async fn follow_verdict(
        &self,
        batch: &mut Batch,
        given: &Given,
        found: &Versioned<StoredOffer>,
    ) -> Result<()> {
        let offer = &found.entity.offer;
        let is_banned = found.entity.status() == Status::Banned;
        let bans = given.opinion.verdict.as_known() == Some(opinion::Verdict::VERDICT_BAN);
        let to = match (bans, is_banned) {
            (true, false) => Status::Banned,
            (false, true) => Some(before_ban(offer))
                .filter(|status| *status != Status::Unspecified)
                .unwrap_or(Status::Active),
            // The reasons may be new ones.
            (true, true) => Status::Unspecified,
            (false, false) if stands_banned(offer) => Status::Unspecified,
            (false, false) => return Ok(()),
        };
        let (author, mut after) = (author_of(&given.opinion), found.entity.clone());
        let first = given.opinion.reasons.first();
        let code = first.map_or("", |reason| &*reason.code);
        let texts: Vec<&str> = given.opinion.reasons.iter().map(|reason| &*reason.text).collect();
        let text = texts.join("; ");
        if to == Status::Unspecified {
            if bans {
                let reason = after.offer.status_reason.get_or_insert_default();
                (reason.code, reason.text) = (code.to_owned(), text);
            } else {
                keep(&mut after.offer).status_before_ban = Status::Unspecified.into();
            }
            keep(&mut after.offer).author = Some(author).into();
        } else {
            let wanted = Move::to(to).because(code, &text);
            let moved = wanted.apply(
                &mut after.offer,
                &author,
                Mover::Moderation,
                self.now(),
                self.config().exposure,
            );
            let id = found.entity.id;
            moved.map_err(|why| Error::NotMoved { id, why })?;
        }
        if after.offer == offer.clone() {
            return Ok(());
        }
        after.offer.update_time = Some(time::from_time(self.now())).into();
        self.watcher().save(batch, Some(found), &after).await?;
        Ok(())
    }

    async fn is_archived(&self, id: OfferId) -> Result<bool> {
        Ok(self.store().get_one(&ARCHIVE.key((self.shard(id), &*id.to_string()))).await?.is_some())
    }

    fn moderation_key(&self, id: OfferId) -> Key {
        MODERATION.key((self.shard(id), &*id.to_string()))
    }
}

/// Why an opinion cannot be applied.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unfit {
    /// It cannot be read.
    #[error("malformed: {0}")]
    Malformed(String),
    /// It names no offer.
    #[error("offer {offer:?}: {why}")]
    WrongId {
        /// What it names.
        offer: String,
        /// Why that is no offer.
        why: crate::WrongId,
    },
    /// It gives no verdict, or one that this version does not know.
    #[error("the verdict must be VERDICT_ALLOW or VERDICT_BAN")]
    NoVerdict,
    /// It says too much.
    #[error("at most {OPINION_REASONS_MAX} reasons of {OPINION_TEXT_BYTES_MAX} bytes each can be kept")]
    TooLong,
    /// It was formed at a time that there is not.
    #[error("its time lies outside the years 1 to 9999, or has too many nanoseconds")]
    WrongTime,
    /// There is no such offer.
    #[error("there is no offer {0}")]
    UnknownOffer(OfferId),
    /// The offer cannot be moved, or cannot be read: trying again would not help.
    #[error("the offer does not take it: {0}")]
    NotTaken(String),
    /// Not the opinion is at fault.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// What an error means for the opinion that met it. One bad offer must not hold up the others.
fn unfit(error: Error) -> Unfit {
    match error {
        Error::NotMoved { .. }
        | Error::Damaged { .. }
        | Error::Watcher(watcher::Error::Damaged { .. } | watcher::Error::Refused { .. }) => {
            Unfit::NotTaken(error.to_string())
        }
        error => Unfit::Failed(error),
    }
}

/// Reads a message of the topic: an opinion as JSON or in binary form.
fn decode_opinion(message: &Message) -> Result<Given, Unfit> {
    let malformed = |error: String| Unfit::Malformed(error);
    let is_json = message.payload.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let opinion = if is_json {
        serde_json::from_slice::<Opinion>(&message.payload).map_err(|error| malformed(error.to_string()))?
    } else {
        Opinion::decode_from_slice(&message.payload).map_err(|error| malformed(error.to_string()))?
    };
    read_opinion(opinion, message.time)
}

fn read_opinion(mut opinion: Opinion, message_ms: i64) -> Result<Given, Unfit> {
    let id = opinion
        .offer
        .parse()
        .map_err(|why| Unfit::WrongId { offer: text::head(&opinion.offer, 40).to_owned(), why })?;
    if matches!(opinion.verdict.as_known(), None | Some(opinion::Verdict::VERDICT_UNSPECIFIED)) {
        return Err(Unfit::NoVerdict);
    }
    let texts = opinion.reasons.iter().flat_map(|reason| [&reason.code, &reason.text]);
    let too_long = texts.chain([&opinion.moderator]).any(|text| text.len() > OPINION_TEXT_BYTES_MAX);
    if too_long || opinion.reasons.len() > OPINION_REASONS_MAX {
        return Err(Unfit::TooLong);
    }
    if opinion.time.as_option().is_some_and(|time| !time::is_possible(time)) {
        return Err(Unfit::WrongTime);
    }
    // One that claims to be of a later time than its message would keep all others away until then.
    let formed_ms = opinion.time.as_option().map_or(i64::MAX, time::to_ms);
    if formed_ms > message_ms {
        opinion.time = Some(time::from_time(Time::from_ms(message_ms))).into();
    }
    Ok(Given { id, opinion })
}

/// When an opinion was formed; there was nothing before the first one.
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

/// The message as it was, with where it stood and why it could not be applied.
fn dead_letter(message: &Message, opinions: &Opinions, partition: u32, offset: i64, why: &Unfit) -> Message {
    message
        .clone()
        .header("torg-reason", why.to_string())
        .header("torg-topic", opinions.topic.clone())
        .header("torg-partition", partition.to_string())
        .header("torg-offset", offset.to_string())
}
