//! What a load would say of offers, without a store.

use std::sync::{Arc, OnceLock};

use catalog::Catalogue;
use feedfile::{Code, Options, Problem, Report, Severity, check_with};
use feeds::Offline;
use unify::Unifier;
use wire::torg::feeds::v1::Defaults;

fn offline() -> &'static Offline {
    static OFFLINE: OnceLock<Offline> = OnceLock::new();
    OFFLINE.get_or_init(|| {
        let catalogue = Arc::new(Catalogue::builtin().unwrap());
        let unifier =
            Unifier::new(Arc::clone(&catalogue), Arc::new(geo::Places::builtin().unwrap())).unwrap();
        Offline::new(Arc::new(unifier), catalogue, Defaults::default())
    })
}

/// Checks a table of one offer.
fn check(columns: &str, cells: &str) -> Report {
    let table = format!("{columns}\n{cells}\n");
    check_with(table.as_bytes(), Options::default(), &mut (), &mut offline().session(), 10)
}

fn problem(report: &Report, severity: Severity, code: Code) -> &Problem {
    let group = report.groups.get(&(severity, code)).unwrap_or_else(|| panic!("{report:?}"));
    &group.examples[0].problem
}

#[test]
fn a_sound_offer_is_accepted_without_a_word() {
    let report = check("id\ttitle\tprice\tproduct_type", "1\tCorner sofa\t120 EUR\tSofas");
    assert_eq!((report.summary.accepted, report.groups.len()), (1, 0), "{report:?}");
}

#[test]
fn what_a_category_asks_for_is_told_with_the_category_and_the_place() {
    let report = check("id\ttitle\tprice\tproduct_type", "1\tSomething\t120 EUR\tMobile phones");
    let missing = problem(&report, Severity::Error, Code::MissingAttribute);
    assert_eq!(missing.message, "the category Mobile & Smart Phones requires Brand");
    assert_eq!((missing.field.as_str(), missing.at.line), ("attributes.brand", 2));
    assert_eq!((report.summary.accepted, report.summary.rejected), (0, 1));
}

#[test]
fn a_title_that_is_too_long_for_its_category_is_cut_and_a_price_without_a_currency_is_no_error() {
    let title = format!("Corner sofa {}", "grey ".repeat(25));
    let report = check("id\ttitle\tprice\tproduct_type", &format!("1\t{title}\t120\tSofas"));
    assert_eq!(report.summary.accepted, 1, "{report:?}");
    problem(&report, Severity::Warning, Code::TooLong);
    problem(&report, Severity::Warning, Code::MissingCurrency);
}

#[test]
fn that_a_thing_is_new_is_no_problem_where_nobody_asks() {
    let columns = "id\ttitle\tprice\tproduct_type\tcondition";
    let cleaning = |condition: &str| {
        check(columns, &format!("1\tHouse cleaning\t50 EUR\tServices > Cleaning\t{condition}"))
    };
    problem(&cleaning("used"), Severity::Warning, Code::BadValue);
    let new = cleaning("new");
    assert_eq!((new.summary.accepted, new.groups.len()), (1, 0), "{new:?}");
}

#[test]
fn an_offer_of_which_nobody_can_tell_what_it_is_is_rejected() {
    let report = check("id\ttitle\tprice", "1\tQwxz 20260822\t5 EUR");
    problem(&report, Severity::Error, Code::UnknownCategory);
    assert_eq!(report.summary.rejected, 1);
}
