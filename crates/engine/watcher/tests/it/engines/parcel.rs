//! An entity that stands in a table of its own, under a number.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use store::{Batch, Key, Scan, Table};
use watcher::{Answer, ChangeContext, Entity, Fields, Interest, Stage, StageError, Subject};

pub(crate) static PARCELS: Table<(u32, i64)> = Table::versioned("test_parcels", &["shard", "parcel"]);

/// How many parcels have each label.
pub(crate) static LABELS: Table<(u32, String)> = Table::counters("test_labels", &["shard", "label"]);

/// A parcel with a weight and a label: `id weight label`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) id: i64,
    pub(crate) weight: i64,
    pub(crate) label: String,
}

impl Parcel {
    pub(crate) fn new(id: i64, weight: i64) -> Self {
        Self { id, weight, label: "none".to_owned() }
    }
}

impl Entity for Parcel {
    type Id = i64;
    const KIND: &'static str = "parcel";

    fn id(&self) -> i64 {
        self.id
    }

    fn encode(&self) -> Bytes {
        format!("{} {} {}", self.id, self.weight, self.label).into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let [id, weight, label] = <[&str; 3]>::try_from(text.splitn(3, ' ').collect::<Vec<_>>())
            .map_err(|parts| format!("{} parts", parts.len()))?;
        let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is no number"));
        Ok(Self { id: number(id)?, weight: number(weight)?, label: label.to_owned() })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let mut fields = Fields::none();
        fields.extend((before.weight != after.weight).then_some("weight"));
        fields.extend((before.label != after.label).then_some("label"));
        fields
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        if fields.covers("weight") {
            self.weight = from.weight;
        }
        if fields.covers("label") {
            self.label.clone_from(&from.label);
        }
    }

    fn derived_rows(change: &ChangeContext<'_, Self>, batch: &mut Batch) {
        for (parcel, delta) in [(change.before, -1), (change.after, 1)] {
            if let Some(parcel) = parcel {
                batch.add(LABELS.key((change.shard, &*parcel.label)), delta);
            }
        }
    }

    fn key(shard: u32, id: &i64) -> Key {
        PARCELS.key((shard, *id))
    }

    fn scan(shard: u32) -> Scan {
        PARCELS.prefix((shard,))
    }
}

/// A stage that writes the weight on the label, and keeps count of its visits.
pub(crate) struct Labelling;

impl Labelling {
    pub(crate) fn stages() -> Vec<Arc<dyn Stage<Parcel>>> {
        vec![Arc::new(Self)]
    }
}

#[async_trait]
impl Stage<Parcel> for Labelling {
    fn id(&self) -> &'static str {
        "labelling"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["weight"]))
    }

    async fn process(&self, subject: &Subject<Parcel>) -> Result<Answer<Parcel>, StageError> {
        let label = format!("{} kg", subject.entity.weight);
        let count: u32 = std::str::from_utf8(&subject.state).unwrap().parse().unwrap_or(0);
        let answer = Answer::replace(Parcel { label, ..subject.entity.clone() });
        Ok(answer.with_state((count + 1).to_string()))
    }
}
