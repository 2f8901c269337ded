//! A client of a running process, through its RPC port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use buffa::Message;
use bytes::Bytes;
use clap::Args;
use connectrpc::client::{
    ClientBody, ClientConfig, ClientTransport as _, Http2Connection, SharedHttp2Connection,
};
use connectrpc::{ConnectError, ErrorCode, ErrorDetail, Protocol};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use wire::google::rpc::{BadRequest, ErrorInfo};

use node::config::{Config, Secret};
use terminal::errors::advised;
use terminal::harmless;
use text::shell::quoted;

/// Maximum concurrent calls; a command makes one at a time.
const CALLS_MAX: usize = 4;
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a response that is not a file.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Whom to ask, and as whom.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Asks this running process (`http://127.0.0.1:8080`, `https://torg.example`), and opens no
    /// store. Without it: the one at the configured address, where a command needs one.
    #[arg(long, value_name = "URL")]
    pub(super) server: Option<String>,
    /// An API key or a signed token for the server. Others on this machine can see arguments:
    /// rather set the variable.
    #[arg(long, value_name = "TOKEN", env = "TORG_TOKEN", hide_env_values = true)]
    token: Option<Secret>,
    /// Authorities to trust instead of the system's, PEM, for a server with https.
    #[arg(long, value_name = "FILE", env = "TORG_CA_FILE")]
    ca_file: Option<PathBuf>,
}

pub(super) struct Remote {
    pub(super) connection: SharedHttp2Connection,
    pub(super) config: ClientConfig,
}

impl Remote {
    /// Requests a path outside the RPC service, over the connection of RPC calls.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: ClientBody,
    ) -> anyhow::Result<Response<Incoming>> {
        let base = self.config.base_uri();
        let (scheme, host) =
            (base.scheme_str().unwrap_or("http"), base.authority().map_or("", |host| host.as_str()));
        let prefix = base.path().trim_end_matches('/');
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = format!("{scheme}://{host}{prefix}{path}").parse().context("no address")?;
        *request.headers_mut() = self.config.default_headers().clone();
        self.connection.send(request).await.map_err(|error| said(&error))
    }

    /// The body of a response that is not a file.
    pub(super) async fn whole(answer: Response<Incoming>) -> anyhow::Result<Bytes> {
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX);
        let read = body.collect().await.map_err(|error| anyhow::anyhow!("the server went away: {error}"))?;
        Ok(read.to_bytes())
    }
}

impl Place {
    pub(super) async fn connect(&self, url: &str) -> anyhow::Result<Remote> {
        self.connect_trusting(url, None).await
    }

    /// Connects to the process of this configuration, at its own address.
    pub(super) async fn connect_own(&self, config: &Config) -> anyhow::Result<Remote> {
        // The configured certificate may name other hosts and may have expired. It is trusted
        // because it is the configured one.
        let own = match config.tls.is_on() {
            Ok(true) => certificates(&config.tls.cert_file).ok().and_then(|chain| chain.into_iter().next()),
            _ => None,
        };
        self.connect_trusting(&own_url(config), own).await
    }

    /// Connects to an address. With TLS, the server must present exactly this certificate, or, if
    /// none is given, a certificate that an authority issued for its name.
    async fn connect_trusting(
        &self,
        url: &str,
        exactly: Option<CertificateDer<'static>>,
    ) -> anyhow::Result<Remote> {
        let uri = address(url)?;
        let connection = match uri.scheme_str() {
            Some("https") => self.connect_tls(&uri, exactly).await?,
            _ => {
                Http2Connection::connect_plaintext(uri.clone()).await.map_err(|error| silent(url, &error))?
            }
        };
        let config = ClientConfig::new(uri).with_protocol(Protocol::Grpc).with_default_timeout(CALL_TIMEOUT);
        let config = match &self.token {
            Some(token) => config.with_default_header("authorization", bearer(token)?),
            None => config,
        };
        Ok(Remote { connection: connection.shared(CALLS_MAX), config })
    }

    /// Connects to the named process, or to the one of this configuration.
    pub(super) async fn connect_or_own(&self, config: &Config) -> anyhow::Result<Remote> {
        match &self.server {
            Some(url) => self.connect(url).await,
            None => self.connect_own(config).await,
        }
    }

    /// Flags that lead another command to the same process, each preceded by a space. The token is
    /// left out because it is a secret.
    pub(super) fn flags(&self, config: &Config) -> String {
        let own = own_url(config);
        // The default address needs no flag.
        let is_usual = own == own_url(&Config::default());
        let server = self.server.as_deref().or((!is_usual).then_some(&*own));
        let server = server.map(|url| format!(" --server {}", quoted(url))).unwrap_or_default();
        let authorities = self.ca_file.as_ref();
        let authorities = authorities.map(|file| format!(" --ca-file {}", quoted(&file.to_string_lossy())));
        server + &authorities.unwrap_or_default()
    }

    /// Connects to the process that has the store of this configuration open.
    pub(super) async fn connect_to_own(
        &self,
        config: &Config,
        locked: store::Error,
    ) -> anyhow::Result<Remote> {
        let connected = self.connect_own(config).await;
        connected.map_err(|error| advised(locked, format!("{error}: give its address with --server")))
    }

    async fn connect_tls(
        &self,
        uri: &http::Uri,
        exactly: Option<CertificateDer<'static>>,
    ) -> anyhow::Result<Http2Connection> {
        let config = match exactly {
            Some(own) => net::client_trusting_only(own),
            None => net::client(match &self.ca_file {
                Some(file) => roots_of(file)?,
                None => net::system_roots(),
            }),
        };
        let dialer = net::Dialer::new(config.with_no_client_auth(), None)?;
        let dial = tower::service_fn(move |address: http::Uri| {
            let dialer = dialer.clone();
            async move { dialer.connect(&address).await.map(TokioIo::new) }
        });
        Http2Connection::connect_with_connector(dial, uri.clone())
            .await
            .map_err(|error| silent(&uri.to_string(), &error))
    }
}

/// Parses the address of a server, which must have a scheme and a host.
fn address(url: &str) -> anyhow::Result<http::Uri> {
    let uri: Option<http::Uri> = url.parse().ok();
    let usable = |uri: &http::Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
    uri.filter(usable).ok_or_else(|| {
        let hint = "write it as http://127.0.0.1:8080 or https://torg.example";
        advised(format!("{url:?} is no address of a server"), hint)
    })
}

/// The local address of the process of this configuration. A process that listens on all addresses
/// is reached on loopback.
pub(crate) fn own_url(config: &Config) -> String {
    let scheme = if config.tls.is_on().unwrap_or(false) { "https" } else { "http" };
    let mut address = config.listen;
    match address.ip() {
        IpAddr::V4(all) if all.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(all) if all.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    format!("{scheme}://{address}")
}

fn bearer(token: &Secret) -> anyhow::Result<http::HeaderValue> {
    let mut value = http::HeaderValue::from_str(&format!("Bearer {}", token.expose().trim()))
        .map_err(|_| advised("the token has odd characters", "give one line of text with TORG_TOKEN"))?;
    value.set_sensitive(true);
    Ok(value)
}

pub(super) fn certificates(file: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    read(file, net::certificates)
}

pub(super) fn roots_of(file: &Path) -> anyhow::Result<RootCertStore> {
    read(file, net::roots)
}

fn read<T>(file: &Path, parse: impl FnOnce(&[u8]) -> net::Result<T>) -> anyhow::Result<T> {
    let hint = "give a file with -----BEGIN CERTIFICATE----- by --ca-file";
    let refused = |why: String| advised(format!("{}: {why}", file.display()), hint);
    let pem = std::fs::read(file).map_err(|error| refused(error.to_string()))?;
    parse(&pem).map_err(|error| refused(error.to_string()))
}

fn silent(url: &str, error: &ConnectError) -> anyhow::Error {
    let words = error.message.as_deref().unwrap_or("no connection");
    let hint = if words.contains("ApplicationVerificationFailure") {
        "another certificate is shown there than the one of tls.cert_file: see which program that is"
    } else if words.contains("certificate") {
        "name the server as its certificate does, and the authority that signed it with --ca-file"
    } else {
        "start `torg serve`, or give its address with --server"
    };
    advised(format!("no server answers at {url}: {words}"), hint)
}

/// The error detail of this type.
fn detail<M: Message + Default>(error: &ConnectError, name: &str) -> Option<M> {
    let is_it = |detail: &&ErrorDetail| detail.type_url.ends_with(name);
    let packed = error.details.iter().find(is_it)?.value.as_ref()?;
    let bytes = STANDARD_NO_PAD.decode(packed.trim_end_matches('=')).ok()?;
    M::decode_from_slice(&bytes).ok()
}

/// The machine-readable reason; empty if there is none.
pub(super) fn reason(error: &ConnectError) -> String {
    detail::<ErrorInfo>(error, "google.rpc.ErrorInfo").map(|info| info.reason).unwrap_or_default()
}

/// Every invalid field that the server reports, if there are several.
fn faults(error: &ConnectError) -> Option<String> {
    let faults = detail::<BadRequest>(error, "google.rpc.BadRequest")?.field_violations;
    let each = faults.iter().map(|fault| format!("{}: {}", fault.field, fault.description));
    (faults.len() > 1).then(|| each.collect::<Vec<_>>().join("; "))
}

/// Converts a server error, without the wording of the protocol.
pub(super) fn said(error: &ConnectError) -> anyhow::Error {
    let faults = faults(error);
    let words = faults.as_deref().or(error.message.as_deref()).unwrap_or("the server gives no reason");
    let words = harmless(words);
    // Do not add a hint to errors that already name a command.
    match advice(error.code).filter(|_| !words.contains("`torg ")) {
        Some(hint) => advised(words, hint),
        None => anyhow::anyhow!("{words}"),
    }
}

/// The hint for an error code; `None` if only the server's text can say what to do.
pub(super) fn advice(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::Unauthenticated => "give an API key or a signed token with --token or as TORG_TOKEN",
        ErrorCode::Unavailable => "try again; a port with TLS is reached by https://, others by http://",
        ErrorCode::PermissionDenied => "use a token with another role",
        ErrorCode::NotFound => {
            "see whether it is spelt right, and whether --server names the process that has it"
        }
        ErrorCode::DeadlineExceeded | ErrorCode::ResourceExhausted => {
            "try again in a moment; `torg doctor` says how the server fares"
        }
        ErrorCode::Internal | ErrorCode::Unknown | ErrorCode::DataLoss => {
            "see the server's log, and what `torg doctor` says of it"
        }
        ErrorCode::Unimplemented => {
            "the server is of another version: compare `torg --version` there and here"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_command_is_led_to_the_same_process_without_the_token() {
        let mut config = Config::default();
        let mut place = Place { server: None, token: Some("secret".to_owned().into()), ca_file: None };
        assert_eq!(place.flags(&config), "", "it asks there anyway");
        config.listen = "127.0.0.1:81".parse().unwrap();
        assert_eq!(place.flags(&config), " --server http://127.0.0.1:81");
        place.server = Some("https://torg.example".to_owned());
        place.ca_file = Some("our own.pem".into());
        assert_eq!(place.flags(&config), " --server https://torg.example --ca-file 'our own.pem'");
    }

    #[test]
    fn a_process_that_listens_on_every_address_is_asked_on_this_machine() {
        for (listen, asked) in [
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://[::1]:80"),
            ("192.0.2.7:80", "http://192.0.2.7:80"),
        ] {
            assert_eq!(own_url(&Config { listen: listen.parse().unwrap(), ..Config::default() }), asked);
        }
    }

    #[test]
    fn an_answer_that_says_nothing_of_what_to_do_brings_advice() {
        let told = |code| terminal::errors::report(&said(&ConnectError::new(code, "no")));
        for code in
            [ErrorCode::NotFound, ErrorCode::DeadlineExceeded, ErrorCode::Internal, ErrorCode::DataLoss]
        {
            assert!(told(code).contains("error: no\nhint: "), "{code:?}");
        }
        assert!(!told(ErrorCode::InvalidArgument).contains("hint: "), "the words say it");
        let named = ConnectError::new(ErrorCode::NotFound, "none: `torg stages list` shows them");
        assert_eq!(terminal::errors::report(&said(&named)), "error: none: `torg stages list` shows them");
    }

    #[test]
    fn an_address_names_how_a_server_is_spoken_to_and_where() {
        for good in ["http://127.0.0.1:8080", "https://torg.example", "http://[::1]:80/torg"] {
            assert!(address(good).is_ok(), "{good}");
        }
        for wrong in ["", "torg.example", "localhost:8080", "ftp://torg.example", "http://", "http://a b"] {
            let said = address(wrong).unwrap_err().to_string();
            assert_eq!(said, format!("{wrong:?} is no address of a server"));
        }
    }
}
