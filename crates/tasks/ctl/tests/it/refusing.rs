//! What cannot be taken is refused, with the reason.

use ctl::limits::{AUTHOR_CHARS_MAX, CHANGES_MAX, REASON_CHARS_MAX};
use ctl::{Error, Prefix};
use triggers::{Parameter, Value};

use crate::fixture::{Fixture, number};

pub(crate) async fn a_wrong_name_is_refused_with_the_reason(fixture: Fixture) {
    let long = "a".repeat(201);
    for (entity, parameter, reason) in [
        ("", "rows", "a part of it is empty"),
        ("sales", "", "a part of it is empty"),
        ("a..b", "rows", "a part of it is empty"),
        ("shop/", "rows", "a part of it is empty"),
        ("/sales", "rows", "the namespace before / is empty"),
        ("a.b/sales", "rows", "there is a dot in the namespace"),
        ("sales", "rows.all", "there is a dot in what follows the entity"),
        ("sa les", "rows", "there is ' ' in it"),
        ("sales", "ro\0ws", "there is '\\0' in it"),
        (long.as_str(), "rows", "at most 200 bytes each"),
        ("sales", long.as_str(), "at most 200 bytes each"),
    ] {
        let parameter = Parameter { entity: entity.to_owned(), name: parameter.to_owned() };
        let set = fixture.change(ctl::Change::set(parameter.clone(), Value::Number(1))).await;
        let texts = [
            set.unwrap_err().to_string(),
            fixture.ctl.get(&parameter).await.unwrap_err().to_string(),
            fixture.ctl.get_many(std::slice::from_ref(&parameter)).await.unwrap_err().to_string(),
            fixture.ctl.history(&parameter, None, 1).await.unwrap_err().to_string(),
            fixture.ctl.list(&Prefix::all(), Some(&parameter), 1).await.unwrap_err().to_string(),
        ];
        for text in texts {
            assert!(text.contains(reason) && text.contains("write entity.parameter"), "{text}");
            assert!(text.len() < 600, "{text}");
        }
    }
    for wrong in ["/", "sa les", long.as_str()] {
        assert!(matches!(wrong.parse::<Prefix>(), Err(Error::Name { .. })), "{wrong}");
    }
    // The longest that fit, in letters of two bytes.
    let parameter = Parameter { entity: "\u{44f}".repeat(100), name: "\u{44f}".repeat(100) };
    assert!(fixture.change(ctl::Change::set(parameter, Value::Number(1))).await.unwrap().changed);
}

pub(crate) async fn too_much_of_anything_is_refused_with_the_limit(fixture: Fixture) {
    let one = || vec![number("sales.rows", 1)];
    let refused = async |author: &str, reason: &str| {
        fixture.ctl.set(one(), author, reason).await.unwrap_err().to_string()
    };
    assert_eq!(refused("", "").await, "an author is needed: a name of 1 to 200 characters");
    assert_eq!(refused(" ", "").await, refused("", "").await);
    assert_eq!(refused(&"a".repeat(AUTHOR_CHARS_MAX + 1), "").await, refused("", "").await);
    assert!(refused("anna", &"a".repeat(REASON_CHARS_MAX + 1)).await.contains("at most 1000 characters"));
    let many = (0..=CHANGES_MAX).map(|i| number(&format!("e{i}.rows"), 1)).collect();
    let text = fixture.ctl.set(many, "anna", "").await.unwrap_err().to_string();
    assert_eq!(text, "1001 changes at once are too many: make at most 1000 in one call");
    assert!(fixture.ctl.all().await.unwrap().is_empty());
    let longest = "\u{44f}".repeat(REASON_CHARS_MAX);
    assert!(fixture.ctl.set(one(), &"\u{44f}".repeat(AUTHOR_CHARS_MAX), &longest).await.unwrap()[0].changed);
}

pub(crate) async fn a_parameter_is_changed_once_in_a_call(fixture: Fixture) {
    let twice = vec![number("sales.rows", 1), number("a.b", 1), number("default/sales.rows", 2)];
    let text = fixture.ctl.set(twice, "anna", "").await.unwrap_err().to_string();
    assert_eq!(text, "sales.rows is changed twice in one call: leave one of the two changes out");
    assert!(fixture.ctl.all().await.unwrap().is_empty());
}
