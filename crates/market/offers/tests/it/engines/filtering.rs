//! Lists, filtered or not.

use std::collections::BTreeSet;

use offers::OfferId;
use offers::cabinet::{Filter, PriceFilter};
use offers::status::Mover;
use wire::torg::offers::v1::{Offer, Preset, Status};

use crate::engines::market::{Market, bike, of_feed};

/// A reproducible number that looks random.
fn mixed(n: u64) -> u64 {
    n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
}

async fn whole_list(market: &Market, preset: Preset, filter: &Filter, page_size: usize) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = market.offers.list("ann", preset, filter, after, page_size).await.unwrap();
        ids.extend(page.offers.into_iter().map(|offer| offer.id));
        let Some(next) = page.next else { return ids };
        after = Some(next);
    }
}

pub(crate) async fn a_filter_finds_what_a_look_at_every_offer_finds(market: Market) {
    let (categories, words) = (
        ["transport/bikes", "transport/cars/new", "transport/cars/old", "toys"],
        ["Red", "Rare", "Blue", "Ёж", "x"],
    );
    let mut all: Vec<(Offer, bool)> = Vec::new();
    for n in 0..150_u64 {
        let price = 1 << (mixed(n + 1000) % 12);
        let base = if mixed(n + 2000).is_multiple_of(3) { of_feed(&n.to_string()) } else { bike("", 0) };
        let title = format!("{} {n}", words[mixed(n) as usize % 5]);
        let category = categories[mixed(n + 3000) as usize % 4].to_owned();
        let offer = Offer { title, category, price: bike("", price).price, ..base };
        let id: OfferId = market.publish(&offer).await;
        let banned = mixed(n + 4000).is_multiple_of(5);
        if banned {
            market.move_to(Mover::Moderation, id, Status::Banned).await.unwrap();
        }
        all.push((Offer { id: id.to_string(), ..offer }, banned));
    }
    all.reverse();
    let price = |from: i64, to: i64| PriceFilter {
        currency: "EUR".to_owned(),
        from: from * 1_000_000,
        to: to * 1_000_000,
    };
    let (text, none) = (|text: &str| Some(text.to_owned()), Filter::default());
    let filters = [
        Filter { category: text("transport"), ..none.clone() },
        Filter { category: text("transport/cars"), ..none.clone() },
        Filter { category: text("no/such"), ..none.clone() },
        Filter { source: text("feed:shop"), ..none.clone() },
        Filter { source: text("manual"), ..none.clone() },
        Filter { title_prefix: text("r"), ..none.clone() },
        Filter { title_prefix: text("RARE"), ..none.clone() },
        Filter { title_prefix: text("ё"), ..none.clone() },
        Filter { title_prefix: text("red 1"), ..none.clone() },
        Filter { price: Some(price(8, 64)), ..none.clone() },
        Filter { price: Some(price(0, i64::from(u32::MAX))), category: text("toys"), ..none.clone() },
        Filter { price: Some(price(100, 90)), ..none.clone() },
        Filter {
            category: text("transport"),
            source: text("manual"),
            title_prefix: text("b"),
            price: Some(price(2, 1024)),
            external_id: None,
        },
        none,
    ];
    for filter in &filters {
        for preset in [Preset::All, Preset::Active, Preset::Banned] {
            let fits = |(offer, banned): &&(Offer, bool)| {
                let amount = (1 << (mixed(position(&all, offer) + 1000) % 12)) * 1_000_000;
                let in_category = filter
                    .category
                    .as_ref()
                    .is_none_or(|c| offer.category == *c || offer.category.starts_with(&format!("{c}/")));
                let from = if offer.source.is_set() { "feed:shop" } else { "manual" };
                let in_preset = match preset {
                    Preset::PRESET_ACTIVE => !banned,
                    Preset::PRESET_BANNED => *banned,
                    _ => true,
                };
                in_preset
                    && in_category
                    && filter.source.as_ref().is_none_or(|source| source == from)
                    && filter
                        .title_prefix
                        .as_ref()
                        .is_none_or(|prefix| offer.title.to_lowercase().starts_with(&prefix.to_lowercase()))
                    && filter.price.as_ref().is_none_or(|price| (price.from..=price.to).contains(&amount))
            };
            let expected: Vec<String> = all.iter().filter(fits).map(|(offer, _)| offer.id.clone()).collect();
            for page_size in [7, 200] {
                assert_eq!(
                    whole_list(&market, preset, filter, page_size).await,
                    expected,
                    "{filter:?} in {preset:?}"
                );
            }
        }
    }
}

/// Which offer it was, counted from the first.
fn position(all: &[(Offer, bool)], offer: &Offer) -> u64 {
    let place = all.iter().position(|(other, _)| other.id == offer.id).unwrap();
    (all.len() - 1 - place) as u64
}

pub(crate) async fn a_page_goes_on_where_the_last_one_ended_whatever_came_and_went(market: Market) {
    for n in 0..10 {
        market.publish(&bike(&format!("bike {n}"), 100)).await;
    }
    let first = market.offers.list("ann", Preset::All, &Filter::default(), None, 4).await.unwrap();
    let gone = first.offers[1].id.parse().unwrap();
    market.move_to(Mover::Seller, gone, Status::Removed).await.unwrap();
    // The very last offer of the page goes too.
    let gone = first.offers[3].id.parse().unwrap();
    market.move_to(Mover::Seller, gone, Status::Removed).await.unwrap();
    market.publish(&bike("new", 100)).await;
    let rest = market.offers.list("ann", Preset::All, &Filter::default(), first.next, 100).await.unwrap();
    let seen: Vec<&String> = first.offers.iter().chain(&rest.offers).map(|offer| &offer.id).collect();
    let unique: BTreeSet<&String> = seen.iter().copied().collect();
    assert_eq!((seen.len(), unique.len(), rest.next), (10, 10, None));
}

pub(crate) async fn an_offer_is_found_by_its_id_in_a_feed_until_it_is_removed(market: Market) {
    let id = market.publish(&of_feed("A-1")).await;
    market.publish(&of_feed("A-2")).await;
    let filter = |source: Option<&str>, external: &str| Filter {
        source: source.map(str::to_owned),
        external_id: Some(external.to_owned()),
        ..Filter::default()
    };
    let (shop, one) = (filter(Some("feed:shop"), "A-1"), vec![id.to_string()]);
    assert_eq!(whole_list(&market, Preset::All, &shop, 1).await, one);
    assert_eq!(whole_list(&market, Preset::Active, &shop, 1).await, one);
    let with_title = Filter { title_prefix: Some("BIKE".into()), ..shop.clone() };
    assert_eq!(whole_list(&market, Preset::All, &with_title, 1).await, one);
    for (preset, other) in [
        (Preset::Banned, shop.clone()),
        (Preset::All, Filter { title_prefix: Some("car".into()), ..shop.clone() }),
        (Preset::All, filter(Some("feed:shop"), "A-3")),
        (Preset::All, filter(Some("feed:depot"), "A-1")),
        (Preset::All, filter(Some("manual"), "A-1")),
        (Preset::All, filter(None, "A-1")),
    ] {
        assert!(whole_list(&market, preset, &other, 1).await.is_empty(), "{other:?} in {preset:?}");
    }
    assert!(market.offers.list("bob", Preset::All, &shop, None, 1).await.unwrap().offers.is_empty());
    market.move_to(Mover::Seller, id, Status::Removed).await.unwrap();
    assert!(whole_list(&market, Preset::All, &shop, 1).await.is_empty());
}
