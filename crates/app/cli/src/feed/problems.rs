//! `torg feed errors`: lists the problems of the offers in a load.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::{self as proto, OfferProblem, Problem};

use super::asked::{AskedOfFeed, Client, answered};
use super::files::{FeedPath, download};
use node::config::Config;
use terminal::one_line;

/// Problems per request.
const PAGE: u32 = 200;

/// Which problems, and where to put them.
#[derive(Debug, Args)]
pub(crate) struct Errors {
    /// The number of the load; by default the last one.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    load: u64,
    /// Only this code; can be repeated.
    #[arg(long, value_name = "CODE")]
    code: Vec<String>,
    /// Only errors, or only warnings.
    #[arg(long, value_enum)]
    severity: Option<Only>,
    /// Only of the offer with this id in the file.
    #[arg(long, value_name = "ID", default_value = "")]
    offer: String,
    /// Problems that are listed below the summary.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// The language of messages and remedies: en or ru.
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    language: String,
    /// Writes the whole report into a spreadsheet instead.
    #[arg(long, value_name = "FILE", conflicts_with = "csv")]
    xlsx: Option<PathBuf>,
    /// Writes the whole report into a table with commas instead.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    feed: AskedOfFeed,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Only {
    Error,
    Warning,
}

impl From<Only> for Severity {
    fn from(only: Only) -> Self {
        match only {
            Only::Error => Self::SEVERITY_ERROR,
            Only::Warning => Self::SEVERITY_WARNING,
        }
    }
}

pub(super) async fn run(errors: &Errors, config: &Config) -> anyhow::Result<()> {
    let asked = &errors.feed.asked;
    let remote = asked.remote(config).await?;
    let client = Client::new(remote.connection.clone(), remote.config.clone());
    let request = proto::GetLoadRequest {
        seller: asked.seller.clone(),
        namespace: errors.feed.namespace.clone(),
        number: errors.load,
        ..Default::default()
    };
    let load = answered(client.get_load(request).await)?.load.into_option().unwrap_or_default();
    let files = [(&errors.xlsx, "problems.xlsx"), (&errors.csv, "problems.csv")];
    if let Some((file, name)) = files.iter().find_map(|(file, name)| Some((file.as_ref()?, *name))) {
        let feed = FeedPath { seller: &load.seller, namespace: &load.namespace };
        let bytes = download(&remote, &feed, (load.number, name, &errors.language), file).await?;
        let answer = json!({ "file": file, "bytes": bytes });
        return asked.say(&answer, || vec![format!("{}: {bytes} bytes", file.display())]);
    }
    let summary = errors.summary(&client, &load).await?;
    let (problems, more) = errors.listed(&client, &load).await?;
    let answer = json!({ "load": load.number, "codes": summary.codes, "problems": problems, "more": more });
    asked.say(&answer, || errors.words(&load, &summary.codes, &problems, more))
}

impl Errors {
    async fn summary(
        &self,
        client: &Client,
        load: &proto::Load,
    ) -> anyhow::Result<proto::SummarizeProblemsResponse> {
        let request = proto::SummarizeProblemsRequest {
            seller: load.seller.clone(),
            namespace: load.namespace.clone(),
            number: load.number,
            language: self.language.clone(),
            ..Default::default()
        };
        answered(client.summarize_problems(request).await)
    }

    /// Up to the requested number of problems, and whether there are more.
    async fn listed(&self, client: &Client, load: &proto::Load) -> anyhow::Result<(Vec<OfferProblem>, bool)> {
        let mut problems = Vec::new();
        let mut page_token = String::new();
        while problems.len() < self.limit {
            let request = proto::ListProblemsRequest {
                seller: load.seller.clone(),
                namespace: load.namespace.clone(),
                number: load.number,
                codes: self.code.clone(),
                severity: self.severity.map(Severity::from).unwrap_or_default().into(),
                external_id: self.offer.clone(),
                page_size: PAGE.min(u32::try_from(self.limit - problems.len()).unwrap_or(PAGE)),
                page_token,
                language: self.language.clone(),
                ..Default::default()
            };
            let answer = answered(client.list_problems(request).await)?;
            problems.extend(answer.problems);
            page_token = answer.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        Ok((problems, !page_token.is_empty()))
    }

    fn words(
        &self,
        load: &proto::Load,
        codes: &[proto::summarize_problems_response::CodeSummary],
        problems: &[OfferProblem],
        more: bool,
    ) -> Vec<String> {
        let mut lines = vec![format!("load {} of feed {} of {}", load.number, load.namespace, load.seller)];
        if codes.is_empty() {
            lines.push("nothing is wrong with its offers".to_owned());
        }
        for code in codes {
            let severity = named(code.severity.as_known().unwrap_or_default());
            lines.push(format!("{:>8} x {severity}[{}]: {}", code.count, code.code, code.meaning));
            let link = if code.link.is_empty() { String::new() } else { format!(" ({})", code.link) };
            lines.push(format!("           = {}{link}", code.remedy));
        }
        for problem in problems {
            lines.push(String::new());
            lines.extend(in_words(problem));
        }
        if more && self.limit > 0 {
            lines.push(String::new());
            lines.push(
                "there are more: --limit, --code, --offer, or the whole report with --xlsx FILE".to_owned(),
            );
        }
        lines
    }
}

fn named(severity: Severity) -> &'static str {
    if severity == Severity::SEVERITY_WARNING { "warning" } else { "error" }
}

fn in_words(of: &OfferProblem) -> Vec<String> {
    let nothing = Problem::default();
    let problem = of.problem.as_option().unwrap_or(&nothing);
    let severity = named(problem.severity.as_known().unwrap_or_default());
    let field = if problem.field.is_empty() { String::new() } else { format!("{}: ", problem.field) };
    let message = one_line(&problem.message);
    let value = if problem.value.is_empty() { String::new() } else { format!(" ({:?})", problem.value) };
    let place = if problem.line == 0 {
        String::new()
    } else {
        format!("line {}, column {}, ", problem.line, problem.column)
    };
    let mut lines = vec![format!("{severity}[{}]: {field}{message}{value}", problem.code)];
    lines.push(
        format!("  --> {place}offer {} {}", one_line(&of.external_id), one_line(&of.title))
            .trim_end()
            .to_owned(),
    );
    if !problem.remedy.is_empty() {
        lines.push(format!("   = {}", one_line(&problem.remedy)));
    }
    lines
}
