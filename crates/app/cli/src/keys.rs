//! `torg keys add | list | revoke`: manages API keys.
//!
//! The command opens the store itself if it can, as `torg topic` does. This needs no token: access
//! to the store already allows everything. The first key of a new store is created this way.
//! Otherwise the command asks the process that has the store open, with a token of the role admin.

use std::time::Duration;

use access::{ApiKey, ApiKeys, Clock, NewKey, Role, Time};
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use connectrpc::ErrorCode;
use serde_json::json;
use store::Store;

use super::owner::require_own;
use super::remote::{Place, Remote, said};
use node::auth::{access_error, api_keys};
use node::config::Config;
use node::parts::{store_error, try_open_store};
use node::server::key_from_wire;
use terminal::errors::advised;
use terminal::{json, print_on, remark, say, state, table};
use wire::torg::access::v1 as proto;

const DAY_S: u64 = 24 * 3600;

/// What can be done with API keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Makes a key and prints it, once: it is kept as a hash and cannot be shown again.
    Add {
        /// What it is for, in words.
        name: String,
        /// What its holder may do. May be given several times.
        #[arg(long, required = true, value_parser = role_parser())]
        role: Vec<Role>,
        /// Whom its holder acts as; the role seller needs it.
        #[arg(long, value_name = "ID")]
        seller: Option<String>,
        /// Ends after so many days; without it, never.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=36_500))]
        days: Option<u64>,
        /// Prints an object of JSON with the id and the key.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Lists all keys, also revoked and expired ones.
    List {
        /// Prints a list of JSON objects instead of a table.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Revokes a key: at once in the process that is asked, within seconds in all others.
    Revoke {
        /// The 8 letters and digits behind `torg_`.
        id: String,
        /// Prints the key as an object of JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

fn role_parser() -> impl clap::builder::TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.map(Role::name))
        .try_map(|name| Role::from_name(&name).ok_or("no such role"))
}

pub(crate) async fn run(command: KeysCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        KeysCommand::Add { name, role, seller, days, json, place } => {
            let lifetime = days.map(|days| Duration::from_secs(days * DAY_S));
            let new = NewKey { name, roles: role.into_iter().collect(), seller, lifetime };
            let keys = Keys::open(place, config, true).await?;
            let done = keys.add(new).await;
            keys.close().await?;
            let (id, text) = done?;
            if json {
                return show_once(&id, &self::json(&json!({ "id": id, "key": text }))?);
            }
            show_once(&id, &text)?;
            remark(format!("key {id}; this is the only time that it is shown\n"));
            Ok(())
        }
        KeysCommand::List { json, place } => {
            let keys = Keys::open(place, config, false).await?;
            let done = keys.list().await;
            keys.close().await?;
            let (listed, now) = (done?, Clock::system().now());
            let answer: Vec<_> = listed.iter().map(|key| described(key, now)).collect();
            say(json, &answer, || listing(&listed, now))
        }
        KeysCommand::Revoke { id, json, place } => {
            let keys = Keys::open(place, config, false).await?;
            let done = keys.revoke(&id).await;
            keys.close().await?;
            let (revoked, now) = (done?, Clock::system().now());
            say(json, &described(&revoked, now), || {
                vec![format!("key {} is {}", revoked.id, standing(&revoked, now))]
            })
        }
    }
}

/// Prints the lines that contain the new key. If printing fails, the key is valid but lost, and the
/// error says so.
fn show_once(id: &str, lines: &str) -> anyhow::Result<()> {
    let why = match print_on(&[lines]) {
        Ok(true) => return Ok(()),
        Ok(false) => "nobody reads stdout".to_owned(),
        Err(error) => format!("{error:#}"),
    };
    let hint = format!("`torg keys revoke {id}`, and make another one");
    Err(advised(format!("key {id} was made, and could not be shown: {why}"), hint))
}

/// How the keys are accessed.
enum Keys {
    Own(Store, ApiKeys),
    Server(Box<proto::KeyServiceClient>),
}

impl Keys {
    async fn open(place: Place, config: &Config, create: bool) -> anyhow::Result<Keys> {
        if let Some(url) = &place.server {
            return Ok(Keys::over(place.connect(url).await?));
        }
        require_own(config.store.url.expose(), create)?;
        match try_open_store(config, create).await {
            Ok(store) => {
                let keys = api_keys(&store);
                Ok(Keys::Own(store, keys))
            }
            Err(error @ store::Error::Locked { .. }) => {
                Ok(Keys::over(place.connect_to_own(config, error).await?))
            }
            Err(error) => Err(store_error(error)),
        }
    }

    fn over(Remote { connection, config }: Remote) -> Keys {
        Keys::Server(Box::new(proto::KeyServiceClient::new(connection, config)))
    }

    /// Returns the id and the text of the new key.
    async fn add(&self, new: NewKey) -> anyhow::Result<(String, String)> {
        match self {
            Keys::Own(_, keys) => {
                let (key, text) = keys.create(new).await.map_err(access_error)?;
                Ok((key.id, text.expose()))
            }
            Keys::Server(client) => {
                let request = proto::CreateKeyRequest {
                    name: new.name,
                    roles: new.roles.iter().map(|role| role.name().to_owned()).collect(),
                    seller: new.seller.unwrap_or_default(),
                    lifetime_s: new.lifetime.map_or(0, |lifetime| lifetime.as_secs()),
                    ..Default::default()
                };
                let answer = client.create_key(request).await.map_err(|error| said(&error))?;
                let key = answer.key.into_option().map(key_from_wire);
                Ok((key.map(|key| key.id).unwrap_or_default(), answer.text))
            }
        }
    }

    async fn list(&self) -> anyhow::Result<Vec<ApiKey>> {
        match self {
            Keys::Own(_, keys) => match keys.list().await {
                // The store predates keys, and listing must not change it.
                Err(access::Error::Store(store::Error::UnknownTable { .. })) => Ok(Vec::new()),
                listed => listed.map_err(access_error),
            },
            Keys::Server(client) => {
                let answer = client.list_keys(proto::ListKeysRequest::default()).await;
                let answer = answer.map_err(|error| said(&error))?;
                Ok(answer.keys.into_iter().map(key_from_wire).collect())
            }
        }
    }

    async fn revoke(&self, id: &str) -> anyhow::Result<ApiKey> {
        match self {
            Keys::Own(_, keys) => match keys.revoke(id).await {
                Err(access::Error::Store(store::Error::UnknownTable { .. })) => {
                    Err(access_error(access::Error::NoSuchKey { id: id.to_owned() }))
                }
                revoked => revoked.map_err(access_error),
            },
            Keys::Server(client) => {
                let request = proto::RevokeKeyRequest { id: id.to_owned(), ..Default::default() };
                let answer = client.revoke_key(request).await.map_err(|error| match error.code {
                    ErrorCode::NotFound => {
                        advised(said(&error), "`torg keys list` shows the ids of all keys")
                    }
                    _ => said(&error),
                });
                let answer = answer?;
                let key = answer.key.into_option().map(key_from_wire);
                key.ok_or_else(|| anyhow::anyhow!("the server answers without the key"))
            }
        }
    }

    async fn close(self) -> anyhow::Result<()> {
        match self {
            Keys::Own(store, _) => store.close().await.map_err(store_error),
            Keys::Server(_) => Ok(()),
        }
    }
}

fn listing(keys: &[ApiKey], now: Time) -> Vec<String> {
    if keys.is_empty() {
        return vec!["there is no key yet: torg keys add NAME --role ROLE".to_owned()];
    }
    let head = ["KEY", "ROLES", "SELLER", "STATE", "MADE", "LAST USED", "NAME"].map(str::to_owned);
    let rows = keys.iter().map(|key| {
        [
            key.id.clone(),
            roles(key).join("+"),
            key.seller.clone().unwrap_or_default(),
            state(&standing(key, now)),
            key.created.to_string(),
            key.last_used.map_or_else(|| "never".to_owned(), |at| at.to_string()),
            key.name.clone(),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn roles(key: &ApiKey) -> Vec<&'static str> {
    key.roles.iter().map(Role::name).collect()
}

/// Whether a key is valid, and until when.
fn standing(key: &ApiKey, now: Time) -> String {
    match (key.revoked, key.expires) {
        (Some(at), _) => format!("revoked at {at}"),
        (None, Some(at)) if at <= now => format!("expired at {at}"),
        (None, Some(at)) => format!("valid until {at}"),
        (None, None) => "valid".to_owned(),
    }
}

/// A key as JSON; missing times are null.
fn described(key: &ApiKey, now: Time) -> serde_json::Value {
    let time = |time: Option<Time>| time.map(|time| time.to_string());
    json!({
        "id": key.id,
        "name": key.name,
        "roles": roles(key),
        "seller": key.seller,
        "valid": key.revoked.is_none() && key.expires.is_none_or(|at| at > now),
        "created": key.created.to_string(),
        "expires": time(key.expires),
        "revoked": time(key.revoked),
        "last_used": time(key.last_used),
    })
}

#[cfg(test)]
mod tests {
    use access::Roles;

    use super::*;

    #[test]
    fn a_list_says_who_may_what_and_for_how_long() {
        let at = Time::from_seconds;
        let key = ApiKey {
            id: "0000000a".to_owned(),
            name: "the shop".to_owned(),
            roles: Roles::NONE.with(Role::Seller).with(Role::Service),
            seller: Some("s1".to_owned()),
            created: at(0),
            expires: Some(at(10)),
            revoked: None,
            last_used: None,
        };
        assert_eq!(
            listing(std::slice::from_ref(&key), at(9))[1],
            "0000000a  seller+service  s1      valid until 1970-01-01T00:00:10Z  1970-01-01T00:00:00Z  never      the shop"
        );
        assert_eq!(standing(&key, at(10)), "expired at 1970-01-01T00:00:10Z");
        assert_eq!(described(&key, at(10))["valid"], false);
        let revoked = ApiKey { revoked: Some(at(3)), last_used: Some(at(2)), ..key };
        assert_eq!(standing(&revoked, at(4)), "revoked at 1970-01-01T00:00:03Z");
        assert_eq!(described(&revoked, at(4))["last_used"], "1970-01-01T00:00:02Z");
        assert_eq!(listing(&[], at(0)), ["there is no key yet: torg keys add NAME --role ROLE"]);
    }
}
