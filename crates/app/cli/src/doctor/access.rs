//! Checks access control: whether calls are open to unauthorized callers, and whether an admin can
//! still get in.

use std::sync::Arc;

use access::{ApiKey, Gate, HttpsFetch, Mode, Role, require_safe_listen};
use clock::{Clock, Time};
use store::Store;
use tokio::time::timeout;
use wire::torg::access::v1::{KeyServiceClient, ListKeysRequest};

use super::finding::{Area, Finding};
use super::limits::ANSWER_TIME_MAX;
use super::process::Process;
use crate::remote::Remote;
use node::auth::{access_error, api_keys};
use node::config::Config;
use node::server::key_from_wire;

/// Checks the settings, the key sources, and the API keys where they can be read.
pub(super) async fn check(
    config: &Config,
    store: Option<&Store>,
    process: Option<&Process>,
    clock: &Clock,
) -> Vec<Finding> {
    let mut found = vec![judge_listen(config)];
    if config.access.mode == Mode::Off {
        return found;
    }
    match Gate::new(&config.access, Arc::new(HttpsFetch::default()), clock.clone()) {
        Err(error) => found.push(Finding::failed(Area::Access, &access_error(error), "see docs/access.md")),
        Ok(gate) if !config.access.jwks_url.is_empty() => {
            found.push(judge_fetch(config, timeout(ANSWER_TIME_MAX, gate.refresh()).await.ok()));
        }
        Ok(_) => {}
    }
    let keys = match (store, process) {
        (Some(store), _) => own_keys(store).await,
        (None, Some(process)) => asked_keys(process).await,
        (None, None) => None,
    };
    found.extend(keys.and_then(|keys| judge_keys(config, &keys, clock.now())));
    found
}

fn judge_listen(config: &Config) -> Finding {
    let here = config.listen.ip().to_canonical().is_loopback();
    if let Err(error) = require_safe_listen(config.listen, &config.access) {
        return Finding::failed(Area::Access, &access_error(error), "listen on 127.0.0.1");
    }
    match (config.access.mode, here) {
        (Mode::Off, _) => Finding::ok(Area::Access, "off: everybody on this machine may do everything"),
        (Mode::Required, false) if !config.tls.is_on().unwrap_or(false) => Finding::warning(
            Area::Access,
            format!("tokens travel unencrypted to {}", config.listen),
            "name a certificate in [tls], unless a proxy in front speaks TLS",
        ),
        (Mode::Required, _) => Finding::ok(Area::Access, "callers have to prove who they are"),
    }
}

fn judge_fetch(config: &Config, fetched: Option<access::Result<()>>) -> Finding {
    match fetched {
        Some(Ok(())) => Finding::ok(Area::Access, format!("{} has keys", config.access.jwks_url)),
        Some(Err(error)) => Finding::failed(Area::Access, &access_error(error), "look at access.jwks_url"),
        None => Finding::error(
            Area::Access,
            format!("{} does not answer", config.access.jwks_url),
            "check access.jwks_url with curl from this machine",
        ),
    }
}

/// The API keys of a store opened by this command; empty if the store predates API keys.
async fn own_keys(store: &Store) -> Option<Vec<ApiKey>> {
    match api_keys(store).list().await {
        Err(access::Error::Store(store::Error::UnknownTable { .. })) => Some(Vec::new()),
        listed => listed.ok(),
    }
}

/// The API keys listed by a process, if the process lets this caller see them.
async fn asked_keys(process: &Process) -> Option<Vec<ApiKey>> {
    let Remote { connection, config } = process.calls();
    let client = KeyServiceClient::new(connection, config);
    let answer = client.list_keys(ListKeysRequest::default()).await.ok()?;
    Some(answer.keys.into_iter().map(key_from_wire).collect())
}

/// At least one admin must be able to authenticate.
fn judge_keys(config: &Config, keys: &[ApiKey], now: Time) -> Option<Finding> {
    if config.access.has_token_keys() || !config.access.api_keys {
        return None;
    }
    let is_good = |key: &&ApiKey| key.revoked.is_none() && key.expires.is_none_or(|at| at > now);
    let mut admins =
        keys.iter().filter(is_good).filter(|key| key.roles.iter().any(|role| role == Role::Admin));
    Some(if admins.next().is_some() {
        Finding::ok(Area::Access, "there is an API key with the role admin")
    } else {
        Finding::error(
            Area::Access,
            "nobody can be admin: no API key has that role, and no source of signed tokens is configured",
            "`torg keys add operations --role admin`, with the process stopped or beside it on PostgreSQL",
        )
    })
}

#[cfg(test)]
mod tests {
    use access::Roles;

    use super::super::finding::Severity;
    use super::*;

    fn config(listen: &str, mode: Mode) -> Config {
        let mut config = Config { listen: listen.parse().unwrap(), ..Config::default() };
        config.access.mode = mode;
        config
    }

    #[test]
    fn a_port_that_is_open_to_others_is_an_error_and_one_without_tls_a_warning() {
        let severity = |listen, mode| judge_listen(&config(listen, mode)).severity;
        assert_eq!(severity("127.0.0.1:1", Mode::Off), Severity::Ok);
        assert_eq!(severity("0.0.0.0:1", Mode::Off), Severity::Error);
        assert_eq!(severity("0.0.0.0:1", Mode::Required), Severity::Warning);
        assert_eq!(severity("127.0.0.1:1", Mode::Required), Severity::Ok);
    }

    #[test]
    fn somebody_has_to_be_admin() {
        let at = Time::from_seconds;
        let key = |role, expires: Option<i64>, revoked: Option<i64>| ApiKey {
            id: "0".to_owned(),
            name: "x".to_owned(),
            roles: Roles::NONE.with(role),
            seller: None,
            created: at(0),
            expires: expires.map(at),
            revoked: revoked.map(at),
            last_used: None,
        };
        let mut config = config("127.0.0.1:1", Mode::Required);
        let severity = |config: &Config, keys: &[ApiKey]| {
            judge_keys(config, keys, at(10)).map(|finding| finding.severity)
        };
        assert_eq!(severity(&config, &[key(Role::Admin, None, None)]), Some(Severity::Ok));
        let useless = [
            key(Role::Admin, Some(10), None),
            key(Role::Admin, None, Some(3)),
            key(Role::Service, None, None),
        ];
        assert_eq!(severity(&config, &useless), Some(Severity::Error));
        config.access.jwks_url = "https://issuer.example".to_owned();
        assert_eq!(severity(&config, &[]), None, "tokens may say who is admin");
    }
}
