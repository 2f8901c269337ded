//! What a caller sees of feeds: sellers do not see problems of feeds from other services; texts are
//! translated.

use access::{Action, Caller};
use feedfile::{Code, Language};
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::{Feed, Load, Mapping, OfferProblem, Problem};

use crate::caller::own_seller;
use crate::errors::Refusal;

/// What a caller sees of feeds: sellers do not see problems of feeds from other services; texts are
/// translated.
pub(super) struct FeedView {
    all: bool,
    own: Option<String>,
}

impl FeedView {
    pub(super) fn by(caller: &Caller) -> FeedView {
        FeedView { all: caller.may(Action::ReadAny), own: own_seller(caller).map(str::to_owned) }
    }

    pub(super) fn hides_problems_of(&self, feed: &Feed) -> bool {
        feed.parsed.is_set() && !self.all
    }

    pub(super) fn feed(&self, mut feed: Feed) -> Feed {
        let last = feed.last_load.take().map(|load| self.load(&feed, load));
        feed.last_load = last.into();
        feed
    }

    pub(super) fn load(&self, feed: &Feed, mut load: Load) -> Load {
        if self.hides_problems_of(feed) {
            load.failure = None.into();
            load.problems_by_code.clear();
            if let Some(counts) = load.counts.as_option_mut() {
                (counts.errors, counts.warnings) = (0, 0);
            }
        }
        load
    }

    /// The author is shown to staff, and to the seller if it is the seller.
    pub(super) fn mapping(&self, mapping: feeds::Mapping) -> Mapping {
        let feeds::Mapping { path, category, author, by_hand, score } = mapping;
        let is_seen = self.all || self.own.as_deref() == Some(&*author);
        let author = if is_seen { author } else { String::new() };
        Mapping { path, category, score, by_hand, author, ..Mapping::default() }
    }
}

/// The language by its name, or by `Accept-Language`; English by default.
pub fn language_of(named: &str, headers: &http::HeaderMap) -> Result<Language, Refusal> {
    if !named.is_empty() {
        return known(named)
            .ok_or_else(|| Refusal::wrong_field("language", "UNKNOWN_LANGUAGE", "reports are in en and ru"));
    }
    let wanted = headers.get(http::header::ACCEPT_LANGUAGE).and_then(|wanted| wanted.to_str().ok());
    Ok(accepted(wanted.unwrap_or_default()).unwrap_or(Language::English))
}

fn known(name: &str) -> Option<Language> {
    match name {
        "en" => Some(Language::English),
        "ru" => Some(Language::Russian),
        _ => None,
    }
}

/// The first of the preferred languages: `de, ru-RU;q=0.8, en;q=0.5`.
fn accepted(header: &str) -> Option<Language> {
    let mut best = None;
    for entry in header.split(',') {
        let (tag, rest) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = rest.trim().strip_prefix("q=").map_or(Some(1.0), |weight| weight.parse::<f32>().ok());
        let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
        let (Some(language), Some(weight)) = (known(&primary), weight.filter(|weight| *weight > 0.0)) else {
            continue;
        };
        if best.is_none_or(|(_, most)| weight > most) {
            best = Some((language, weight));
        }
    }
    best.map(|(language, _)| language)
}

/// Translates a problem. Stored messages are English with details; without a translation the
/// meaning of the code is shown.
pub(super) fn translated(mut found: OfferProblem, language: Language) -> OfferProblem {
    if let Some(problem) = found.problem.as_option_mut() {
        translate(problem, language);
    }
    found
}

pub(super) fn translate(problem: &mut Problem, language: Language) {
    let Some(code) = Code::from_name(&problem.code) else { return };
    let texts = code.texts(language);
    let said = feedfile::translate(&problem.message, language);
    let is_said = !said.is_empty() && (language == Language::English || said != problem.message);
    problem.message = if is_said { said.into_owned() } else { texts.meaning.to_owned() };
    texts.remedy.clone_into(&mut problem.remedy);
}

/// The usual severity of a code.
pub(super) fn severity(code: Code) -> Severity {
    match code.severity() {
        feedfile::Severity::Error => Severity::SEVERITY_ERROR,
        feedfile::Severity::Warning => Severity::SEVERITY_WARNING,
    }
}

#[cfg(test)]
mod tests {
    use access::{Proof, Role, Roles};
    use wire::torg::feeds::v1::{Counts, Parsed};

    use super::*;

    fn caller(role: Role) -> Caller {
        let proof = Proof::Token { issuer: "test".into() };
        let seller = (role == Role::Seller).then(|| "ann".to_owned());
        Caller { subject: "x".into(), seller, anonymous: None, roles: Roles::NONE.with(role), proof }
    }

    #[test]
    fn problems_of_a_parsed_feed_are_for_support_and_not_for_its_seller() {
        let counts = Counts { errors: 2, warnings: 1, rejected: 2, ..Counts::default() };
        let load = Load {
            failure: Some(Problem::default()).into(),
            problems_by_code: [("missing_field".to_owned(), 3)].into(),
            counts: Some(counts).into(),
            ..Load::default()
        };
        let own = Feed { seller: "ann".into(), last_load: Some(load.clone()).into(), ..Feed::default() };
        let parsed = Feed { parsed: Some(Parsed::default()).into(), ..own.clone() };
        assert_eq!(FeedView::by(&caller(Role::Seller)).feed(own.clone()), own);
        assert_eq!(FeedView::by(&caller(Role::Support)).feed(parsed.clone()), parsed);
        let view = FeedView::by(&caller(Role::Seller)).feed(parsed);
        let view = view.last_load.as_option().unwrap();
        let counts = view.counts.as_option().unwrap();
        assert_eq!((counts.errors, counts.warnings, counts.rejected), (0, 0, 2));
        assert!(view.problems_by_code.is_empty() && !view.failure.is_set());
    }

    #[test]
    fn a_language_is_asked_for_by_name_or_by_header() {
        let of = |named: &str, header: &'static str| {
            let mut headers = http::HeaderMap::new();
            headers.insert(http::header::ACCEPT_LANGUAGE, http::HeaderValue::from_static(header));
            language_of(named, &headers).map_err(|refusal| refusal.reason())
        };
        assert_eq!(of("ru", "en"), Ok(Language::Russian));
        assert_eq!(of("de", ""), Err("UNKNOWN_LANGUAGE"));
        assert_eq!(of("", "de, ru-RU;q=0.8, en;q=0.5"), Ok(Language::Russian));
        assert_eq!(of("", "ru;q=0.3, en"), Ok(Language::English));
        assert_eq!(of("", "de, ru;q=0, rubbish;;q"), Ok(Language::English));
    }

    #[test]
    fn a_message_keeps_its_case_in_english_and_is_the_codes_meaning_in_russian() {
        let code = Code::all().next().unwrap();
        let problem =
            Problem { code: code.name().into(), message: "line 3 has it".into(), ..Problem::default() };
        let told_in = |language| {
            let mut problem = problem.clone();
            translate(&mut problem, language);
            (problem.message, problem.remedy)
        };
        let texts = code.texts(Language::English);
        assert_eq!(told_in(Language::English), ("line 3 has it".into(), texts.remedy.into()));
        let texts = code.texts(Language::Russian);
        assert_eq!(told_in(Language::Russian), (texts.meaning.into(), texts.remedy.into()));
    }
}
