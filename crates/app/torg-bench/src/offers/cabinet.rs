//! Measures the cabinet of a seller with very many offers beside that of a seller with a hundred.

use std::time::Instant;

use wire::torg::offers::v1::list_offers_request::Filter;
use wire::torg::offers::v1::{CabinetServiceClient, GetCountsRequest, ListOffersRequest, Preset};

use super::ads::{Ads, CATEGORIES, asked, money};
use super::load::{BIG_SELLER, SMALL_SELLER};
use super::options::OffersBench;
use super::report::{Report, figure, over};
use super::server::Server;
use crate::data::Numbers;
use crate::measure::{Measure, all_beside};

type Client = CabinetServiceClient;

/// Sellers who load their cabinets at the same time.
const LOOKERS: usize = 4;
const PAGE: u32 = 50;
/// Letters of a title that a seller types.
const TYPED_CHARS: usize = 4;

/// Requests both cabinets in turn, then runs the requests that only the large one gets.
pub(super) async fn measure(
    args: &OffersBench,
    server: &Server,
    ads: &Ads,
    report: &mut Report,
) -> anyhow::Result<()> {
    let [page, big_page, counts, big_counts] = in_turn(args, server, |client, _| async move {
        Ok([
            timed(list(&client, SMALL_SELLER, Filter::default(), "")).await?.0,
            timed(list(&client, BIG_SELLER, Filter::default(), "")).await?.0,
            timed(count(&client, SMALL_SELLER)).await?.0,
            timed(count(&client, BIG_SELLER)).await?.0,
        ])
    })
    .await?;
    report.page_p99_ms = figure(page.p99_ms());
    report.big_page_p99_ms = figure(big_page.p99_ms());
    report.counts_p99_ms = figure(counts.p99_ms());
    report.big_counts_p99_ms = figure(big_counts.p99_ms());
    let ratios = [
        over(report.big_page_p99_ms, report.page_p99_ms),
        over(report.big_counts_p99_ms, report.counts_p99_ms),
    ];
    report.big_seller_ratio = ratios.into_iter().flatten().reduce(f64::max);
    args.run.say(&format!(
        "  cabinet          page of {PAGE}: p50 {:.2} and p99 {:.2} ms of {} offers, {:.2} and {:.2} ms of 100; counts: {:.2} and {:.2} ms, {:.2} and {:.2} ms",
        big_page.quantile_ms(500),
        big_page.p99_ms(),
        args.big_seller,
        page.quantile_ms(500),
        page.p99_ms(),
        big_counts.quantile_ms(500),
        big_counts.p99_ms(),
        counts.quantile_ms(500),
        counts.p99_ms()
    ));
    let ads = ads.clone();
    let [next_page, category, title, price] = in_turn(args, server, move |client, seed| {
        let filters = filters(&ads, seed);
        async move { large_only(&client, filters).await }
    })
    .await?;
    report.big_next_page_p99_ms = figure(next_page.p99_ms());
    report.big_category_p99_ms = figure(category.p99_ms());
    report.big_title_p99_ms = figure(title.p99_ms());
    report.big_price_p99_ms = figure(price.p99_ms());
    args.run.say(&format!(
        "  of {:<9}     p99 of the second page {:.2} ms, of a category {:.2} ms, of a title's first letters {:.2} ms, of a price range {:.2} ms",
        args.big_seller,
        next_page.p99_ms(),
        category.p99_ms(),
        title.p99_ms(),
        price.p99_ms()
    ));
    Ok(())
}

/// A second page, and three filtered lists.
async fn large_only(client: &Client, [category, title, price]: [Filter; 3]) -> anyhow::Result<[Measure; 4]> {
    let token = list(client, BIG_SELLER, Filter::default(), "").await?;
    Ok([
        timed(list(client, BIG_SELLER, Filter::default(), &token)).await?.0,
        timed(list(client, BIG_SELLER, category, "")).await?.0,
        timed(list(client, BIG_SELLER, title, "")).await?.0,
        timed(list(client, BIG_SELLER, price, "")).await?.0,
    ])
}

fn filters(ads: &Ads, seed: u64) -> [Filter; 3] {
    let mut numbers = Numbers::new(seed);
    let category = CATEGORIES[numbers.below(CATEGORIES.len() as u64) as usize].to_owned();
    let title_prefix = ads.title(&mut numbers).chars().take(TYPED_CHARS).collect();
    let from = asked(&mut numbers);
    [
        Filter { category, ..Filter::default() },
        Filter { title_prefix, ..Filter::default() },
        Filter {
            price_from: Some(money(from)).into(),
            price_to: Some(money(from + from / 5)).into(),
            ..Filter::default()
        },
    ]
}

/// Several clients repeat the same requests, first a warm-up without counting.
async fn in_turn<const N: usize, F>(
    args: &OffersBench,
    server: &Server,
    look: impl Fn(Client, u64) -> F + Clone + Send + 'static,
) -> anyhow::Result<[Measure; N]>
where
    F: Future<Output = anyhow::Result<[Measure; N]>> + Send,
{
    let clients = server.cabinets();
    let (warm_up, time) = (args.warm_up_time(), args.warm_up_time() + args.time());
    let lookers = (0..LOOKERS).map(|looker| {
        let (client, look) = (clients[looker % clients.len()].clone(), look.clone());
        tokio::spawn(async move {
            let (begin, mut turn) = (Instant::now(), looker as u64);
            let mut all: [Measure; N] = std::array::from_fn(|_| Measure::default());
            while begin.elapsed() < time || all.iter().any(|measure| measure.count == 0) {
                turn += LOOKERS as u64;
                let is_warm = begin.elapsed() >= warm_up;
                let looks = look(client.clone(), turn).await?;
                if is_warm {
                    all.iter_mut().zip(looks).for_each(|(all, one)| all.beside(one));
                }
            }
            anyhow::Ok(all)
        })
    });
    let mut sums: [Vec<Measure>; N] = std::array::from_fn(|_| Vec::new());
    for looker in futures::future::join_all(lookers).await {
        sums.iter_mut().zip(looker??).for_each(|(sum, measure)| sum.push(measure));
    }
    Ok(sums.map(all_beside))
}

/// Returns the duration of a call with its result.
async fn timed<T>(call: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<(Measure, T)> {
    let (start, mut measure) = (Instant::now(), Measure::default());
    let answer = call.await?;
    measure.note(start, 1);
    Ok((measure, answer))
}

/// A page of active offers; returns the token of the next page.
async fn list(client: &Client, seller: &str, filter: Filter, token: &str) -> anyhow::Result<String> {
    let is_whole = filter == Filter::default();
    let request = ListOffersRequest {
        seller: seller.to_owned(),
        preset: Preset::Active.into(),
        filter: Some(filter).into(),
        page_size: PAGE,
        page_token: token.to_owned(),
        ..ListOffersRequest::default()
    };
    let answer = client.list_offers(request).await?;
    anyhow::ensure!(!is_whole || answer.offers.len() == PAGE as usize, "a page is not full");
    Ok(answer.next_page_token)
}

async fn count(client: &Client, seller: &str) -> anyhow::Result<()> {
    let request = GetCountsRequest { seller: seller.to_owned(), ..GetCountsRequest::default() };
    let answer = client.get_counts(request).await?;
    anyhow::ensure!(answer.counts.iter().any(|count| count.offers >= 100), "offers are not counted");
    Ok(())
}
