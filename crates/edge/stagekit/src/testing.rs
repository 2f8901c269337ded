//! Visits without a Torg, for unit tests of stages.
//!
//! ```
//! # use stagekit::{Answer, Description, Failure, Offer, Stage, Subject, testing};
//! # struct Shouting;
//! # #[stagekit::async_trait]
//! # impl Stage for Shouting {
//! #     fn describe(&self) -> Description { Description::new("shouting", "0.1.0").sets(["title"]) }
//! #     async fn process(&self, subject: &Subject) -> Result<Answer, Failure> {
//! #         let title = subject.offer.title.to_lowercase();
//! #         Ok(Answer::patch(["title"], Offer { title, ..Offer::default() }))
//! #     }
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let subject = testing::subject(Offer { title: "RED BICYCLE".to_owned(), ..Offer::default() });
//! let visited = testing::visit(&Shouting, &subject).await.unwrap();
//! assert_eq!(visited.offer.title, "red bicycle");
//! # });
//! ```

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::moment;
use crate::wire::__buffa::oneof::answer::Change;
use crate::{Failure, Offer, Saved, Stage, Subject, state, wire};

/// The default time of test visits: noon of 1 January 2026, UTC.
pub const NOW: Timestamp = Timestamp::constant(1_767_268_800, 0);
/// The default id of test offers.
pub const ID: &str = "4829175033168090";

/// The result of a saved visit.
#[derive(Debug, Clone)]
pub struct Visited {
    /// The changed offer, with its next version.
    pub offer: Offer,
    /// The fields of the patch.
    pub changed: Vec<String>,
    pub visit_at: Option<Timestamp>,
    /// The answer as sent to Torg.
    pub answer: wire::Answer,
    state: Option<buffa_types::google::protobuf::Any>,
}

impl Visited {
    /// The private state after the visit.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        state::unpack(self.state.as_ref())
    }

    /// The argument of [`Stage::on_saved`].
    #[must_use]
    pub fn saved(&self) -> Saved {
        Saved { offer: self.offer.clone(), state: self.state.clone() }
    }

    /// The input of the next visit.
    #[must_use]
    pub fn again(&self, now: Timestamp) -> Subject {
        Subject { offer: self.offer.clone(), now, state: self.state.clone() }
    }
}

/// A subject at [`NOW`]; missing id and version are filled in.
#[must_use]
pub fn subject(mut offer: Offer) -> Subject {
    if offer.id.is_empty() {
        ID.clone_into(&mut offer.id);
    }
    offer.version = offer.version.max(1);
    Subject::new(offer, NOW)
}

/// Visits an offer like Torg.
///
/// # Panics
/// If a second visit gives another answer, or the stage sets a field that its description does not
/// name.
pub async fn visit(stage: &dyn Stage, subject: &Subject) -> Result<Visited, Failure> {
    let answer = stage.process(subject).await?.into_wire(&subject.offer, subject.now)?;
    let second = stage.process(subject).await?.into_wire(&subject.offer, subject.now)?;
    assert_eq!(answer, second, "the same visit came to two different answers");
    let sets = stage.describe().sets;
    let (offer, changed) = match &answer.change {
        Some(Change::Patch(patch)) => (patched(&subject.offer, patch)?, patch.fields.paths.clone()),
        Some(Change::Replace(offer)) => ((**offer).clone(), Vec::new()),
        Some(Change::Failure(_)) | None => (subject.offer.clone(), Vec::new()),
    };
    for field in &changed {
        let named = |name: &String| {
            field == name || field.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        assert!(sets.iter().any(named), "the stage sets {field}, which its description does not name");
    }
    let version = subject.offer.version + u64::from(answer.change.is_some());
    let kept = if answer.clear_state { None } else { answer.state.as_option().or(subject.state.as_ref()) };
    Ok(Visited {
        offer: Offer { version, ..offer },
        changed,
        visit_at: answer.visit_at.as_option().map(moment).transpose()?,
        state: kept.cloned(),
        answer,
    })
}

/// Applies a patch like Torg: fields that are not set are cleared.
fn patched(offer: &Offer, patch: &wire::Patch) -> Result<Offer, Failure> {
    let mut fields = serde_json::to_value(offer)?;
    let values = serde_json::to_value(&*patch.values)?;
    for path in &patch.fields.paths {
        match path.split_once('.') {
            None => take(&mut fields, &values, &camel(path)),
            Some((name, inner)) => {
                let name = camel(name);
                let mut map = fields.get(&name).cloned().unwrap_or_else(|| Value::Object(Map::new()));
                take(&mut map, values.get(&name).unwrap_or(&Value::Null), inner);
                fields[name] = map;
            }
        }
    }
    Ok(serde_json::from_value(fields)?)
}

fn take(fields: &mut Value, values: &Value, name: &str) {
    let Value::Object(fields) = fields else { return };
    match values.get(name) {
        Some(value) => drop(fields.insert(name.to_owned(), value.clone())),
        None => drop(fields.remove(name)),
    }
}

/// `status_reason` as JSON names it: `statusReason`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, rest) = word.split_at(word.len().min(1));
        name + &head.to_ascii_uppercase() + rest
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::offers::{StatusReason, Values};
    use crate::{Answer, Description};

    use super::*;

    /// A stage of one function.
    struct Of<F>(F);

    #[crate::async_trait]
    impl<F: Fn(&Subject) -> Answer + Send + Sync + 'static> Stage for Of<F> {
        fn describe(&self) -> Description {
            Description::new("of", "1").sets(["title", "attributes", "status_reason"])
        }

        async fn process(&self, subject: &Subject) -> Result<Answer, Failure> {
            Ok((self.0)(subject))
        }
    }

    fn offer() -> Offer {
        let values = |text: &str| Values { values: vec![text.to_owned()], ..Values::default() };
        let attributes = [("a".to_owned(), values("1")), ("b".to_owned(), values("2"))].into();
        Offer { title: "old".to_owned(), attributes, version: 4, ..Offer::default() }
    }

    #[tokio::test]
    async fn a_patch_sets_what_it_names_and_clears_what_it_leaves_out() {
        let stage = Of(|_: &Subject| {
            let status_reason = StatusReason { code: "x".to_owned(), ..StatusReason::default() };
            let values = Offer { status_reason: status_reason.into(), ..Offer::default() };
            Answer::patch(["title", "attributes.a", "status_reason"], values)
        });
        let visited = visit(&stage, &subject(offer())).await.unwrap();
        assert_eq!((visited.offer.title.as_str(), visited.offer.version), ("", 5));
        assert_eq!(visited.offer.attributes.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(visited.offer.status_reason.code, "x");
    }

    #[tokio::test]
    async fn an_offer_that_is_not_touched_keeps_its_version_and_state() {
        let shown = subject(offer()).with_state(&serde_json::json!({"a": 1})).unwrap();
        let visited = visit(&Of(|_: &Subject| Answer::untouched()), &shown).await.unwrap();
        assert_eq!((&visited.offer, &visited.saved().state), (&shown.offer, &shown.state));
    }

    #[tokio::test]
    #[should_panic(expected = "two different answers")]
    async fn answers_that_depend_on_anything_else_are_caught() {
        let calls = AtomicUsize::new(0);
        let stage = Of(move |_: &Subject| {
            let title = calls.fetch_add(1, Ordering::Relaxed).to_string();
            Answer::patch(["title"], Offer { title, ..Offer::default() })
        });
        let _ = visit(&stage, &subject(offer())).await;
    }

    #[tokio::test]
    #[should_panic(expected = "the stage sets price")]
    async fn a_field_that_the_stage_does_not_name_is_caught() {
        let stage = Of(|_: &Subject| Answer::patch(["price"], Offer::default()));
        let _ = visit(&stage, &subject(offer())).await;
    }
}
