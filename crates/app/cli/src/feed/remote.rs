//! RPC calls about feeds, loads and mappings, one per command.

use buffa_types::google::protobuf::FieldMask;
use wire::torg::feeds::v1::{self as proto, Feed, Missing};

use super::FeedCommand;
use super::asked::{Asked, AskedOfFeed, Client, answered};
use super::settings::FeedSettings;
use super::words;
use node::config::Config;
use terminal::errors::advised;

/// Feeds or mappings per request.
const PAGE: u32 = 100;

pub(super) async fn run(command: FeedCommand, config: &Config) -> anyhow::Result<()> {
    match command {
        FeedCommand::Add { settings, feed } => add(&settings, &feed, config).await,
        FeedCommand::List { asked } => list(&asked, config).await,
        FeedCommand::Show { feed } => {
            let found = get(&feed.asked.client(config).await?, &feed).await?;
            feed.asked.say(&found, || words::feed(&found, &feed.follow(config)))
        }
        FeedCommand::Update { settings, feed } => change(&settings, &feed, config).await,
        FeedCommand::Pause { feed } => pause(&feed, true, config).await,
        FeedCommand::Resume { feed } => pause(&feed, false, config).await,
        FeedCommand::Delete { offers, feed } => {
            let request = proto::DeleteFeedRequest {
                seller: feed.asked.seller.clone(),
                namespace: feed.namespace.clone(),
                offers: Missing::from(offers).into(),
                ..Default::default()
            };
            let answer = answered(feed.asked.client(config).await?.delete_feed(request).await)?;
            feed.asked.say(&answer, || vec![format!("feed {} is being deleted", feed.namespace)])
        }
        FeedCommand::Fetch { feed } => {
            let request = proto::FetchNowRequest {
                seller: feed.asked.seller.clone(),
                namespace: feed.namespace.clone(),
                ..Default::default()
            };
            let answer = answered(feed.asked.client(config).await?.fetch_now(request).await)?;
            let look = feed.follow(config).line("show");
            let said = format!("feed {} is fetched as soon as possible: {look}", feed.namespace);
            feed.asked.say(&answer, || vec![said])
        }
        FeedCommand::History { limit, feed } => history(&feed, limit, config).await,
        FeedCommand::Confirm { load, feed } => confirm(&feed, load, config).await,
        FeedCommand::Mappings { asked } => mappings(&asked, config).await,
        FeedCommand::Map { own, category, asked } => map(&own, category, &asked, config).await,
        // Other modules run these.
        FeedCommand::Check(_) | FeedCommand::Schema | FeedCommand::Upload(_) | FeedCommand::Errors(_) => {
            Ok(())
        }
    }
}

pub(super) async fn get(client: &Client, feed: &AskedOfFeed) -> anyhow::Result<Feed> {
    let request = proto::GetFeedRequest {
        seller: feed.asked.seller.clone(),
        namespace: feed.namespace.clone(),
        ..Default::default()
    };
    Ok(answered(client.get_feed(request).await)?.feed.into_option().unwrap_or_default())
}

async fn add(settings: &FeedSettings, feed: &AskedOfFeed, config: &Config) -> anyhow::Result<()> {
    let named =
        Feed { seller: feed.asked.seller.clone(), namespace: feed.namespace.clone(), ..Feed::default() };
    let (given, _) = settings.applied_to(named);
    let request = proto::CreateFeedRequest { feed: Some(given).into(), ..Default::default() };
    let answer = answered(feed.asked.client(config).await?.create_feed(request).await)?;
    let made = answer.feed.into_option().unwrap_or_default();
    feed.asked.say(&made, || words::feed(&made, &feed.follow(config)))
}

async fn list(asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let (mut feeds, mut page_token) = (Vec::new(), String::new());
    loop {
        let seller = asked.seller.clone();
        let request = proto::ListFeedsRequest { seller, page_size: PAGE, page_token, ..Default::default() };
        let answer = answered(client.list_feeds(request).await)?;
        feeds.extend(answer.feeds);
        page_token = answer.next_page_token;
        if page_token.is_empty() {
            return asked.say(&feeds, || words::feeds(&feeds, &asked.follow(config)));
        }
    }
}

/// Reads the feed first: a nested message is replaced as a whole, so its other fields must be sent
/// again.
async fn change(settings: &FeedSettings, feed: &AskedOfFeed, config: &Config) -> anyhow::Result<()> {
    let client = feed.asked.client(config).await?;
    let known = get(&client, feed).await?;
    let version = known.version;
    let (given, mask) = settings.applied_to(known);
    if mask.paths.is_empty() {
        return Err(advised("nothing is to be changed", "`torg feed update --help` shows what can be"));
    }
    let changed = update(&client, given, mask, version).await?;
    feed.asked.say(&changed, || words::feed(&changed, &feed.follow(config)))
}

async fn pause(feed: &AskedOfFeed, paused: bool, config: &Config) -> anyhow::Result<()> {
    let given = Feed {
        seller: feed.asked.seller.clone(),
        namespace: feed.namespace.clone(),
        paused,
        ..Feed::default()
    };
    let mask = FieldMask { paths: vec!["paused".to_owned()], ..FieldMask::default() };
    let changed = update(&feed.asked.client(config).await?, given, mask, 0).await?;
    feed.asked.say(&changed, || words::feed(&changed, &feed.follow(config)))
}

async fn update(client: &Client, given: Feed, mask: FieldMask, version: u64) -> anyhow::Result<Feed> {
    let request = proto::UpdateFeedRequest {
        feed: Some(given).into(),
        update_mask: Some(mask).into(),
        version,
        ..Default::default()
    };
    let answer = answered(client.update_feed(request).await)?;
    Ok(answer.feed.into_option().unwrap_or_default())
}

async fn history(feed: &AskedOfFeed, limit: usize, config: &Config) -> anyhow::Result<()> {
    let client = feed.asked.client(config).await?;
    let (mut loads, mut page_token) = (Vec::new(), String::new());
    while loads.len() < limit {
        let request = proto::ListLoadsRequest {
            seller: feed.asked.seller.clone(),
            namespace: feed.namespace.clone(),
            page_size: PAGE.min(u32::try_from(limit - loads.len()).unwrap_or(PAGE)),
            page_token,
            ..Default::default()
        };
        let answer = answered(client.list_loads(request).await)?;
        loads.extend(answer.loads);
        page_token = answer.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    feed.asked.say(&loads, || words::loads(&loads, &feed.follow(config)))
}

async fn confirm(feed: &AskedOfFeed, number: u64, config: &Config) -> anyhow::Result<()> {
    let client = feed.asked.client(config).await?;
    let (seller, namespace) = (feed.asked.seller.clone(), feed.namespace.clone());
    let request = proto::GetLoadRequest {
        seller: seller.clone(),
        namespace: namespace.clone(),
        number,
        ..Default::default()
    };
    let load = answered(client.get_load(request).await)?.load.into_option().unwrap_or_default();
    let request = proto::ConfirmLoadRequest { seller, namespace, number: load.number, ..Default::default() };
    let answer = answered(client.confirm_load(request).await)?;
    let load = answer.load.into_option().unwrap_or_default();
    feed.asked.say(&load, || words::load(&load, &feed.follow(config)))
}

async fn mappings(asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let client = asked.client(config).await?;
    let (mut mappings, mut page_token) = (Vec::new(), String::new());
    loop {
        let seller = asked.seller.clone();
        let request =
            proto::ListMappingsRequest { seller, page_size: PAGE, page_token, ..Default::default() };
        let answer = answered(client.list_mappings(request).await)?;
        mappings.extend(answer.mappings);
        page_token = answer.next_page_token;
        if page_token.is_empty() {
            return asked.say(&mappings, || words::mappings(&mappings, &asked.follow(config)));
        }
    }
}

async fn map(own: &str, category: Option<String>, asked: &Asked, config: &Config) -> anyhow::Result<()> {
    let path: Vec<String> =
        own.split('>').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    let request = proto::SetMappingRequest {
        seller: asked.seller.clone(),
        path,
        category: category.clone().unwrap_or_default(),
        ..Default::default()
    };
    let answer = answered(asked.client(config).await?.set_mapping(request).await)?;
    asked.say(&answer, || {
        vec![match category {
            Some(category) => format!("{own} is {category} from the next load on"),
            None => format!("{own} is recognised again from the next load on"),
        }]
    })
}
