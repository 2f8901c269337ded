//! The checked declaration of a remote stage.

use std::time::Duration;

use buffa_types::google::protobuf::FieldMask;
use http::{HeaderValue, Uri};
use watcher::{Fields, StageLimits};
use wire::torg::stages::v1::OutsideStage;

use crate::answers::{Allowed, wrong_interest};
use crate::connect::Dialer;
use crate::limits::{
    ADDRESS_BYTES_MAX, ENDPOINTS_MAX, GRACE, ID_BYTES_MAX, PEM_BYTES_MAX, TIMEOUT, TIMEOUT_MAX,
    TOKEN_BYTES_MAX,
};

/// An error in one field of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {text}")]
pub struct SpecError {
    /// A path in the message: `endpoints[1]`.
    pub field: String,
    pub text: String,
}

/// A remote stage that can be called.
#[derive(Clone, Debug)]
pub struct StageSpec {
    pub id: String,
    pub limits: StageLimits,
    pub timeout: Duration,
    pub allowed: Allowed,
    /// Overrides the fields that the stage is interested in.
    pub interest: Option<Fields>,
    pub(crate) endpoints: Vec<Uri>,
    /// The addresses of a shadow, and the share of the visits that it sees.
    pub(crate) shadow: Option<(Vec<Uri>, f64)>,
    pub(crate) dialer: Dialer,
    pub(crate) token: Option<HeaderValue>,
    pub(crate) declared: OutsideStage,
}

impl StageSpec {
    pub(crate) fn is_id(text: &str) -> bool {
        id(text).is_ok()
    }

    /// Checks a declaration and returns all errors at once.
    pub fn check(declared: &OutsideStage) -> Result<Self, Vec<SpecError>> {
        let mut wrong = Vec::new();
        let id = or_note(&mut wrong, "id", id(&declared.id));
        let endpoints = addresses(&mut wrong, "endpoints", &declared.endpoints);
        let token = or_note(&mut wrong, "token", token(&declared.token));
        let dialer = or_note(&mut wrong, "tls", dialer(declared));
        let timeout = or_note(&mut wrong, "timeout", timeout(declared));
        let limits = or_note(&mut wrong, "limits", limits(declared, timeout.unwrap_or(TIMEOUT)));
        let allowed = Allowed::check(paths(declared.may_change.as_option()));
        let allowed = or_note(&mut wrong, "may_change", allowed);
        let interest = or_note(&mut wrong, "interest", interest(paths(declared.interest.as_option())));
        let shadow = declared.shadow.as_option().map(|shadow| {
            let share = shadow.share.unwrap_or(1.0);
            if !(0.0..=1.0).contains(&share) {
                wrong.push(SpecError { field: "shadow.share".to_owned(), text: "from 0 to 1".to_owned() });
            }
            (addresses(&mut wrong, "shadow.endpoints", &shadow.endpoints), share)
        });
        let (
            Some(id),
            Some(token),
            Some(dialer),
            Some(timeout),
            Some(limits),
            Some(allowed),
            Some(interest),
            true,
        ) = (id, token, dialer, timeout, limits, allowed, interest, wrong.is_empty())
        else {
            return Err(wrong);
        };
        let declared = declared.clone();
        Ok(Self { id, limits, timeout, allowed, interest, endpoints, shadow, dialer, token, declared })
    }

    /// The declaration with its secrets replaced by `***`.
    #[must_use]
    pub fn redacted(&self) -> OutsideStage {
        let mut redacted = self.declared.clone();
        if !redacted.token.is_empty() {
            "***".clone_into(&mut redacted.token);
        }
        if let Some(tls) = redacted.tls.as_option_mut()
            && !tls.key_pem.is_empty()
        {
            "***".clone_into(&mut tls.key_pem);
        }
        redacted
    }

    /// The declaration with other addresses and without a shadow.
    #[must_use]
    pub fn with_endpoints(&self, endpoints: &[String]) -> OutsideStage {
        OutsideStage { endpoints: endpoints.to_vec(), shadow: None.into(), ..self.declared.clone() }
    }

    /// The declaration with the addresses of the shadow; `None` if there is none.
    #[must_use]
    pub fn promoted(&self) -> Option<OutsideStage> {
        let shadow = self.declared.shadow.as_option()?;
        Some(self.with_endpoints(&shadow.endpoints))
    }
}

pub(crate) fn paths(mask: Option<&FieldMask>) -> &[String] {
    mask.map_or(&[], |mask| &mask.paths)
}

fn or_note<T>(wrong: &mut Vec<SpecError>, field: &str, checked: Result<T, String>) -> Option<T> {
    checked.map_err(|text| wrong.push(SpecError { field: field.to_owned(), text })).ok()
}

fn id(id: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if id.is_empty() || id.len() > ID_BYTES_MAX || !id.chars().all(fits) {
        return Err(format!("1 to {ID_BYTES_MAX} letters, digits, - and _, not {id:?}"));
    }
    Ok(id.to_owned())
}

fn addresses(wrong: &mut Vec<SpecError>, field: &str, given: &[String]) -> Vec<Uri> {
    if given.is_empty() || given.len() > ENDPOINTS_MAX {
        let text = format!("from 1 to {ENDPOINTS_MAX} addresses, as http://127.0.0.1:7070");
        wrong.push(SpecError { field: field.to_owned(), text });
    }
    let checked = given.iter().take(ENDPOINTS_MAX).enumerate();
    checked.filter_map(|(n, text)| or_note(wrong, &format!("{field}[{n}]"), address(text))).collect()
}

fn address(text: &str) -> Result<Uri, String> {
    let wrong = || format!("{text:?} is no address: give http://host:port or https://host:port");
    if text.len() > ADDRESS_BYTES_MAX {
        return Err(format!("an address has at most {ADDRESS_BYTES_MAX} bytes"));
    }
    let uri: Uri = text.parse().map_err(|_| wrong())?;
    let plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
    let without_user = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    match uri.scheme_str() {
        Some("http" | "https") if plain && without_user => Ok(uri),
        _ => Err(wrong()),
    }
}

fn token(token: &str) -> Result<Option<HeaderValue>, String> {
    let token = token.trim();
    if token.is_empty() {
        return Ok(None);
    }
    if token.len() > TOKEN_BYTES_MAX {
        return Err(format!("at most {TOKEN_BYTES_MAX} bytes"));
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| "one line of plain characters".to_owned())?;
    value.set_sensitive(true);
    Ok(Some(value))
}

fn dialer(declared: &OutsideStage) -> Result<Dialer, String> {
    let tls = declared.tls.as_option();
    if tls.is_some_and(|tls| tls.ca_pem.len() + tls.certificate_pem.len() + tls.key_pem.len() > PEM_BYTES_MAX)
    {
        return Err(format!("certificates and keys have at most {PEM_BYTES_MAX} bytes together"));
    }
    let secured = |address: &&String| address.starts_with("https://");
    let shadow = declared.shadow.as_option().map_or(&[][..], |shadow| &shadow.endpoints);
    let all = || declared.endpoints.iter().chain(shadow);
    if tls.is_some() && all().next().is_some() && !all().any(|address| secured(&address)) {
        return Err("no address begins with https://: give such addresses, or leave tls out".to_owned());
    }
    if !all().any(|address| secured(&address)) {
        return Ok(Dialer::plain());
    }
    Dialer::secured(tls)
}

fn timeout(declared: &OutsideStage) -> Result<Duration, String> {
    let Some(given) = declared.timeout.as_option() else { return Ok(TIMEOUT) };
    let given = u64::try_from(given.seconds).ok().zip(u32::try_from(given.nanos).ok());
    match given.map(|(seconds, nanos)| Duration::from_secs(seconds) + Duration::from_nanos(nanos.into())) {
        Some(given) if !given.is_zero() && given <= TIMEOUT_MAX => Ok(given),
        _ => Err(format!("more than nothing and at most {TIMEOUT_MAX:?}")),
    }
}

fn interest(paths: &[String]) -> Result<Option<Fields>, String> {
    match paths.iter().find_map(|path| wrong_interest(path)) {
        Some(wrong) => Err(wrong),
        None => Ok((!paths.is_empty()).then(|| Fields::of(paths.iter().cloned()))),
    }
}

fn limits(declared: &OutsideStage, timeout: Duration) -> Result<StageLimits, String> {
    let usual = StageLimits::default();
    let or_usual = |given: u32, usual: usize| if given == 0 { usual } else { given as usize };
    let limits = StageLimits {
        rate: (declared.rate != 0.0).then_some(declared.rate),
        calls_max: or_usual(declared.calls_max, usual.calls_max),
        batch_max: or_usual(declared.batch_max, usual.batch_max),
        timeout: timeout + GRACE,
        timer_share: declared.timer_share.unwrap_or(usual.timer_share),
        background_share: declared.background_share.unwrap_or(usual.background_share),
        ..usual
    };
    limits.validate()?;
    Ok(limits)
}
