//! Checks the answers of a remote stage before they are applied.
//!
//! An answer fails, for its own offer only, if it changes a field that the stage may not change or
//! makes the offer invalid. The error says what the stage did. An answer for an offer that was not
//! in the request is logged and dropped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use buffa_types::google::protobuf::Timestamp;
use bytes::Bytes;
use catalog::Catalogue;
use offers::fields::{self, BY_SELLERS};
use offers::status::Mover;
use offers::validation::violations;
use offers::{Move, StoredOffer, time};
use watcher::{Answer, Change, Fields, NewState, Schedule, StageError, Subject, Time};
use wire::torg::offers::v1::{Author, Offer, Status, author};
use wire::torg::stages::v1 as proto;
use wire::torg::stages::v1::__buffa::oneof::{answer, wish};

use crate::endpoint::shortened;
use crate::requests::state_to;

/// Fields that only Torg sets.
const NEVER: [&str; 8] =
    ["id", "seller", "source", "create_time", "update_time", "version", "keeping", "status_time"];
/// Fields that stages may set in addition to those of sellers.
const BY_STAGES: [&str; 7] = [
    "status",
    "status_reason",
    "expire_time",
    "predicted_price",
    "photo_order",
    "expire_warning_time",
    "obstacles",
];
/// Fields that a change of status sets.
const MOVED: [&str; 4] = ["status", "status_reason", "status_time", "expire_time"];
const VIOLATIONS_NAMED_MAX: usize = 5;

/// The fields that a stage may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed(Fields);

impl Allowed {
    pub fn check(paths: &[String]) -> Result<Self, String> {
        match paths.iter().find_map(|path| wrong_path(path)) {
            Some(wrong) => Err(wrong),
            None => Ok(Self(Fields::of(paths.iter().cloned()))),
        }
    }

    /// The first of these fields that is not allowed.
    #[must_use]
    pub fn first_forbidden<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        paths.into_iter().find(|path| !self.0.covers(path))
    }
}

/// The reason why no stage can set `path`; `None` if a stage may.
fn wrong_path(path: &str) -> Option<String> {
    let first = path.split('.').next().unwrap_or_default();
    if NEVER.contains(&first) {
        return Some(format!("only Torg sets `{path}`"));
    }
    let known = if path.contains('.') {
        first == "attributes"
    } else {
        BY_SELLERS.covers(path) || BY_STAGES.contains(&path)
    };
    (!known).then(|| {
        format!("a stage cannot set `{path}`: name a whole field that it can set, or attributes.NAME")
    })
}

/// Fields that no stage sets but that may trigger one.
const BY_TORG: [&str; 4] = ["seller", "source", "status_time", "catalogue_version"];

/// The reason why a change of `path` can never trigger a stage; `None` if it is a field of offers.
pub(crate) fn wrong_interest(path: &str) -> Option<String> {
    let first = path.split('.').next().unwrap_or_default();
    let known = BY_SELLERS.covers(first) || BY_STAGES.contains(&first) || BY_TORG.contains(&first);
    (!known).then(|| format!("`{path}` is no field of offers that can trigger a stage"))
}

/// Validates the answers of one stage.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) stage: Arc<str>,
    pub(crate) allowed: Allowed,
    pub(crate) catalogue: Arc<Catalogue>,
    /// How long an offer stays active after a stage activates it.
    pub(crate) exposure: Duration,
}

impl Reader {
    /// Returns one result for each subject, in their order.
    pub(crate) fn answers(
        &self,
        subjects: &[Subject<StoredOffer>],
        answers: Vec<proto::Answer>,
    ) -> Vec<Result<Answer<StoredOffer>, StageError>> {
        let answers = by_id(&self.stage, subjects, answers, |answer| &answer.id);
        let read = |(subject, answer): (&Subject<StoredOffer>, Matched<proto::Answer>)| {
            self.answer(subject, answer.get()?)
        };
        subjects.iter().zip(answers).map(read).collect()
    }

    pub(crate) fn wishes(
        &self,
        subjects: &[Subject<StoredOffer>],
        wishes: Vec<proto::Wish>,
    ) -> Vec<Result<Schedule, StageError>> {
        let wishes = by_id(&self.stage, subjects, wishes, |wish| &wish.id);
        wishes.into_iter().map(|wish| read_wish(wish.get()?)).collect()
    }

    fn answer(
        &self,
        subject: &Subject<StoredOffer>,
        answer: proto::Answer,
    ) -> Result<Answer<StoredOffer>, StageError> {
        let proto::Answer { version, change, state, clear_state, visit_at, .. } = answer;
        if version != 0 && version != subject.version {
            return Err(StageError::Lasting(format!(
                "it was sent version {} and answered version {version}",
                subject.version
            )));
        }
        let change = match change {
            None => Change::Untouched,
            Some(answer::Change::Failure(failure)) => return Err(read_failure(&failure)),
            Some(answer::Change::Patch(patch)) => self.patch(subject, *patch)?,
            Some(answer::Change::Replace(offer)) => self.replace(subject, &offer)?,
        };
        let state = match (state.into_option(), clear_state) {
            (Some(_), true) => return lasting("it set a state and cleared it"),
            (Some(state), false) if state.type_url.is_empty() => return lasting("its state has no type_url"),
            (Some(state), false) => NewState::Set(state_to(Some(&state))),
            (None, true) => NewState::Set(Bytes::new()),
            (None, false) => NewState::Keep,
        };
        let next = visit_at.as_option().map(read_time).transpose()?;
        Ok(Answer { change, state, next, made_from: None })
    }

    fn patch(
        &self,
        subject: &Subject<StoredOffer>,
        patch: proto::Patch,
    ) -> Result<Change<StoredOffer>, StageError> {
        let paths = patch.fields.as_option().map_or(&[][..], |mask| &mask.paths);
        if paths.is_empty() {
            return lasting("its patch names no fields");
        }
        if let Some(wrong) = paths.iter().find_map(|path| wrong_path(path)) {
            return lasting(format!("its patch: {wrong}"));
        }
        if let Some(path) = self.allowed.first_forbidden(paths.iter().map(String::as_str)) {
            return lasting(format!("it may not change `{path}`: add it to may_change, or leave it alone"));
        }
        if paths.iter().any(|path| path == "status_reason") && !paths.iter().any(|path| path == "status") {
            return lasting("its patch sets status_reason without status: name both");
        }
        let values = patch.values.into_option().unwrap_or_default();
        if !values.id.is_empty() && values.id != subject.entity.offer.id {
            return lasting(format!(
                "it was sent offer {} and answered for {}",
                subject.entity.offer.id, values.id
            ));
        }
        let fields = Fields::of(paths.iter().cloned());
        let (after, fields) = self.changed(subject, fields, &values)?;
        Ok(Change::Patch { fields, values: after })
    }

    fn replace(
        &self,
        subject: &Subject<StoredOffer>,
        offer: &Offer,
    ) -> Result<Change<StoredOffer>, StageError> {
        let seen = &subject.entity.offer;
        if offer.id != seen.id {
            return lasting(format!("it was sent offer {} and answered for {}", seen.id, offer.id));
        }
        let fields = fields::changed(seen, offer);
        let never = |path: &&str| NEVER.contains(path);
        if let Some(path) =
            fields.paths().find(never).or_else(|| self.allowed.first_forbidden(fields.paths()))
        {
            return lasting(format!("it may not change `{path}`: add it to may_change, or leave it alone"));
        }
        let (after, _) = self.changed(subject, fields, offer)?;
        Ok(Change::Replace(after))
    }

    /// Applies `fields` of `values` to the offer. Returns the offer and all fields that changed as
    /// a result; a status moves by the rules for stages.
    fn changed(
        &self,
        subject: &Subject<StoredOffer>,
        mut fields: Fields,
        values: &Offer,
    ) -> Result<(StoredOffer, Fields), StageError> {
        let mut after = subject.entity.clone();
        let wanted = values.status.as_known().unwrap_or_default();
        let moves = fields.covers("status") && wanted != subject.entity.status();
        let plain = Fields::of(fields.paths().filter(|path| !MOVED.contains(path) || *path == "expire_time"));
        fields::take(&mut after.offer, &plain, values);
        if moves {
            self.move_to(&mut after, wanted, values, subject.now)?;
            fields.extend(MOVED);
            fields.extend(["expire_warning_time"]);
        }
        self.require_valid(&after.offer, &fields)?;
        after.offer.update_time = Some(time::from_time(subject.now)).into();
        Ok((after, fields))
    }

    fn move_to(
        &self,
        stored: &mut StoredOffer,
        to: Status,
        values: &Offer,
        now: Time,
    ) -> Result<(), StageError> {
        let reason = values.status_reason.as_option();
        let (code, text) = reason.map_or(("", ""), |reason| (&*reason.code, &*reason.text));
        let author = Author {
            kind: author::Kind::KIND_STAGE.into(),
            name: self.stage.to_string(),
            ..Author::default()
        };
        let moved = Move::to(to).because(code, text).apply(stored, &author, Mover::Stage, now, self.exposure);
        moved.map_err(|error| StageError::Lasting(format!("its status: {error}")))
    }

    /// Refuses violations of the catalogue in the changed fields. Earlier violations in other
    /// fields may stay.
    fn require_valid(&self, offer: &Offer, fields: &Fields) -> Result<(), StageError> {
        let by_sellers = fields.overlaps(&BY_SELLERS);
        let wrong = if by_sellers { violations(&self.catalogue, offer) } else { Vec::new() };
        let is_its_own = |field: &str| {
            let path = field.split('[').next().unwrap_or_default();
            fields.overlaps(&Fields::of([path])) || path.is_empty()
        };
        let own = wrong.iter().filter(|violation| is_its_own(&violation.field));
        let named: Vec<String> = own
            .take(VIOLATIONS_NAMED_MAX)
            .map(|violation| format!("{}: {}", violation.field, violation.text))
            .collect();
        if named.is_empty() { Ok(()) } else { lasting(format!("its offer is invalid: {}", named.join("; "))) }
    }
}

enum Matched<T> {
    Missing,
    Once(T),
    Twice,
}

impl<T> Matched<T> {
    fn get(self) -> Result<T, StageError> {
        match self {
            Self::Once(item) => Ok(item),
            Self::Missing => Err(StageError::Passing("it gave no answer for this offer".to_owned())),
            Self::Twice => lasting("it answered twice for this offer"),
        }
    }
}

/// Matches the items of a response to the subjects of the request.
fn by_id<T>(
    stage: &str,
    subjects: &[Subject<StoredOffer>],
    items: Vec<T>,
    id: impl Fn(&T) -> &str,
) -> Vec<Matched<T>> {
    let positions: BTreeMap<&str, usize> =
        subjects.iter().enumerate().map(|(n, subject)| (&*subject.entity.offer.id, n)).collect();
    let mut found: Vec<Matched<T>> = subjects.iter().map(|_| Matched::Missing).collect();
    for item in items {
        let Some(position) = positions.get(id(&item)) else {
            let offer = shortened(id(&item));
            tracing::warn!(stage, offer, "a stage answered for an offer that was not in the request");
            continue;
        };
        let found = &mut found[*position];
        *found = if matches!(found, Matched::Missing) { Matched::Once(item) } else { Matched::Twice };
    }
    found
}

fn read_wish(wish: proto::Wish) -> Result<Schedule, StageError> {
    match wish.kind {
        Some(wish::Kind::No(_)) => Ok(Schedule::No),
        Some(wish::Kind::Now(_)) => Ok(Schedule::Now),
        Some(wish::Kind::At(at)) => Ok(Schedule::At(read_time(&at)?)),
        Some(wish::Kind::Failure(failure)) => Err(read_failure(&failure)),
        None => lasting("its wish is empty: set no, now or at"),
    }
}

pub(crate) fn read_failure(failure: &proto::Failure) -> StageError {
    let text = if failure.message.is_empty() { "it failed without a message" } else { &failure.message };
    let text = shortened(text);
    if failure.lasting { StageError::Lasting(text) } else { StageError::Passing(text) }
}

fn read_time(at: &Timestamp) -> Result<Time, StageError> {
    if time::is_possible(at) {
        Ok(Time::from_ms(time::to_ms(at)))
    } else {
        lasting("its time is out of range")
    }
}

fn lasting<T>(what: impl Into<String>) -> Result<T, StageError> {
    Err(StageError::Lasting(what.into()))
}
