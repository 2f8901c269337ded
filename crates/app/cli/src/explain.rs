//! `torg explain offer ID`: asks a running process about an offer and prints the answer as text.

use std::fmt::Write as _;

use clap::Subcommand;
use offers::status::name;
use wire::torg::offers::v1::{
    Author, ExplainOfferRequest, ExplainOfferResponse, HistoryEntry, Offer, OfferServiceClient, Opinion,
    author, opinion,
};

use super::remote::{Place, said};
use node::config::Config;
use terminal::{moment, one_line, say};

/// What can be explained.
#[derive(Debug, Subcommand)]
pub(crate) enum ExplainCommand {
    /// An offer: its history, what moderation thinks, and what each stage waits for.
    Offer {
        /// The sixteen digits, also in groups.
        id: String,
        /// Prints the answer as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

pub(crate) async fn run(command: ExplainCommand, config: &Config) -> anyhow::Result<()> {
    let ExplainCommand::Offer { id, json, place } = command;
    let remote = place.connect_or_own(config).await?;
    let client = OfferServiceClient::new(remote.connection, remote.config);
    let request = ExplainOfferRequest { id, ..ExplainOfferRequest::default() };
    let answer = client.explain_offer(request).await.map_err(|error| said(&error))?;
    let words = in_words(&answer)?;
    say(json, &answer, || vec![words])
}

fn in_words(answer: &ExplainOfferResponse) -> anyhow::Result<String> {
    let nothing = Offer::default();
    let offer = answer.offer.as_option().unwrap_or(&nothing);
    let id: offers::OfferId = offer.id.parse()?;
    let mut text = String::new();
    writeln!(text, "offer {} of {}: {}", id.grouped(), offer.seller, one_line(&offer.title))?;
    write!(
        text,
        "{} since {}",
        name(offer.status.as_known().unwrap_or_default()),
        moment(offer.status_time.as_option())
    )?;
    if let Some(reason) = offer.status_reason.as_option() {
        write!(text, ", by {}", who(reason.author.as_option()))?;
        for part in [&reason.code, &reason.text].into_iter().filter(|part| !part.is_empty()) {
            write!(text, ", {}", one_line(part))?;
        }
    }
    writeln!(text, "; version {}", offer.version)?;
    if offer.expire_time.is_set() {
        writeln!(text, "expires at {}", moment(offer.expire_time.as_option()))?;
    }
    if let Some(opinion) = answer.moderation.as_option().and_then(|moderation| moderation.opinion.as_option())
    {
        writeln!(text, "moderation: {}", thinks(opinion))?;
    }
    let owner = if answer.served_by.is_empty() { "nobody at the moment" } else { &answer.served_by };
    writeln!(text, "\nstages (shard {}, served by {owner})", answer.shard)?;
    for note in &answer.notes {
        writeln!(text, "  {}", one_line(note))?;
    }
    for stage in &answer.stages {
        writeln!(text, "  {}: {}", stage.stage, one_line(&stage.standing))?;
    }
    writeln!(text, "\nhistory")?;
    for entry in &answer.history {
        tell(entry, &mut text)?;
    }
    Ok(text.trim_end().to_owned())
}

fn tell(entry: &HistoryEntry, text: &mut String) -> std::fmt::Result {
    let HistoryEntry { version, time, author, changes, .. } = entry;
    writeln!(text, "  {version}  {}  {}", moment(time.as_option()), who(author.as_option()))?;
    for change in changes {
        // Long values are stored only as the excerpt that differs.
        let parts = change.excerpt.as_option();
        let parts = parts.map(|parts| {
            [&parts.before, &parts.after].map(|part| Some(part).filter(|part| !part.is_empty()))
        });
        let [before, after] = parts.unwrap_or([change.before.as_ref(), change.after.as_ref()]);
        let none = if change.long && parts.is_none() { "(long)" } else { "nothing" };
        let shown = |value: Option<&String>| value.map_or_else(|| none.to_owned(), |value| one_line(value));
        let (before, after) = (shown(before), shown(after));
        writeln!(text, "       {}: {before} -> {after}", change.field)?;
    }
    Ok(())
}

fn thinks(opinion: &Opinion) -> String {
    let verdict = match opinion.verdict.as_known() {
        Some(opinion::Verdict::VERDICT_BAN) => "ban",
        Some(opinion::Verdict::VERDICT_ALLOW) => "allow",
        _ => "unknown",
    };
    let reasons: Vec<String> =
        opinion.reasons.iter().map(|reason| one_line(&format!("{} {}", reason.code, reason.text))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    format!("{verdict} by {} at {}{reasons}", opinion.moderator, moment(opinion.time.as_option()))
}

fn who(author: Option<&Author>) -> String {
    let Some(author) = author else { return "nobody".to_owned() };
    let kind = match author.kind.as_known().unwrap_or_default() {
        author::Kind::KIND_UNSPECIFIED => "",
        author::Kind::KIND_SELLER => "seller",
        author::Kind::KIND_STAGE => "stage",
        author::Kind::KIND_FEED => "feed",
        author::Kind::KIND_MODERATION => "moderator",
        author::Kind::KIND_SUPPORT => "support",
        author::Kind::KIND_SERVICE => "service",
        author::Kind::KIND_ADMIN => "admin",
        author::Kind::KIND_ARCHIVE => "the",
    };
    format!("{kind} {}", author.name).trim().to_owned()
}
