//! `torg ctl watch`: prints values and their changes as they happen.

use wire::torg::tasks::v1 as proto;

use super::given::{answered, name};
use super::{Asked, words};
use node::config::Config;
use terminal::errors::advised;
use terminal::{print_on, print_words_on};

/// Prints the current values and then every change, until stdout is closed or the server ends the
/// stream.
pub(super) async fn run(about: &[String], asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let request = request(about)?;
    let client = asked.patient_client(config).await?;
    let mut stream = answered(client.watch_values(request).await)?;
    while let Some(told) = answered(stream.message().await)? {
        let is_read = if asked.json {
            print_on(&[serde_json::to_string(&told)?])?
        } else {
            print_words_on(&told.values.iter().map(words::told).collect::<Vec<_>>())?
        };
        if !is_read {
            return Ok(());
        }
    }
    Err(advised("the server has ended the stream", "begin again: the current values come first"))
}

/// A single argument without a dot is a prefix; all other arguments are full names.
fn request(about: &[String]) -> anyhow::Result<proto::WatchValuesRequest> {
    if let [prefix] = about
        && !prefix.contains('.')
    {
        return Ok(proto::WatchValuesRequest { prefix: prefix.clone(), ..Default::default() });
    }
    let hint = "give names such as sales.loaded_to, or one beginning of names such as sales";
    let named = about.iter().map(|text| name(text).map(|name| name.0).map_err(|error| advised(error, hint)));
    let parameters = named.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(proto::WatchValuesRequest { parameters, ..Default::default() })
}
