//! The tables in the database: created, compared with the declaration, and migrated.
//!
//! All changes happen in one transaction. Several processes may open one empty database at once:
//! those that come second conflict with the first and start over. An up-to-date store is only read.

use tokio_postgres::types::ToSql;

use super::connection::Connection;
use super::errors::{PgError, Trouble, engine, is_duplicate, is_unsupported};
use super::pool::Backoff;
use super::sql::{self, CATALOGUE, COMMITS, META, qualified};
use crate::table::{ColumnType, Kind, Placement, Schema, TableDef};
use crate::{Error, Result};

/// Attempts while other processes change the tables.
const ATTEMPTS_MAX: u32 = 30;
const FORMAT: u32 = 1;
/// Later additions to our own tables, which older programs can ignore. 1: the index of the commit
/// log.
const ADDITIONS: u32 = 1;
/// Creating the index of a long log may take longer than other statements.
const INDEX_TIMEOUT: &str = "SET LOCAL statement_timeout = '15min'";

struct Stored {
    version: u32,
    format: u32,
    additions: u32,
    tables: Vec<&'static TableDef>,
}

/// The tables of the catalogue, with the version of the store; changes nothing. `None` if there is
/// no store.
pub(super) async fn find(
    connection: &Connection,
    schema: &str,
    declared: &Schema,
) -> Result<Option<Schema>, Trouble> {
    let migration = Migration { connection, schema, declared };
    require_utf8(connection).await?;
    if !migration.is_started().await? {
        return Ok(None);
    }
    let stored = migration.stored(false).await?;
    // Refuses a store that this program must not use.
    migration.complete(&stored)?;
    Ok(Some(Schema::new(stored.version, stored.tables)?))
}

/// Creates what is missing. Returns the declared tables and those that only the catalogue has.
pub(super) async fn prepare(
    connection: &Connection,
    schema: &str,
    declared: &Schema,
    backoff: &mut Backoff,
) -> Result<Schema, Trouble> {
    let migration = Migration { connection, schema, declared };
    require_utf8(connection).await?;
    for _ in 0..ATTEMPTS_MAX {
        if migration.is_started().await? {
            let stored = migration.stored(false).await?;
            if let Some(schema) = migration.complete(&stored)? {
                return Ok(schema);
            }
        }
        if let Err(conflict) = migration.run().await? {
            tracing::debug!(%conflict, "another process changes the tables too, retrying");
            tokio::time::sleep(backoff.next()).await;
        }
    }
    Err(Error::unavailable("other processes keep changing the tables").into())
}

async fn require_utf8(connection: &Connection) -> Result<(), Trouble> {
    let encoding = connection.query("SHOW server_encoding", &Vec::new()).await?;
    let encoding: String = encoding.first().map_or(Ok(String::new()), |row| row.try_get(0))?;
    if !matches!(&*encoding, "UTF8" | "UTF-8" | "utf8") {
        return Err(engine(format!("the database is encoded in {encoding}; it must be UTF8")).into());
    }
    Ok(())
}

struct Migration<'a> {
    connection: &'a Connection,
    schema: &'a str,
    declared: &'a Schema,
}

impl Migration<'_> {
    fn name(&self, table: &str) -> String {
        qualified(self.schema, table)
    }

    async fn is_started(&self) -> Result<bool, PgError> {
        let text = "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1::text AND \
                    table_name IN ($2::text, $3::text, $4::text)";
        let rows = self.connection.query(text, &vec![&self.schema, &META, &CATALOGUE, &COMMITS]).await?;
        Ok(rows.first().map_or(Ok(0i64), |row| row.try_get(0))? == 3)
    }

    async fn schema_exists(&self) -> Result<bool, PgError> {
        let text = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1::text";
        Ok(!self.connection.query(text, &vec![&self.schema]).await?.is_empty())
    }

    async fn stored(&self, locked: bool) -> Result<Stored, Trouble> {
        let lock = if locked { " FOR UPDATE" } else { "" };
        let meta = format!("SELECT name, value FROM {} ORDER BY name{lock}", self.name(META));
        let catalogue =
            format!("SELECT name, kind, placement, columns FROM {} ORDER BY name", self.name(CATALOGUE));
        let mut stored = Stored { version: 0, format: FORMAT, additions: 0, tables: Vec::new() };
        for row in self.connection.query(&meta, &Vec::new()).await? {
            let (name, value): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let number = || value.parse().map_err(|_| engine(format!("{name} is {value:?} in {META}")));
            match &*name {
                "schema_version" => stored.version = number()?,
                "format" => stored.format = number()?,
                "additions" => stored.additions = number()?,
                _ => {}
            }
        }
        for row in self.connection.query(&catalogue, &Vec::new()).await? {
            let (name, kind) = (row.try_get(0)?, row.try_get(1)?);
            let (placement, columns) = (row.try_get(2)?, row.try_get(3)?);
            stored.tables.push(self.known_or_leaked(name, kind, placement, columns)?);
        }
        Ok(stored)
    }

    /// The declared definition if it is the same, so that only unknown tables are leaked.
    fn known_or_leaked(
        &self,
        name: &str,
        kind: &str,
        placement: &str,
        columns: &str,
    ) -> Result<&'static TableDef> {
        if let Some(declared) = self.declared.table(name)
            && described(declared) == (kind.to_owned(), placement.to_owned(), columns.to_owned())
        {
            return Ok(declared);
        }
        let unknown = || Error::BadTable {
            table: name.to_owned(),
            reason: format!(
                "the store describes it as {kind} {placement} ({columns}), which this program cannot read"
            ),
        };
        let pairs = columns.split(", ").map(|column| {
            let (name, ty) = column.split_once(' ')?;
            Some((name.to_owned(), ColumnType::from_name(ty)?))
        });
        let pairs = pairs.collect::<Option<Vec<_>>>().ok_or_else(unknown)?;
        let kind = Kind::from_name(kind).ok_or_else(unknown)?;
        let placement = Placement::from_name(placement).ok_or_else(unknown)?;
        TableDef::from_catalogue(name, &pairs, kind, placement)
    }

    /// The schema if nothing is left to do; an error if this program must not use the store.
    fn complete(&self, stored: &Stored) -> Result<Option<Schema>> {
        let program = self.declared.version;
        if stored.version > program {
            return Err(Error::NewerSchema { store: stored.version, program });
        }
        if stored.format != FORMAT {
            let detail = format!("the store's own tables have format {}, not {FORMAT}", stored.format);
            return Err(engine(detail));
        }
        let mut all = stored.tables.clone();
        let mut missing = false;
        for declared in self.declared.tables() {
            match stored.tables.iter().find(|stored| stored.name == declared.name) {
                Some(stored) if stored != declared => return Err(mismatch(declared, stored)),
                Some(_) => {}
                None => {
                    missing = true;
                    all.push(declared);
                }
            }
        }
        let schema = Schema::new(program, all)?;
        let is_complete = !missing && stored.version == program && stored.additions >= ADDITIONS;
        Ok(is_complete.then_some(schema))
    }

    /// One attempt; the inner error means that another process was first.
    async fn run(&self) -> Result<Result<(), PgError>, Trouble> {
        match self.transaction().await {
            Ok(()) => Ok(Ok(())),
            Err(Failed::Quicker(error)) => {
                self.connection.run("ROLLBACK").await?;
                Ok(Err(error))
            }
            Err(Failed::Trouble(trouble)) => {
                // The connection may be lost; `trouble` says so then.
                let _ = self.connection.run("ROLLBACK").await;
                Err(trouble)
            }
        }
    }

    async fn transaction(&self) -> Result<(), Failed> {
        let connection = self.connection;
        let [schema, tables @ ..] = sql::create_own_tables(self.schema);
        connection.run("BEGIN").await?;
        if !self.schema_exists().await? {
            connection.run(&schema).await?;
        }
        for table in tables {
            connection.run(&table).await?;
        }
        let settings = format!(
            "INSERT INTO {} (name, value) VALUES ('format', '{FORMAT}'), ('schema_version', '0') ON CONFLICT DO NOTHING",
            self.name(META)
        );
        connection.run(&settings).await?;
        let stored = self.stored(true).await?;
        // Refuses before anything is changed.
        self.complete(&stored)?;
        for table in self.declared.tables() {
            if !stored.tables.iter().any(|stored| stored.name == table.name) {
                self.create(table).await?;
            }
        }
        if stored.additions < ADDITIONS {
            self.add().await?;
        }
        let raise = format!("UPDATE {} SET value = $1 WHERE name = 'schema_version'", self.name(META));
        connection.query(&raise, &vec![&self.declared.version.to_string() as &(dyn ToSql + Sync)]).await?;
        connection.run("COMMIT").await?;
        Ok(())
    }

    async fn add(&self) -> Result<(), PgError> {
        self.connection.run(INDEX_TIMEOUT).await?;
        self.connection.run(&sql::create_commits_index(self.schema)).await?;
        let note = format!(
            "INSERT INTO {} (name, value) VALUES ('additions', '{ADDITIONS}') \
             ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
            self.name(META)
        );
        self.connection.run(&note).await
    }

    async fn create(&self, table: &TableDef) -> Result<(), Failed> {
        self.connection.run(&sql::create_table(self.schema, table)).await?;
        if let Some(storage) = sql::set_storage(self.schema, table) {
            self.connection.run("SAVEPOINT storage").await?;
            match self.connection.run(&storage).await {
                Err(error) if is_unsupported(&error) => {
                    self.connection.run("ROLLBACK TO SAVEPOINT storage").await?;
                }
                other => other?,
            }
        }
        let (kind, placement, columns) = described(table);
        let insert = format!(
            "INSERT INTO {} (name, kind, placement, columns) VALUES ($1, $2, $3, $4)",
            self.name(CATALOGUE)
        );
        self.connection.query(&insert, &vec![&table.name, &kind, &placement, &columns]).await?;
        Ok(())
    }
}

enum Failed {
    Quicker(PgError),
    Trouble(Trouble),
}

impl From<PgError> for Failed {
    fn from(error: PgError) -> Self {
        let again = error.code().is_some_and(|code| matches!(code.code(), "40001" | "40P01"));
        if again || is_duplicate(&error) { Self::Quicker(error) } else { Self::Trouble(error.into()) }
    }
}

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Trouble(error.into())
    }
}

/// Kind, placement and columns as the catalogue stores them.
fn described(table: &TableDef) -> (String, String, String) {
    let columns = table.columns.iter().zip(table.types).map(|(name, ty)| format!("{name} {}", ty.name()));
    let columns = columns.collect::<Vec<_>>().join(", ");
    (table.kind.name().to_owned(), table.placement.name().to_owned(), columns)
}

fn mismatch(declared: &TableDef, stored: &TableDef) -> Error {
    let text = |table| {
        let (kind, placement, columns) = described(table);
        format!("{kind} {placement} ({columns})")
    };
    let reason =
        format!("the program declares it as {}, the store has it as {}", text(declared), text(stored));
    Error::BadTable { table: declared.name.to_owned(), reason }
}
