//! The addresses of stores.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::engine::Engine;
use crate::memory::Memory;
use crate::options::StoreOptions;
use crate::store::Store;
use crate::table::Schema;
use crate::{Error, Result};

const MASK: &str = "***";
/// The rest of these is a path, which holds no secrets.
const PATH_SCHEMES: [&str; 2] = ["fjall:", "file:"];

/// The address of a store.
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
        let bad = |reason: &str| Error::BadUrl { url: masked_url(url), reason: reason.to_owned() };
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
            Self::Postgres(url) => f.write_str(&masked_url(url)),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An address for logs and messages, with `***` for the password of the user part and for every
/// parameter whose name suggests a secret.
///
/// It rather masks too much: a password with an unescaped `/`, `?`, `@` or `:` is masked too.
#[must_use]
pub fn masked_url(url: &str) -> String {
    if PATH_SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
        return url.to_owned();
    }
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + "://".len()));
    // Without a scheme it is unclear where the host ends.
    let hosts = if scheme.is_empty() { rest } else { rest.split(['/', '?']).next().unwrap_or(rest) };
    let shown = match rest.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:{MASK}@{host}"),
            None => rest.to_owned(),
        },
        // A password without a host, or ports.
        None => match rest.split_once(':') {
            Some((name, behind)) if !behind.is_empty() && !has_only_ports(hosts) => format!("{name}:{MASK}"),
            _ => rest.to_owned(),
        },
    };
    let Some((base, query)) = shown.split_once('?') else { return format!("{scheme}{shown}") };
    let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name, _)) if names_a_secret(name) => format!("{name}={MASK}"),
        Some(_) => parameter.to_owned(),
        None => MASK.to_owned(),
    });
    format!("{scheme}{base}?{}", parameters.collect::<Vec<_>>().join("&"))
}

/// Whether every colon precedes a port or is part of an IPv6 address.
fn has_only_ports(hosts: &str) -> bool {
    hosts.split(',').all(|host| {
        let behind =
            host.strip_prefix('[').and_then(|host| host.split_once(']')).map_or(host, |(_, port)| port);
        behind
            .split_once(':')
            .is_none_or(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
    })
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["passw", "secret", "token"].iter().any(|word| name.contains(word))
}

impl Store {
    /// Opens the store at an address.
    pub async fn open(url: &StoreUrl, schema: Schema, options: &StoreOptions) -> Result<Self> {
        let engine: Arc<dyn Engine> = match url {
            StoreUrl::Memory => Arc::new(Memory::new(schema)),
            #[cfg(feature = "fjall")]
            StoreUrl::Fjall(path) => Arc::new(crate::Fjall::open(path, schema, options).await?),
            #[cfg(feature = "postgres")]
            StoreUrl::Postgres(url) => Arc::new(crate::Postgres::open(url, schema, options).await?),
            #[cfg(not(feature = "fjall"))]
            StoreUrl::Fjall(_) => return Err(Error::NotCompiledIn { engine: "fjall" }),
            #[cfg(not(feature = "postgres"))]
            StoreUrl::Postgres(_) => return Err(Error::NotCompiledIn { engine: "postgres" }),
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
            "postgres://torg:s3/cr@et@db/x?password=s3",
            "postgres://torg:s3?cr=e@t@db/x",
            "mysql://u:s3cret@h/d",
            "mysql:u:s3cret@h/d",
        ] {
            let shown = url.parse::<StoreUrl>().map_or_else(|error| error.to_string(), |url| url.to_string());
            assert!(shown.contains("***") && !shown.contains("s3"), "{shown}");
        }
    }
    #[test]
    fn an_address_is_masked_as_far_as_it_must_be() {
        for (url, shown) in [
            ("store", "store"),
            ("memory:", "memory:"),
            ("fjall:./data@2/a:b", "fjall:./data@2/a:b"),
            ("file:///srv/a:b@c", "file:///srv/a:b@c"),
            ("kafka://a:9092,[::1]:9093", "kafka://a:9092,[::1]:9093"),
            ("postgres://host:5432/db", "postgres://host:5432/db"),
            ("postgres://[::1]/a:b?schema=x", "postgres://[::1]/a:b?schema=x"),
            ("postgres://torg@host:5432/db", "postgres://torg@host:5432/db"),
            ("postgres://torg:s3cret@host:5432/db", "postgres://torg:***@host:5432/db"),
            ("postgres://torg:@host/db", "postgres://torg:***@host/db"),
            ("postgres://torg:a/b@c:d@host/db", "postgres://torg:***@host/db"),
            ("postgres://torg:a?b@host/db?sslmode=require", "postgres://torg:***@host/db?sslmode=require"),
            ("postgres://torg:?s3cret@host/db", "postgres://torg:***@host/db"),
            ("postgres://torg:s3cret", "postgres://torg:***"),
            ("postgres://torg:1s3/cret", "postgres://torg:***"),
            ("torg:s3cret@host", "torg:***@host"),
            ("postgres//torg:s3cret", "postgres//torg:***"),
            ("host:5432", "host:5432"),
            ("postgres://h/d?user=x&password=a@b&lock=no", "postgres://h/d?user=x&password=***&lock=no"),
            (
                "postgres://h/d?sslPassword=y&API_TOKEN=z&s3cret",
                "postgres://h/d?sslPassword=***&API_TOKEN=***&***",
            ),
            ("s3://bucket/prefix?secret_key=y", "s3://bucket/prefix?secret_key=***"),
        ] {
            assert_eq!(masked_url(url), shown);
        }
    }
}
