//! TLS settings of connections to services, from what a task says.

use rustls::ClientConfig;

use crate::spec::Tls;

/// The error names the field that is wrong, for people.
pub(crate) fn config(tls: Option<&Tls>) -> Result<ClientConfig, String> {
    let authorities = tls.and_then(|tls| tls.ca_pem.as_deref()).map(str::as_bytes);
    let builder = net::client(match authorities {
        Some(pem) => net::roots(pem).map_err(|error| format!("ca_pem: {error}"))?,
        None => net::system_roots(),
    });
    match tls.map(|tls| (tls.certificate_pem.as_deref(), tls.key_pem.as_ref())) {
        None | Some((None, None)) => Ok(builder.with_no_client_auth()),
        Some((Some(certificate), Some(key))) => {
            let chain = net::certificates(certificate.as_bytes());
            let chain = chain.map_err(|error| format!("certificate_pem: {error}"))?;
            let key = net::private_key(key.expose().as_bytes());
            let key = key.map_err(|error| format!("key_pem: {error}"))?;
            let config = builder.with_client_auth_cert(chain, key);
            config.map_err(|error| format!("certificate_pem, key_pem: {error}"))
        }
        Some(_) => Err("certificate_pem and key_pem: give both or none".to_owned()),
    }
}
