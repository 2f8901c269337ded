//! What a calendar takes, and how it shows moments.

use jiff::{SignedDuration, Timestamp};
use triggers::{Calendar, Value};

#[test]
fn moments_are_shown_with_what_they_have() {
    let calendar = Calendar::of_zone("Europe/Berlin").unwrap();
    for (moment, shown) in [
        ("2021-04-25T10:00:00Z", "2021-04-25 12:00"),
        ("2021-04-25T10:00:05Z", "2021-04-25 12:00:05"),
        ("2021-04-25T10:00:00.25Z", "2021-04-25 12:00:00.250"),
        ("2021-04-25T10:00:00.000000001Z", "2021-04-25 12:00"),
        ("2021-10-31T00:30:00Z", "2021-10-31 02:30+02"),
        ("2021-10-31T01:30:00Z", "2021-10-31 02:30+01"),
    ] {
        let moment: Timestamp = moment.parse().unwrap();
        assert_eq!(calendar.show(&moment).to_string(), shown);
    }
    assert_eq!(calendar.show(&Value::Number(-7)).to_string(), "-7");
}

#[test]
fn a_calendar_refuses_what_it_cannot_be() {
    let refused = Calendar::of_zone("Europe/Moskow").unwrap_err().to_string();
    assert!(refused.starts_with("there is no time zone \"Europe/Moskow\""), "{refused}");
    for offset in
        [SignedDuration::from_hours(24), SignedDuration::from_hours(-24), SignedDuration::from_secs(90)]
    {
        let utc = triggers::find_zone("UTC").unwrap();
        assert!(Calendar::new(utc, jiff::civil::Weekday::Monday, offset).is_err(), "{offset}");
    }
    assert_eq!(Calendar::of_zone("europe/moscow"), Calendar::of_zone("Europe/Moscow"));
    assert!(triggers::zone_names().any(|name| name == "Pacific/Apia"));
}
