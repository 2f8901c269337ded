//! - It changes the offer: the title loses its phone number.
//! - It keeps a private state: how often that happened, and when it happened last.
//! - It uses a timer: after a month without a phone number the state is deleted.
//! - Its side effect, the notice to moderators, is in `on_saved`, which is called only for saved changes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stagekit::{Answer, Description, Failure, Offer, Saved, Schedule, Stage, Subject, Timestamp};

const FORGET_AFTER: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const PATIENCE: u32 = 3;
/// Fewer digits are a year, a size or a price.
const DIGITS_MIN: usize = 7;
/// Separators between two digits, and how many of them.
const BETWEEN: &[u8] = b" ()/.-";
const BETWEEN_MAX: usize = 2;

/// Sends a notice with a key and a text. A repeated key is the same notice.
type Notify = Box<dyn Fn(&str, &str) + Send + Sync>;

pub(crate) struct PhoneNumbers {
    notify: Notify,
}

impl Default for PhoneNumbers {
    /// Put your mail or your webhook here.
    fn default() -> PhoneNumbers {
        PhoneNumbers { notify: Box::new(|key, text| println!("notice {key}: {text}")) }
    }
}

/// The private state.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Memory {
    times: u32,
    last: Timestamp,
}

#[stagekit::async_trait]
impl Stage for PhoneNumbers {
    fn describe(&self) -> Description {
        Description::new("phone-numbers", "0.1.0")
            .interest(["title"])
            .sets(["title"])
            .asked()
            .hears_of_saves()
    }

    async fn should_process(&self, subject: &Subject) -> Result<Schedule, Failure> {
        let found = without_phone_numbers(&subject.offer.title).is_some();
        Ok(if found { Schedule::Now } else { Schedule::No })
    }

    async fn process(&self, subject: &Subject) -> Result<Answer, Failure> {
        let memory: Option<Memory> = subject.state()?;
        let Some(title) = without_phone_numbers(&subject.offer.title) else {
            return Ok(forget_in_time(memory.as_ref(), subject.now));
        };
        if title.is_empty() {
            return Err(Failure::Lasting("the title is nothing but a phone number".to_owned()));
        }
        let memory = Memory { times: memory.map_or(0, |memory| memory.times) + 1, last: subject.now };
        let answer = Answer::patch(["title"], Offer { title, ..Offer::default() });
        Ok(answer.with_state(&memory)?.visit_in(FORGET_AFTER))
    }

    async fn on_saved(&self, saved: &Saved) -> Result<(), Failure> {
        let Some(memory) = saved.state::<Memory>()? else { return Ok(()) };
        if memory.times >= PATIENCE {
            let Offer { id, version, .. } = &saved.offer;
            let text = format!("a phone number in the title of {id}, {} times by now", memory.times);
            (self.notify)(&format!("{id}-{version}"), &text);
        }
        Ok(())
    }
}

fn forget_in_time(memory: Option<&Memory>, now: Timestamp) -> Answer {
    let Some(memory) = memory else { return Answer::untouched() };
    let until = memory.last + FORGET_AFTER;
    if now >= until { Answer::untouched().without_state() } else { Answer::untouched().visit_at(until) }
}

/// The title without its phone numbers; `None` if it has none.
fn without_phone_numbers(title: &str) -> Option<String> {
    let (mut rest, mut kept, mut found) = (title, String::new(), false);
    while let Some(next) = rest.chars().next() {
        let inside_word = kept.ends_with(char::is_alphanumeric);
        match phone_number(rest) {
            Some(end) if next == '+' || !inside_word => {
                found = true;
                kept.push(' ');
                rest = &rest[end..];
            }
            _ => {
                kept.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    found.then(|| kept.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The length of the phone number at the start of a text: a plus or a zero, then digits with separators.
fn phone_number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut end = match bytes {
        [b'+', digit, ..] if digit.is_ascii_digit() => 2,
        [b'0', ..] => 1,
        _ => return None,
    };
    let mut digits = 1;
    loop {
        let between = bytes[end..].iter().take_while(|byte| BETWEEN.contains(byte)).count();
        let next = bytes.get(end + between);
        if between > BETWEEN_MAX || !next.is_some_and(u8::is_ascii_digit) {
            break;
        }
        end += between + 1;
        digits += 1;
    }
    (digits >= DIGITS_MIN).then_some(end)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use stagekit::testing::{self, NOW};

    use super::*;

    fn titled(title: &str) -> Subject {
        testing::subject(Offer { title: title.to_owned(), ..Offer::default() })
    }

    #[tokio::test]
    async fn a_phone_number_is_taken_out_of_a_title_and_counted() {
        let subject = titled("Red bicycle +49 (30) 123-45-67 call me");
        let visited = testing::visit(&PhoneNumbers::default(), &subject).await.unwrap();
        assert_eq!(visited.offer.title, "Red bicycle call me");
        assert_eq!(visited.state().unwrap(), Some(Memory { times: 1, last: NOW }));
        assert_eq!(visited.visit_at, Some(NOW + FORGET_AFTER));
    }

    #[tokio::test]
    async fn years_sizes_and_prices_are_no_phone_numbers() {
        for title in ["Red bicycle, 28 inch, 2024", "Flat, 3 rooms, 120 m2, 1.200.000 EUR"] {
            let stage = PhoneNumbers::default();
            assert_eq!(stage.should_process(&titled(title)).await.unwrap(), Schedule::No);
            let visited = testing::visit(&stage, &titled(title)).await.unwrap();
            assert!(visited.changed.is_empty());
        }
    }

    #[tokio::test]
    async fn a_title_of_nothing_else_fails() {
        let failure = testing::visit(&PhoneNumbers::default(), &titled("030 1234567")).await.unwrap_err();
        assert!(matches!(failure, Failure::Lasting(_)));
    }

    #[tokio::test]
    async fn a_month_later_all_is_forgotten() {
        let stage = PhoneNumbers::default();
        let first = testing::visit(&stage, &titled("Red bicycle 030 1234567")).await.unwrap();
        let early = first.again(NOW + Duration::from_secs(60));
        assert_eq!(testing::visit(&stage, &early).await.unwrap().visit_at, first.visit_at);
        let late = testing::visit(&stage, &first.again(first.visit_at.unwrap())).await.unwrap();
        assert_eq!(late.state::<Memory>().unwrap(), None);
        assert_eq!(late.visit_at, None);
    }

    #[tokio::test]
    async fn moderators_hear_of_the_third_time_once_it_is_saved() {
        let notices: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&notices);
        let stage =
            PhoneNumbers { notify: Box::new(move |key, _| kept.lock().unwrap().push(key.to_owned())) };
        let mut subject = titled("Red bicycle");
        for _ in 0..3 {
            subject.offer.title.push_str(" 030 1234567");
            let visited = testing::visit(&stage, &subject).await.unwrap();
            assert!(notices.lock().unwrap().is_empty());
            stage.on_saved(&visited.saved()).await.unwrap();
            subject = visited.again(NOW);
        }
        assert_eq!(*notices.lock().unwrap(), [format!("{}-4", testing::ID)]);
    }
}
