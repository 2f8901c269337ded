//! Deviations from the specifications that exports of shop plug-ins have.

use crate::common::{codes, offers, problems, read};
use feedfile::{
    Code, Condition, Excerpt, Format, Header, Item, Judge, Money, Options, Position, Price, Problem, Reader,
    Severity, check_with,
};

fn yml(offer: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<yml_catalog date=\"2026-01-31 12:00\"><shop>\n<offers>{offer}</offers></shop></yml_catalog>"
    )
}

fn rss(fields: &str) -> String {
    format!(
        "<rss version=\"2.0\" xmlns:g=\"http://base.google.com/ns/1.0\"><channel><item><g:id>1</g:id>\
         <g:price>5 EUR</g:price>{fields}</item></channel></rss>"
    )
}

#[test]
fn names_of_html_are_read_as_in_html_and_places_behind_them_are_right() {
    let text = yml("<offer id='1'><name>Лампа&nbsp;&laquo;Луна&raquo;</name><price>x</price></offer>");
    let (items, _) = read(text.as_bytes());
    let line = text.lines().nth(2).unwrap();
    let column = |what: &str| line[..line.find(what).unwrap()].chars().count() as u32 + 1;
    assert_eq!(
        problems(&items),
        [(Code::HtmlEntity, 3, column("&nbsp;")), (Code::BadPrice, 3, column("x</price>"))]
    );
    let sound =
        yml("<offer id='1'><name>Лампа&nbsp;&laquo;Луна&raquo; &euro; &c</name><price>5 RUB</price></offer>");
    assert_eq!(offers(&sound)[0].title.value, "Лампа «Луна» € &c");
}

#[test]
fn titles_and_descriptions_inside_cdata_lose_the_references_of_html() {
    let text = rss(
        "<g:title><![CDATA[Men&#8217;s shirt &amp; tie]]></g:title><g:description><![CDATA[5&#x20AC; &deg;C]]></g:description>",
    );
    let offer = &offers(&text)[0];
    assert_eq!(offer.title.value, "Men’s shirt & tie");
    assert_eq!(offer.description.as_ref().unwrap().value, "5€ °C");
}

#[test]
fn prices_on_request_are_negotiable_and_tags_of_new_things_mean_new() {
    let text = yml(
        "<offer id='1'><name>A</name><price>По запросу</price><condition>Новое с биркой</condition></offer>",
    );
    let offer = &offers(&text)[0];
    assert_eq!(offer.price.as_ref().unwrap().value, Price::Negotiable(None));
    assert_eq!(offer.condition.as_ref().unwrap().value, Condition::New);
}

#[test]
fn russian_phones_without_the_number_of_the_country_get_it() {
    let text = "<Ads><Ad><Id>1</Id><Title>A</Title><Price>5</Price><ContactPhone>8 916 123-45-67</ContactPhone></Ad></Ads>";
    assert_eq!(offers(text)[0].contacts.phones[0].value, "+79161234567");
}

#[test]
fn what_a_job_pays_is_its_price() {
    let text = "<Ads><Ad><Id>1</Id><Title>Cook</Title><Salary>45000</Salary>\
                <SalaryRange><From>40000</From><To>60000</To></SalaryRange></Ad></Ads>";
    let roubles = |amount: i64| Some(Money { micros: amount * 1_000_000, currency: "RUB".to_owned() });
    assert_eq!(offers(text)[0].price.as_ref().unwrap().value, Price::Range(roubles(40_000), roubles(60_000)));
}

#[test]
fn remarks_before_the_head_of_a_table_are_passed() {
    let text = "# Required | A unique id,# Required | The name\n\nid,title,price,link\n1,Jeans,5 EUR,https://m.example/1\n";
    let reader = Reader::open(text.as_bytes(), Options::default()).unwrap();
    assert_eq!(reader.format(), Format::GoogleCsv);
    let offer = &offers(text)[0];
    assert_eq!((offer.external_id.as_str(), offer.at), ("1", Position { line: 4, column: 1 }));
}

#[test]
fn fields_of_the_format_are_told_from_parameters_of_the_seller_and_terms_of_the_sale_are_neither() {
    let text = yml(
        "<offer id='1'><name>A</name><price>5 RUB</price><store>true</store><sales_notes>x</sales_notes>\
         <weight>3</weight><param name='Цвет'>красный</param></offer>",
    );
    let params = offers(&text)[0].params.clone();
    let told: Vec<(&str, bool)> = params.iter().map(|param| (param.name.as_str(), param.is_own)).collect();
    assert_eq!(told, [("weight", false), ("Цвет", true)]);
    let text = rss(
        "<title>A</title><g:custom_label_0>x</g:custom_label_0><g:shipping_weight>1 kg</g:shipping_weight>",
    );
    assert!(offers(&text)[0].params.is_empty());
}

#[test]
fn a_date_that_is_none_is_shown_where_it_stands() {
    let text = "<yml_catalog date=\"31.01.2026\">\n<shop><offers></offers></shop></yml_catalog>";
    let (_, summary) = read(text.as_bytes());
    let problem = &summary.problems[0];
    assert_eq!((problem.code, problem.at), (Code::WrongHeader, Position { line: 1, column: 20 }));
    let shown = Excerpt { text: "<yml_catalog date=\"31.01.2026\">".to_owned(), caret: 19 };
    assert_eq!(problem.excerpt, shown);
}

struct NothingIsGood;

impl Judge for NothingIsGood {
    fn judge(&mut self, item: Item, _: &Header) -> Vec<Problem> {
        let offer = item.offer.unwrap();
        let problem = |severity, at| Problem {
            code: Code::UnknownCategory,
            severity,
            field: "category".to_owned(),
            value: String::new(),
            at,
            message: "nothing fits".to_owned(),
            external_id: offer.external_id.clone(),
            excerpt: Excerpt::default(),
        };
        vec![problem(Severity::Error, offer.title.at), problem(Severity::Warning, offer.at)]
    }
}

#[test]
fn what_a_judge_finds_is_counted_and_shown_with_its_line() {
    let rows = (0..7).map(|id| format!("{id}\tЛампа\t5 EUR")).collect::<Vec<_>>().join("\n");
    let table = format!("id\ttitle\tprice\n{rows}\n7\tЛампа\t?\n");
    let report = check_with(table.as_bytes(), Options::default(), &mut (), &mut NothingIsGood, 3);
    let summary = &report.summary;
    assert_eq!((summary.offers, summary.accepted, summary.rejected), (8, 0, 8));
    assert_eq!(summary.errors_by_code[&Code::UnknownCategory], 7);
    let errors = &report.groups[&(Severity::Error, Code::UnknownCategory)];
    assert_eq!((errors.count, errors.examples.len()), (7, 3));
    let excerpt = Excerpt { text: "1 Лампа 5 EUR".to_owned(), caret: 2 };
    assert_eq!(errors.examples[1].problem.excerpt, excerpt);
    // Equal warnings are reported once.
    let warnings = &report.groups[&(Severity::Warning, Code::UnknownCategory)];
    assert_eq!((warnings.examples.len(), warnings.examples[0].same), (1, 6));
}

#[test]
fn an_excerpt_that_is_cut_says_so() {
    let long = "x".repeat(200);
    let text = yml(&format!("<offer id='1'><name>{long}</name><price>?</price><url>{long}</url></offer>"));
    let (items, _) = read(text.as_bytes());
    assert!(codes(&items, Severity::Error).contains(&Code::BadPrice));
    let found = items[0].problems.iter().find(|problem| problem.code == Code::BadPrice).unwrap();
    let Excerpt { text, caret } = &found.excerpt;
    assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
    assert_eq!(text.chars().nth(*caret), Some('?'));
}
