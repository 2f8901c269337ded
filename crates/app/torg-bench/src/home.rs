//! The location of the store of one measurement: a folder, or a PostgreSQL schema. Each measurement
//! has its own.

use std::path::Path;

use anyhow::Context as _;
use store::{Schema, Store, StoreOptions, StoreUrl, TableDef};
use tokio_postgres::NoTls;

use crate::resting;

#[derive(Clone)]
pub(super) struct Home {
    pub(super) url: StoreUrl,
    pub(super) options: StoreOptions,
    /// The server's address and the name of the schema.
    pub(super) postgres: Option<(String, String)>,
}

impl Home {
    /// The store of one side of a benchmark: a schema of this PostgreSQL server, or a subfolder of
    /// this folder.
    pub(super) fn of(
        postgres: Option<&str>,
        folder: &Path,
        (bench, side): (&str, &str),
        cache_mb: u64,
    ) -> anyhow::Result<Self> {
        let schema = format!("bench_{bench}_{side}");
        let url = match postgres {
            Some(url) => {
                let sign = if url.contains('?') { '&' } else { '?' };
                format!("{url}{sign}schema={schema}").parse()?
            }
            None => StoreUrl::Fjall(folder.join(side)),
        };
        let options = StoreOptions { cache_bytes: cache_mb << 20, ..StoreOptions::default() };
        Ok(Self { url, options, postgres: postgres.map(|url| (url.to_owned(), schema)) })
    }

    /// Opens the store and creates it if it does not exist.
    pub(super) async fn open(
        &self,
        tables: impl IntoIterator<Item = &'static TableDef>,
    ) -> anyhow::Result<Store> {
        Ok(Store::open(&self.url, Schema::new(1, tables)?, &self.options).await?)
    }

    /// Removes the store if it exists.
    pub(super) async fn clear(&self) -> anyhow::Result<()> {
        if let Some((_, schema)) = &self.postgres {
            return self.execute(&[&format!("drop schema if exists {schema} cascade")]).await;
        }
        match &self.url {
            StoreUrl::Fjall(folder) if folder.exists() => {
                std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// Waits until the engine has flushed and compacted earlier writes, so that their cost does not
    /// fall into the next measurement.
    pub(super) async fn settle(&self, store: &Store) -> anyhow::Result<()> {
        if self.postgres.is_some() {
            return self.execute(&["vacuum analyze", "checkpoint"]).await;
        }
        resting::until_settled(store).await;
        // The counterpart of a PostgreSQL checkpoint: the system's delayed writes are done, too.
        tokio::task::spawn_blocking(rustix::fs::sync).await?;
        Ok(())
    }

    async fn execute(&self, statements: &[&str]) -> anyhow::Result<()> {
        let Some((url, _)) = &self.postgres else { return Ok(()) };
        let (client, connection) =
            tokio_postgres::connect(url, NoTls).await.context("cannot connect to the server")?;
        tokio::spawn(connection);
        for statement in statements {
            client.batch_execute(statement).await.with_context(|| format!("{statement} failed"))?;
        }
        Ok(())
    }
}
