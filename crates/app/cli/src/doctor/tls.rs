//! Checks the TLS certificate of the server.

use access::Tls;
use clock::Time;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::finding::{Area, Finding};
use super::limits::CERTIFICATE_DAYS_MIN;
use crate::remote::certificates;
use node::auth::access_error;
use node::config::Config;

const DAY_MS: i64 = 24 * 3600 * 1000;
const RENEW: &str = "renew it: a running process takes up changed files by itself";

/// Checks that certificate and key match, and when the certificate expires.
pub(super) fn check(config: &Config, now: Time) -> Vec<Finding> {
    match Tls::load(&config.tls) {
        Ok(None) => Vec::new(),
        Err(error) => {
            let hint = "name a certificate and its key with tls.cert_file and tls.key_file";
            vec![Finding::failed(Area::Tls, &access_error(error), hint)]
        }
        Ok(Some(_)) => vec![lifetime(config, now)],
    }
}

fn lifetime(config: &Config, now: Time) -> Finding {
    let file = &config.tls.cert_file;
    let first = certificates(file).ok().and_then(|chain| chain.into_iter().next());
    let validity = first.as_ref().and_then(|first| {
        let (_, certificate) = X509Certificate::from_der(first).ok()?;
        let validity = certificate.validity();
        Some((validity.not_before.timestamp() * 1000, validity.not_after.timestamp() * 1000))
    });
    match validity {
        Some((begins, ends)) => judge(&file.display().to_string(), begins, ends, now.as_ms()),
        None => Finding::warning(
            Area::Tls,
            format!("{}: it cannot be seen until when the certificate is valid", file.display()),
            "look at it with `openssl x509 -noout -dates`",
        ),
    }
}

fn judge(file: &str, begins: i64, ends: i64, now: i64) -> Finding {
    let until = Time::from_ms(ends);
    let days = (ends - now) / DAY_MS;
    if now < begins {
        let what = format!("{file}: the certificate is valid only from {}", Time::from_ms(begins));
        Finding::error(Area::Tls, what, "wait, use the one before, or look at the clock of this machine")
    } else if now >= ends {
        Finding::error(Area::Tls, format!("{file}: the certificate has expired at {until}"), RENEW)
    } else if days < CERTIFICATE_DAYS_MIN {
        let what = format!("{file}: the certificate expires in {days} days, at {until}");
        Finding::warning(Area::Tls, what, RENEW)
    } else {
        Finding::ok(Area::Tls, format!("{file}: the certificate is valid until {until}, and its key fits"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn a_certificate_is_told_before_it_expires() {
        let severity = |days: i64| judge("c", 0, days * DAY_MS, 100 * DAY_MS).severity;
        assert_eq!(severity(114), Severity::Ok);
        assert_eq!(severity(113), Severity::Warning);
        assert_eq!(severity(100), Severity::Error);
        assert_eq!(judge("c", 2, 3, 1).severity, Severity::Error, "it is not valid yet");
    }
}
