//! The entity: a thing with a few numbers.

use bytes::Bytes;
use watcher::{Entity, Fields};

/// The fields, by number.
pub(crate) const FIELDS: [&str; 9] =
    ["source", "text", "follow", "asked", "count", "price", "shaky", "patch", "proud"];
pub(crate) const SOURCE: usize = 0;
pub(crate) const TEXT: usize = 1;
pub(crate) const FOLLOW: usize = 2;
pub(crate) const ASKED: usize = 3;
pub(crate) const COUNT: usize = 4;
pub(crate) const PRICE: usize = 5;
pub(crate) const SHAKY: usize = 6;
pub(crate) const PATCH: usize = 7;
pub(crate) const PROUD: usize = 8;

pub(crate) const KIND: &str = "thing";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) id: String,
    /// The operation from outside that wrote it last. No stage changes it.
    pub(crate) op: u64,
    pub(crate) values: [i64; FIELDS.len()],
}

impl Thing {
    pub(crate) fn with(&self, field: usize, value: i64) -> Self {
        let mut thing = self.clone();
        thing.values[field] = value;
        thing
    }
}

impl Entity for Thing {
    type Id = String;
    const KIND: &'static str = KIND;

    fn id(&self) -> String {
        self.id.clone()
    }

    fn encode(&self) -> Bytes {
        let values: Vec<String> = self.values.iter().map(i64::to_string).collect();
        format!("{} {} {}", self.id, self.op, values.join(" ")).into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
        let mut parts = text.split(' ');
        let id = parts.next().unwrap_or_default().to_owned();
        let op = parts.next().and_then(|op| op.parse().ok()).ok_or("no operation")?;
        let values: Option<Vec<i64>> = parts.map(|value| value.parse().ok()).collect();
        let values = values.and_then(|values| values.try_into().ok()).ok_or("wrong numbers")?;
        Ok(Self { id, op, values })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let differs = |field: &usize| before.values[*field] != after.values[*field];
        let mut fields = Fields::of((0..FIELDS.len()).filter(differs).map(|field| FIELDS[field]));
        fields.extend((before.op != after.op).then_some("op"));
        fields
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        for (field, name) in FIELDS.iter().enumerate() {
            if fields.covers(name) {
                self.values[field] = from.values[field];
            }
        }
    }
}
