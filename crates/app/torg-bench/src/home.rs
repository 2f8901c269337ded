//! Where the store of one measurement stands: a folder, or a schema of PostgreSQL. Each measurement
//! has its own.

use std::path::Path;

use anyhow::Context as _;
use store::{Schema, Store, StoreOptions, StoreUrl, TableDef};
use tokio_postgres::NoTls;

use crate::resting;

/// A place for a store.
#[derive(Clone)]
pub(super) struct Home {
    pub(super) url: StoreUrl,
    pub(super) options: StoreOptions,
    /// The server's address and the name of the schema.
    pub(super) postgres: Option<(String, String)>,
}

impl Home {
    /// Where the store of one side of a benchmark stands: in a schema of this PostgreSQL server, or
    /// in a folder inside of this one.
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

    /// Opens the store that stands here, or makes it.
    pub(super) async fn open(
        &self,
        tables: impl IntoIterator<Item = &'static TableDef>,
    ) -> anyhow::Result<Store> {
        Ok(Store::open(&self.url, Schema::new(1, tables)?, &self.options).await?)
    }

    /// Removes what stands here, if anything does.
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

    /// Waits until the engine has put away what was written before, so that its cost does not fall
    /// into the next measurement.
    pub(super) async fn settle(&self, store: &Store) -> anyhow::Result<()> {
        if self.postgres.is_some() {
            return self.execute(&["vacuum analyze", "checkpoint"]).await;
        }
        resting::until_settled(store).await;
        // What a checkpoint is to PostgreSQL: the system's own late writes are over, too.
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
