//! An entity for tests, and a store in memory.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::sync::Arc;

use bytes::Bytes;
use store::{Memory, Schema, Store, StoreOptions};
use watcher::{Entity, Fields, Time};

/// A thing with a price and a title: `id price title`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) id: String,
    pub(crate) price: i64,
    pub(crate) title: String,
}

impl Thing {
    pub(crate) fn new(id: &str, price: i64) -> Self {
        Self { id: id.to_owned(), price, title: "a thing".to_owned() }
    }
}

impl Entity for Thing {
    type Id = String;
    const KIND: &'static str = "thing";

    fn id(&self) -> String {
        self.id.clone()
    }

    fn encode(&self) -> Bytes {
        format!("{} {} {}", self.id, self.price, self.title).into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
        let mut parts = text.splitn(3, ' ');
        let mut next = || parts.next().ok_or("a part is missing");
        let (id, price, title) = (next()?.to_owned(), next()?, next()?.to_owned());
        Ok(Self { id, price: price.parse().map_err(|_| "the price is no number")?, title })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let mut fields = Fields::none();
        fields.extend((before.price != after.price).then_some("price"));
        fields.extend((before.title != after.title).then_some("title"));
        fields
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        if fields.covers("price") {
            self.price = from.price;
        }
        if fields.covers("title") {
            self.title.clone_from(&from.title);
        }
    }
}

pub(crate) const START: Time = Time::from_ms(1_700_000_000_000);

pub(crate) fn memory() -> Store {
    let tables = watcher::tables().into_iter().chain(topics::tables());
    let schema = Schema::new(1, tables).unwrap();
    Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default())
}
