//! The catalogue and the store of the tests.

use std::sync::Arc;

use catalog::{Catalogue, Sources};
use store::{Schema, Store, StoreOptions};

const SETTINGS: &str = r#"
[catalogue]
name = "market"
version = 1
languages = ["en"]
currencies = ["EUR", "USD"]
title = [1, 100]
description = [0, 5000]
photos = [0, 20]
price = { kinds = ["fixed", "negotiable", "free", "range"], required = false, max = 100000000000 }

"#;

pub(crate) fn catalogue(categories: &str) -> Arc<Catalogue> {
    Arc::new(Sources::new().text("market.toml", &format!("{SETTINGS}{categories}")).load().unwrap())
}

pub(crate) fn schema() -> Schema {
    let tables = watcher::tables().into_iter().chain(topics::tables()).chain(offers::tables());
    Schema::new(1, tables).unwrap()
}

pub(crate) async fn open(url: &str) -> Store {
    let options = StoreOptions { cache_bytes: 16 << 20, free_bytes_min: 1 << 20, ..StoreOptions::default() };
    Store::open(&url.parse().unwrap(), schema(), &options).await.unwrap()
}
