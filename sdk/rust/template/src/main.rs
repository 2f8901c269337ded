//! The stage `phone-numbers`: removes phone numbers from titles and notifies moderators of repeated cases.

mod stage;

use std::process::ExitCode;

use stage::PhoneNumbers;
use stagekit::Options;

#[tokio::main]
async fn main() -> ExitCode {
    let mut options = Options::default();
    if let Some(address) = std::env::args().nth(1) {
        options.address = address;
    }
    options.token = std::env::var("STAGE_TOKEN").ok().filter(|token| !token.is_empty());
    match stagekit::serve(PhoneNumbers::default(), options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
