//! What a plug-in answers, believed only as far as it may go.
//!
//! An answer about an offer that nobody asked about, one that changes a field that the stage may not change, or makes an offer that cannot stand, is a
//! failure of that one offer, with words that say what the stage did.

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
use watcher::{Answer, Change, Fields, NewState, StageError, Subject, Time, Schedule};
use wire::torg::offers::v1::{Author, Offer, Status, author};
use wire::torg::stages::v1 as proto;
use wire::torg::stages::v1::__buffa::oneof::{answer, wish};

use crate::endpoint::shortened;
use crate::requests::state_to;

/// Fields that nobody changes but Torg.
const NEVER: [&str; 7] = ["id", "seller", "source", "create_time", "update_time", "version", "status_time"];
/// Fields that are set by a stage or by nobody, beside those of sellers.
const BY_STAGES: [&str; 7] = [
    "status",
    "status_reason",
    "expire_time",
    "predicted_price",
    "photo_order",
    "expire_warning_time",
    "obstacles",
];
/// What a move to another status sets.
const MOVED: [&str; 4] = ["status", "status_reason", "status_time", "expire_time"];
/// Violations that a failure names.
const VIOLATIONS_NAMED_MAX: usize = 5;

/// The fields that a stage may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed(Fields);

impl Allowed {
    /// Checks the paths of a declaration.
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

/// Why no stage can set a path; `None` if some stage may.
fn wrong_path(path: &str) -> Option<String> {
    let first = path.split('.').next().unwrap_or_default();
    if NEVER.contains(&first) {
        return Some(format!("`{path}` is set by Torg alone"));
    }
    let known = if path.contains('.') {
        first == "attributes"
    } else {
        BY_SELLERS.covers(path) || BY_STAGES.contains(&path)
    };
    (!known).then(|| format!("`{path}` is no field that a stage sets; name whole fields, or attributes.NAME"))
}

/// Fields that no stage sets and whose change may interest one all the same.
const BY_TORG: [&str; 4] = ["seller", "source", "status_time", "catalogue_version"];

/// Why nothing would ever come of an interest in a path; `None` if it is a field of offers.
pub(crate) fn wrong_interest(path: &str) -> Option<String> {
    let first = path.split('.').next().unwrap_or_default();
    let known = BY_SELLERS.covers(first) || BY_STAGES.contains(&first) || BY_TORG.contains(&first);
    (!known).then(|| format!("`{path}` is no field of offers whose change a stage can hear of"))
}

/// Reads the answers of one stage.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) stage: Arc<str>,
    pub(crate) allowed: Allowed,
    pub(crate) catalogue: Arc<Catalogue>,
    /// How long an offer is shown that a stage makes active.
    pub(crate) exposure: Duration,
}

impl Reader {
    /// One answer for each subject, in their order.
    pub(crate) fn answers(
        &self,
        subjects: &[Subject<StoredOffer>],
        answers: Vec<proto::Answer>,
    ) -> Vec<Result<Answer<StoredOffer>, StageError>> {
        let answers = by_id(&self.stage, subjects, answers, |answer| &answer.id);
        let read = |(subject, answer): (&Subject<StoredOffer>, One<proto::Answer>)| {
            self.answer(subject, answer.get()?)
        };
        subjects.iter().zip(answers).map(read).collect()
    }

    /// One wish for each subject, in their order.
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
                "it was shown version {} and answered with one made from version {version}",
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
            (Some(_), true) => return lasting("it gave a new state and asked for none"),
            (Some(state), false) if state.type_url.is_empty() => return lasting("its state has no type_url"),
            (Some(state), false) => NewState::Set(state_to(Some(&state))),
            (None, true) => NewState::Set(Bytes::new()),
            (None, false) => NewState::Keep,
        };
        let next = visit_at.as_option().map(read_time).transpose()?;
        Ok(Answer { change, state, next, made_from: None })
    }

    /// Some fields of the offer take new values.
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
            return lasting("its patch gives a reason for a status and no status: name both");
        }
        let values = patch.values.into_option().unwrap_or_default();
        if !values.id.is_empty() && values.id != subject.entity.offer.id {
            return lasting(format!(
                "it was shown {} and answered with {}",
                subject.entity.offer.id, values.id
            ));
        }
        let fields = Fields::of(paths.iter().cloned());
        let (after, fields) = self.changed(subject, fields, &values)?;
        Ok(Change::Patch { fields, values: after })
    }

    /// The offer becomes another.
    fn replace(
        &self,
        subject: &Subject<StoredOffer>,
        offer: &Offer,
    ) -> Result<Change<StoredOffer>, StageError> {
        let seen = &subject.entity.offer;
        if offer.id != seen.id {
            return lasting(format!("it was shown {} and answered with {}", seen.id, offer.id));
        }
        let fields = fields::changed(seen, offer);
        let never = |path: &&str| NEVER.contains(path);
        if let Some(path) =
            fields.paths().find(never).or_else(|| self.allowed.first_forbidden(fields.paths()))
        {
            return lasting(format!(
                "it may not change `{path}`: add it to may_change, or leave it as it was"
            ));
        }
        let (after, _) = self.changed(subject, fields, offer)?;
        Ok(Change::Replace(after))
    }

    /// The offer with these fields as they are in `values`, and all fields that follow from it. A status is moved by the rules that hold for stages.
    fn changed(
        &self,
        subject: &Subject<StoredOffer>,
        fields: Fields,
        values: &Offer,
    ) -> Result<(StoredOffer, Fields), StageError> {
        let (mut after, mut fields) = (subject.entity.clone(), fields);
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
        let (kind, name) = (author::Kind::KIND_STAGE.into(), self.stage.to_string());
        let author = Author { kind, name, ..Author::default() };
        let moved = Move::to(to).because(code, text).apply(stored, &author, Mover::Stage, now, self.exposure);
        moved.map_err(|error| StageError::Lasting(format!("its status: {error}")))
    }

    /// Refuses what the catalogue does not allow in the fields that changed; an offer that was wrong before may stay so elsewhere.
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
        if named.is_empty() {
            Ok(())
        } else {
            lasting(format!("its offer cannot stand: {}", named.join("; ")))
        }
    }
}

/// What was found for one subject.
enum One<T> {
    Missing,
    There(T),
    Twice,
}

impl<T> One<T> {
    fn get(self) -> Result<T, StageError> {
        match self {
            Self::There(one) => Ok(one),
            Self::Missing => Err(StageError::Passing("it gave no answer for this offer".to_owned())),
            Self::Twice => lasting("it answered twice for this offer"),
        }
    }
}

/// Sorts what came back by the subjects that were sent.
fn by_id<T>(
    stage: &str,
    subjects: &[Subject<StoredOffer>],
    items: Vec<T>,
    id: impl Fn(&T) -> &str,
) -> Vec<One<T>> {
    let places: BTreeMap<&str, usize> =
        subjects.iter().enumerate().map(|(n, subject)| (&*subject.entity.offer.id, n)).collect();
    let mut found: Vec<One<T>> = subjects.iter().map(|_| One::Missing).collect();
    for item in items {
        let Some(place) = places.get(id(&item)) else {
            let offer = shortened(id(&item));
            tracing::warn!(stage, offer, "a stage answered for an offer that it was not shown");
            continue;
        };
        found[*place] = if matches!(found[*place], One::Missing) { One::There(item) } else { One::Twice };
    }
    found
}

fn read_wish(wish: proto::Wish) -> Result<Schedule, StageError> {
    match wish.kind {
        Some(wish::Kind::No(_)) => Ok(Schedule::No),
        Some(wish::Kind::Now(_)) => Ok(Schedule::Now),
        Some(wish::Kind::At(at)) => Ok(Schedule::At(read_time(&at)?)),
        Some(wish::Kind::Failure(failure)) => Err(read_failure(&failure)),
        None => lasting("its wish says nothing: no, now or a time"),
    }
}

pub(crate) fn read_failure(failure: &proto::Failure) -> StageError {
    let text = if failure.message.is_empty() { "it failed and did not say why" } else { &failure.message };
    let text = shortened(text);
    if failure.lasting { StageError::Lasting(text) } else { StageError::Passing(text) }
}

fn read_time(at: &Timestamp) -> Result<Time, StageError> {
    if time::is_possible(at) { Ok(Time::from_ms(time::to_ms(at))) } else { lasting("its time is none") }
}

fn lasting<T>(what: impl Into<String>) -> Result<T, StageError> {
    Err(StageError::Lasting(what.into()))
}
