//! Values are read.

use ctl::{Change, Prefix, canonical};
use triggers::{Parameter, Value};

use crate::fixture::{Fixture, name, number};

async fn listed(fixture: &Fixture, prefix: &str, page: usize) -> Vec<String> {
    let prefix: Prefix = prefix.parse().unwrap();
    let (mut all, mut after): (Vec<String>, Option<Parameter>) = (Vec::new(), None);
    loop {
        let found = fixture.ctl.list(&prefix, after.as_ref(), page).await.unwrap();
        assert!(found.len() <= page);
        all.extend(found.iter().map(|(parameter, _)| parameter.to_string()));
        if found.len() < page {
            return all;
        }
        after = found.last().map(|(parameter, _)| parameter.clone());
    }
}

pub(crate) async fn values_are_listed_in_order_page_by_page_without_the_deleted(fixture: Fixture) {
    let names: Vec<String> = (0..60).map(|i| format!("e{i:02}.rows")).collect();
    let all = names.iter().zip(1..).map(|(name, value)| number(name, value)).collect();
    fixture.ctl.set(all, "anna", "").await.unwrap();
    // More deleted ones in a row than a page has.
    let gone = names[20..40].iter().map(|gone| Change::delete(name(gone))).collect();
    fixture.ctl.set(gone, "anna", "").await.unwrap();
    let left = [&names[..20], &names[40..]].concat();
    for page in [1, 3, 7, 40, 1000] {
        assert_eq!(listed(&fixture, "", page).await, left, "pages of {page}");
    }
    assert!(fixture.ctl.list(&Prefix::all(), None, 0).await.unwrap().is_empty());
    let all = fixture.ctl.all().await.unwrap();
    assert_eq!(all.keys().map(ToString::to_string).collect::<Vec<_>>(), left);
    assert_eq!(all[&name("e05.rows")].value, Value::Number(6));
}

pub(crate) async fn a_beginning_selects_a_namespace_and_its_entities(fixture: Fixture) {
    let names = [
        "sales.a",
        "sales.b",
        "sale.a",
        "orders.a",
        "shop/sales.a",
        "shop/rates.a",
        "shop2/sales.a",
        "default/x/y.a",
    ];
    fixture.ctl.set(names.iter().map(|name| number(name, 1)).collect(), "anna", "").await.unwrap();
    for page in [1, 2, 100] {
        assert_eq!(listed(&fixture, "sale", page).await, ["sale.a", "sales.a", "sales.b"]);
        assert_eq!(listed(&fixture, "shop/", page).await, ["shop/rates.a", "shop/sales.a"]);
        assert_eq!(listed(&fixture, "shop/s", page).await, ["shop/sales.a"]);
        assert_eq!(listed(&fixture, "default/o", page).await, ["orders.a"]);
        assert_eq!(listed(&fixture, "default/x/", page).await, ["default/x/y.a"]);
        assert_eq!(listed(&fixture, "nobody/", page).await, Vec::<String>::new());
        assert_eq!(listed(&fixture, "", page).await.len(), names.len());
    }
}

pub(crate) async fn many_values_are_read_at_once_in_their_order(fixture: Fixture) {
    fixture.ctl.set(vec![number("a.x", 1), number("b.x", 2)], "anna", "").await.unwrap();
    fixture.change(Change::delete(name("a.x"))).await.unwrap();
    let asked = [name("b.x"), name("nobody.x"), name("a.x"), name("b.x")];
    let found = fixture.ctl.get_many(&asked).await.unwrap();
    let values: Vec<_> = found.iter().map(|found| found.as_ref().map(|current| current.value)).collect();
    assert_eq!(values, [Some(Value::Number(2)), None, None, Some(Value::Number(2))]);
    // More than the store reads at once.
    let many: Vec<Parameter> = (0..10_050).map(|i| name(if i % 2 == 0 { "b.x" } else { "c.x" })).collect();
    let found = fixture.ctl.get_many(&many).await.unwrap();
    assert_eq!(found.iter().flatten().count(), 10_050 / 2);
}

pub(crate) async fn the_default_namespace_need_not_be_written(fixture: Fixture) {
    fixture.change(number("default/sales.rows", 5)).await.unwrap();
    assert_eq!(fixture.value("sales.rows").await, Some(Value::Number(5)));
    fixture.change(number("shop/sales.rows", 6)).await.unwrap();
    assert_eq!(fixture.value("sales.rows").await, Some(Value::Number(5)));
    let mut marked: Vec<_> =
        fixture.ctl.changed(10).await.unwrap().into_iter().map(|mark| mark.parameter).collect();
    marked.sort();
    assert_eq!(marked, [name("sales.rows"), name("shop/sales.rows")]);
    assert_eq!(canonical(&name("default/sales.rows")).unwrap(), name("sales.rows"));
    // Without its namespace it would be another one.
    assert_eq!(canonical(&name("default/a/b.rows")).unwrap(), name("default/a/b.rows"));
}
