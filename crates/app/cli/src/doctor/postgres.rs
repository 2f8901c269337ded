//! Checks the PostgreSQL server of the store: its version, its clock, and its free connections.

use std::path::Path;
use std::time::Duration;

use clock::Clock;
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

use super::clocks::{self, Reading};
use super::finding::{Area, Finding};
use super::limits::{ANSWER_TIME_MAX, POSTGRES_CONNECTIONS_MORE, POSTGRES_VERSION_MIN};
use crate::remote::roots_of;
use node::config::Config;

/// Address parameters that the store reads and PostgreSQL does not know.
const OUR_PARAMETERS: [&str; 3] = ["schema", "lock", "sslmode"];
/// The number of connections comes from the statistics, which every role may read; the details of
/// other connections are restricted.
const FACTS: &str = "SELECT current_setting('server_version_num')::int4, \
     (extract(epoch FROM clock_timestamp()) * 1000)::int8, \
     current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4, \
     (SELECT coalesce(sum(numbackends), 0)::int4 FROM pg_stat_database WHERE datname IS NOT NULL)";

struct Facts {
    /// `150004` for 15.4.
    version: u32,
    clock: Reading,
    /// Connections available to ordinary users, and those that are open.
    connections_max: u32,
    connections: u32,
}

/// Queries the server before the store is opened, so that all connections but this one belong to
/// others. Returns no finding if the server cannot be queried: opening the store reports that in
/// more detail.
pub(super) async fn check(config: &Config, process_runs: bool, clock: &Clock) -> Vec<Finding> {
    if !matches!(config.store.url.scheme(), "postgres" | "postgresql") {
        return Vec::new();
    }
    match timeout(ANSWER_TIME_MAX, ask(config, clock)).await {
        Ok(Ok(facts)) => facts.judge(config, process_runs),
        Ok(Err(why)) => vec![unasked(&why)],
        Err(_) => vec![unasked("it does not answer in time")],
    }
}

fn unasked(why: &str) -> Finding {
    let what = format!("version, clock and connections of PostgreSQL were not looked at: {why}");
    Finding::note(Area::Store, what, "")
}

async fn ask(config: &Config, clock: &Clock) -> Result<Facts, String> {
    let client = connect(config).await?;
    let before = clock.now().as_ms();
    let row = client.query_one(FACTS, &[]).await.map_err(|error| error.to_string())?;
    let after = clock.now().as_ms();
    let number = |column| u32::try_from(row.get::<_, i32>(column)).unwrap_or_default();
    Ok(Facts {
        version: number(0),
        clock: Reading { theirs: row.get(1), step: 1, before, after },
        connections_max: number(2),
        connections: number(3).saturating_sub(1),
    })
}

/// Opens a connection; an encrypted one requires a trusted server certificate.
async fn connect(config: &Config) -> Result<Client, String> {
    let (address, mode) = plain_address(config.store.url.expose())?;
    let mut address: tokio_postgres::Config = address.parse().map_err(|_| "no address".to_owned())?;
    address.ssl_mode(mode).application_name("torg doctor");
    address.connect_timeout(Duration::from_millis(config.store.postgres.connect_timeout_ms.into()));
    let connected = if mode == SslMode::Disable {
        let (client, connection) =
            address.connect(tokio_postgres::NoTls).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        client
    } else {
        let tls = MakeRustlsConnect::new(trusting(&config.store.postgres.tls_ca_file)?);
        let (client, connection) = address.connect(tls).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        client
    };
    Ok(connected)
}

/// The address without the parameters of the store, and the TLS mode.
fn plain_address(url: &str) -> Result<(String, SslMode), String> {
    let mut url: Url = url.parse().map_err(|error| format!("no address: {error}"))?;
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let mode = pairs.iter().find(|(name, _)| name == "sslmode").map(|(_, value)| &**value);
    let mode = match mode {
        Some("disable") => SslMode::Disable,
        Some("require" | "verify-full") => SslMode::Require,
        _ => SslMode::Prefer,
    };
    let kept: Vec<_> = pairs.iter().filter(|(name, _)| !OUR_PARAMETERS.contains(&&**name)).collect();
    if kept.is_empty() {
        url.set_query(None);
    } else {
        url.query_pairs_mut().clear().extend_pairs(kept);
    }
    Ok((url.to_string(), mode))
}

fn trusting(authorities: &Path) -> Result<rustls::ClientConfig, String> {
    let roots = if authorities.as_os_str().is_empty() {
        net::system_roots()
    } else {
        roots_of(authorities).map_err(|error| error.to_string())?
    };
    Ok(net::client(roots).with_no_client_auth())
}

impl Facts {
    fn judge(&self, config: &Config, process_runs: bool) -> Vec<Finding> {
        let (major, minor) = (self.version / 10_000, self.version % 10_000);
        let version = if major < POSTGRES_VERSION_MIN {
            let what = format!("PostgreSQL {major}.{minor} gets no corrections from its makers any more");
            Finding::warning(Area::Store, what, format!("move to {POSTGRES_VERSION_MIN} or later"))
        } else {
            Finding::ok(Area::Store, format!("PostgreSQL {major}.{minor} answers"))
        };
        vec![version, self.judge_connections(config, process_runs), clocks::judge("PostgreSQL", self.clock)]
    }

    /// A running process already has its connections; a process to be started still needs them.
    fn judge_connections(&self, config: &Config, process_runs: bool) -> Finding {
        let Facts { connections_max, connections, .. } = self;
        let free = connections_max.saturating_sub(*connections);
        let postgres = &config.store.postgres;
        let own = if process_runs { 0 } else { postgres.pool_max + postgres.commit_lanes };
        let wanted = own + POSTGRES_CONNECTIONS_MORE;
        let what = format!("{connections} of {connections_max} connections to PostgreSQL are taken");
        if free >= wanted {
            return Finding::ok(Area::Store, what);
        }
        let beside = format!("{POSTGRES_CONNECTIONS_MORE} should be free for hints, snapshots and a person");
        let what = if process_runs {
            format!("{what}; beside those that the process has, {beside}")
        } else {
            format!("{what}; a process takes up to {own}, and beside them {beside}")
        };
        Finding::warning(
            Area::Store,
            what,
            "raise max_connections of PostgreSQL, or lower store.postgres.pool_max",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    fn facts(version: u32, connections_max: u32, connections: u32) -> Facts {
        let clock = Reading { theirs: 0, step: 1, before: 0, after: 0 };
        Facts { version, clock, connections_max, connections }
    }

    #[test]
    fn an_old_server_and_one_without_connections_are_told() {
        let config = Config::default();
        let severities = |facts: &Facts, runs| -> Vec<Severity> {
            facts.judge(&config, runs).iter().map(|finding| finding.severity).collect()
        };
        let (ok, warning) = (Severity::Ok, Severity::Warning);
        assert_eq!(severities(&facts(150_004, 97, 10), false), [ok, ok, ok]);
        assert_eq!(severities(&facts(120_001, 97, 10), false), [warning, ok, ok]);
        assert_eq!(severities(&facts(150_004, 20, 1), false), [ok, warning, ok]);
        assert_eq!(severities(&facts(150_004, 20, 1), true), [ok, ok, ok], "it has its connections already");
        let said = |runs| facts(150_004, 20, 18).judge_connections(&config, runs).what;
        assert!(
            said(true).ends_with("that the process has, 4 should be free for hints, snapshots and a person")
        );
        let own = config.store.postgres.pool_max + config.store.postgres.commit_lanes;
        assert!(said(false).contains(&format!("; a process takes up to {own}, and")), "{}", said(false));
    }

    #[test]
    fn parameters_of_the_store_are_taken_out_of_the_address() {
        let plain = |url| plain_address(url).unwrap();
        assert_eq!(plain("postgres://u:p@h/d?schema=x&lock=by-shard").0, "postgres://u:p@h/d");
        let (address, mode) = plain("postgres://h/d?sslmode=verify-full&application_name=y");
        assert_eq!((&*address, mode), ("postgres://h/d?application_name=y", SslMode::Require));
    }
}
