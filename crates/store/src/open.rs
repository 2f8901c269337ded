//! Opening a store by its address.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::embedded::Fjall;
use crate::engine::Engine;
use crate::memory::Memory;
use crate::options::StoreOptions;
use crate::postgres::Postgres;
use crate::store::Store;
use crate::table::Schema;
use crate::{Error, Result};

/// Where a store is.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `memory:`, gone with the process.
    Memory,
    /// `fjall:PATH`, embedded in the process.
    Fjall(PathBuf),
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...`
    Postgres(String),
}

impl FromStr for StoreUrl {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self> {
        let bad = |reason: &str| Error::BadUrl { url: without_password(url), reason: reason.to_owned() };
        match url.split_once(':') {
            Some(("memory", "")) => Ok(Self::Memory),
            Some(("fjall", "")) => Err(bad("a path must follow fjall:")),
            Some(("fjall", path)) => Ok(Self::Fjall(path.strip_prefix("//").unwrap_or(path).into())),
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Self::Postgres(url.to_owned()))
            }
            Some((scheme, _)) => Err(bad(&format!("there is no engine called {scheme:?}"))),
            None => Err(bad("it does not name an engine")),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Fjall(path) => write!(f, "fjall:{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The address with the password blotted out, fit for logs and messages.
fn without_password(url: &str) -> String {
    let shown = || {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        let (user, _) = user.split_once(':')?;
        Some(format!("{scheme}://{user}:***@{host}{}", &rest[end..]))
    };
    shown().unwrap_or_else(|| url.to_owned())
}

impl Store {
    /// Opens the store at an address, making a new one if there is none.
    pub async fn open(url: &StoreUrl, schema: Schema, options: &StoreOptions) -> Result<Self> {
        let engine: Arc<dyn Engine> = match url {
            StoreUrl::Memory => Arc::new(Memory::new(schema)),
            StoreUrl::Fjall(path) => Arc::new(Fjall::open(path, schema, options).await?),
            StoreUrl::Postgres(url) => Arc::new(Postgres::open(url, schema, options).await?),
        };
        Ok(Self::over(engine, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood() {
        assert_eq!("memory:".parse::<StoreUrl>().unwrap(), StoreUrl::Memory);
        assert_eq!("fjall:./data".parse::<StoreUrl>().unwrap(), StoreUrl::Fjall("./data".into()));
        assert_eq!(
            "fjall:///var/lib/torg".parse::<StoreUrl>().unwrap(),
            StoreUrl::Fjall("/var/lib/torg".into())
        );
        assert!(matches!("postgres://a@b/c".parse::<StoreUrl>().unwrap(), StoreUrl::Postgres(_)));
        for wrong in ["", "data", "fjall:", "mysql://a", "postgres:a", "memory:x"] {
            assert!(matches!(wrong.parse::<StoreUrl>(), Err(Error::BadUrl { .. })), "{wrong}");
        }
    }

    #[test]
    fn passwords_are_never_shown() {
        for url in [
            "postgres://torg:s3cret@db:5432/torg?sslmode=require",
            "postgres://torg:s3:cr@et@db",
            "mysql://u:s3cret@h/d",
        ] {
            let shown = url.parse::<StoreUrl>().map_or_else(|error| error.to_string(), |url| url.to_string());
            assert!(shown.contains("***") && !shown.contains("s3"), "{shown}");
        }
    }
}
