//! Problems in the form of reports, without remedies, which belong to the code. Positions are those
//! of the file.

use catalog::Catalogue;
use feedfile::{Code, FeedOffer, Position};
use offers::validation::Violation;
use unify::{Mark, MarkKind, Unified};
use wire::torg::feeds::v1::Problem;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::offers::v1::Offer;

const TEXT_CHARS_MAX: usize = 300;

/// A problem found by the reader.
pub(super) fn of_file(problem: &feedfile::Problem) -> Problem {
    Problem {
        code: problem.code.name().to_owned(),
        severity: severity(problem.severity).into(),
        field: problem.field.clone(),
        value: cut(&problem.value),
        line: problem.at.line,
        column: problem.at.column,
        message: cut(&problem.message),
        ..Problem::default()
    }
}

pub(super) fn of_code(code: Code, field: &str, message: &str) -> Problem {
    Problem {
        code: code.name().to_owned(),
        severity: severity(code.severity()).into(),
        field: field.to_owned(),
        message: cut(message),
        ..Problem::default()
    }
}

/// The same at a position of the file.
pub(super) fn at(problem: Problem, at: Position, value: &str) -> Problem {
    Problem { line: at.line, column: at.column, value: cut(value), ..problem }
}

/// The same with this severity instead of the usual one of its code.
pub(super) fn as_error(problem: Problem) -> Problem {
    Problem { severity: Severity::SEVERITY_ERROR.into(), ..problem }
}

pub(super) fn as_warning(problem: Problem) -> Problem {
    Problem { severity: Severity::SEVERITY_WARNING.into(), ..problem }
}

fn severity(severity: feedfile::Severity) -> Severity {
    match severity {
        feedfile::Severity::Error => Severity::SEVERITY_ERROR,
        feedfile::Severity::Warning => Severity::SEVERITY_WARNING,
    }
}

fn cut(text: &str) -> String {
    text::head(text, TEXT_CHARS_MAX).to_owned()
}

pub(super) fn problem_of(
    violation: &Violation,
    offer: &FeedOffer,
    catalogue: &Catalogue,
    made: &Offer,
) -> Problem {
    let (position, value) = origin(&violation.field, offer);
    let code = code_of(violation);
    let required =
        violation.text.strip_suffix(": has to be given").filter(|_| code == Code::MissingAttribute);
    let category = catalogue.category(&made.category).map(|category| category.name("en"));
    let message = match (required, category) {
        (Some(attribute), Some(category)) => format!("the category {category} requires {attribute}"),
        _ => violation.text.clone(),
    };
    at(of_code(code, &violation.field, &message), position, &value)
}

fn code_of(violation: &Violation) -> Code {
    let is_attribute = violation.field.starts_with("attributes.");
    match (violation.code, is_attribute) {
        ("required", true) => Code::MissingAttribute,
        (_, true) => Code::BadAttributeValue,
        ("required" | "too_few", false) => Code::MissingField,
        ("too_long", _) => Code::TooLong,
        ("too_many" | "too_many_values", _) => Code::TooMany,
        ("wrong_url", _) => Code::BadUrl,
        ("wrong_phone", _) => Code::BadPhone,
        ("wrong_email", _) => Code::BadEmail,
        ("category_unknown" | "category_not_open" | "category_closed", _) => Code::UnknownCategory,
        ("unknown_currency", _) => Code::BadCurrency,
        _ if violation.field.starts_with("price") => Code::BadPrice,
        _ if violation.field.starts_with("place") => Code::BadCoordinates,
        _ => Code::BadValue,
    }
}

/// The position and value in the file of a field of the offer.
fn origin(field: &str, offer: &FeedOffer) -> (Position, String) {
    let of = |at: &Option<feedfile::At<String>>| at.as_ref().map(|at| (at.at, at.value.clone()));
    let head = field.split(['.', '[']).next().unwrap_or(field);
    let found = match head {
        "title" => Some((offer.title.at, offer.title.value.clone())),
        "description" => of(&offer.description),
        "price" => offer.price.as_ref().map(|at| (at.at, String::new())),
        "photos" => offer.photos.first().map(|at| (at.at, String::new())),
        "video" => of(&offer.video),
        "place" => of(&offer.address),
        "contacts" => offer.contacts.phones.first().map(|at| (at.at, at.value.clone())),
        "condition" => offer.condition.as_ref().map(|at| (at.at, String::new())),
        "category" => {
            let texts = offer.category.texts.first().map(|(_, at)| (at.at, at.value.clone()));
            texts.or_else(|| of(&offer.category.id))
        }
        _ => None,
    };
    found.unwrap_or((offer.at, String::new()))
}

/// Whether to report a mark. A field of the format that the catalogue lacks is not a mistake of the
/// seller.
pub(super) fn is_reported(mark: &Mark, offer: &FeedOffer) -> bool {
    let name = mark.field.strip_prefix("params.");
    let is_own = || offer.params.iter().any(|param| param.is_own && Some(&*param.name) == name);
    mark.kind != MarkKind::UnknownAttribute || is_own()
}

pub(super) fn problem_of_mark(
    mark: &Mark,
    unified: &Unified,
    offer: &FeedOffer,
    catalogue: &Catalogue,
) -> Problem {
    let meant = mark.suggestion.as_ref().map(|meant| match catalogue.category(meant) {
        Some(category) if mark.field == "category" => format!("{} ({meant})", category.path("en")),
        _ => meant.clone(),
    });
    let suggestion = meant.as_ref().map(|meant| format!("; perhaps {meant}")).unwrap_or_default();
    let has_category = unified.category.is_some();
    let (code, message) = match mark.kind {
        MarkKind::UnknownCategory => {
            (Code::UnknownCategory, format!("no category of the catalogue fits{suggestion}"))
        }
        MarkKind::AmbiguousCategory if !has_category => {
            let broad = meant.unwrap_or_default();
            (Code::UnknownCategory, format!("the category is too broad: choose one under {broad}"))
        }
        MarkKind::AmbiguousCategory => {
            (Code::AmbiguousCategory, format!("two categories are equally likely{suggestion}"))
        }
        MarkKind::UnknownAttribute => {
            (Code::UnknownAttribute, format!("the category has no such attribute{suggestion}"))
        }
        MarkKind::BadAttributeValue => {
            (Code::BadAttributeValue, format!("the value cannot be read{suggestion}"))
        }
        MarkKind::UnknownPlace => (Code::UnknownPlace, format!("no known place has this name{suggestion}")),
        MarkKind::AmbiguousPlace => {
            (Code::AmbiguousPlace, format!("several places have this name{suggestion}"))
        }
        MarkKind::GeocoderUnavailable => {
            (Code::PlaceLater, "the place could not be looked up for now".to_owned())
        }
        MarkKind::GeocoderRefused => {
            (Code::UnknownPlace, format!("the place could not be looked up{suggestion}"))
        }
    };
    let problem = of_code(code, &mark.field, &message);
    // An unknown category rejects the offer, an unknown place or attribute does not.
    let problem = if code == Code::UnknownCategory { as_error(problem) } else { as_warning(problem) };
    let param =
        mark.field.strip_prefix("params.").and_then(|name| offer.params.iter().find(|it| it.name == name));
    let position = match (param, mark.field.as_str()) {
        (Some(param), _) => param.at,
        (None, "address") => offer.address.as_ref().map_or(offer.at, |at| at.at),
        (None, "coordinates") => offer.coordinates.as_ref().map_or(offer.at, |at| at.at),
        (None, field) => origin(field, offer).0,
    };
    at(problem, position, &mark.given)
}
