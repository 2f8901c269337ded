//! Offers of earlier catalogues.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::{Catalogue, Migration};
use stages::{Evolution, Lineage};
use wire::torg::offers::v1::Offer;

use crate::ground::{Ground, SHARDS, eventually};
use crate::market::Market;
use crate::shop::{bike, catalogue_of, with};

const FIRST: &str = r#"
[catalogue]
name = "market"
version = 1
languages = ["en"]
currencies = ["EUR"]
price = { kinds = ["fixed"], required = false, max = 100000000000 }

[unit.km]
measures = "length"
factor = 1000
name = { en = "km" }
[unit.mi]
measures = "length"
factor = 1609.344
name = { en = "mi" }

[attribute.make]
name = { en = "Make" }
type = "text"
[attribute.mileage]
name = { en = "Mileage" }
type = "whole"
unit = "km"
min = 0
max = 1000000
[attribute.code]
name = { en = "Code" }
type = "text"

[category.bikes]
name = { en = "Bikes" }
optional = ["make", "mileage", "code"]
[category.toys]
name = { en = "Toys" }
"#;

/// The make becomes a brand, bikes become cycles, nobody asks for a code any more.
const FIRST_TO_SECOND: &str = r#"
[migration]
from = 1
to = 2
[[category]]
from = "bikes"
to = "cycles"
[[attribute]]
from = "make"
to = "brand"
[[attribute]]
from = "code"
remove = true
"#;

/// Miles replace kilometres, and there are fewer of them.
const SECOND_TO_THIRD: &str = r#"
[migration]
from = 2
to = 3
[[attribute]]
from = "mileage"
unit = ["km", "mi"]
"#;

fn second() -> String {
    FIRST
        .replace("version = 1", "version = 2")
        .replace("[attribute.make]\nname = { en = \"Make\" }", "[attribute.brand]\nname = { en = \"Brand\" }")
        .replace("[attribute.code]\nname = { en = \"Code\" }\ntype = \"text\"\n", "")
        .replace(
            "[category.bikes]\nname = { en = \"Bikes\" }",
            "[category.cycles]\nname = { en = \"Cycles\" }",
        )
        .replace("optional = [\"make\", \"mileage\", \"code\"]", "optional = [\"brand\", \"mileage\"]")
}

fn third() -> String {
    second()
        .replace("version = 2", "version = 3")
        .replace("unit = \"km\"\nmin = 0\nmax = 1000000", "unit = \"mi\"\nmin = 0\nmax = 1000")
}

fn catalogues() -> [Arc<Catalogue>; 3] {
    [catalogue_of(FIRST), catalogue_of(&second()), catalogue_of(&third())]
}

fn evolution() -> Arc<Evolution> {
    let [first, second, third] = catalogues();
    let steps = vec![
        Migration::read("1-2.toml", FIRST_TO_SECOND, Some(&first), &second).unwrap(),
        Migration::read("2-3.toml", SECOND_TO_THIRD, Some(&second), &third).unwrap(),
    ];
    Arc::new(Evolution::new(Lineage::new(vec![first, second, third], steps).unwrap()))
}

fn used(kilometres: &str) -> Offer {
    with(with(with(bike(100), "make", "Mifa"), "mileage", kilometres), "code", "A 1")
}

fn attribute<'o>(offer: &'o Offer, name: &str) -> Option<&'o str> {
    offer.attributes.get(name).map(|values| &*values.values[0])
}

pub(crate) async fn offers_of_the_first_catalogue_are_moved_to_the_third_or_say_why_not(ground: Ground) {
    let market = Market::open(&ground, catalogues()[0].clone(), Vec::new()).await;
    let (little, much) = (market.publish(&used("161")).await, market.publish(&used("161000")).await);
    let toy = market.publish(&Offer { category: "toys".to_owned(), ..bike(3) }).await;
    let before = market.get(much).await;
    market.close().await;

    let evolution = evolution();
    let market = Market::open(&ground, catalogues()[2].clone(), vec![evolution.clone()]).await;
    let survey = evolution.survey(&ground.store, SHARDS).await.unwrap();
    assert_eq!(
        (survey.moved, survey.up_to_date, survey.stuck),
        (2, 0, 1),
        "what would be, before anything is"
    );
    market.recrawl().await;
    let moved = market.eventually("it is moved", little, |offer| offer.catalogue_version == 3).await;
    assert_eq!(moved.category, "cycles");
    assert_eq!((attribute(&moved, "brand"), attribute(&moved, "mileage")), (Some("Mifa"), Some("100")));
    assert_eq!(moved.attributes.len(), 2, "the code is gone: {:?}", moved.attributes);
    market.eventually("it is moved", toy, |offer| offer.catalogue_version == 3).await;

    let stuck = market.eventually("it says why not", much, |offer| !offer.obstacles.is_empty()).await;
    let obstacle = &stuck.obstacles[0];
    assert_eq!((&*obstacle.field, &*obstacle.code), ("attributes.mileage", "too_large"));
    assert!(obstacle.text.contains("1000"), "{}", obstacle.text);
    assert_eq!((stuck.catalogue_version, &stuck.category), (1, &before.category));
    assert_eq!(stuck.attributes, before.attributes, "nothing else changes");

    let report = eventually("all are counted", async || {
        Some(evolution.report()).filter(|report| report.moved + report.stuck == 3)
    })
    .await;
    assert_eq!((report.moved, report.stuck), (2, 1));
    assert_eq!(report.obstacles.keys().next().unwrap(), &("attributes.mileage".to_owned(), "too_large"));
    assert_eq!(report.examples[0].0, much.to_string());

    let versions = async || [market.settled(little).await.version, market.settled(much).await.version];
    let seen = versions().await;
    market.recrawl().await;
    assert_eq!(versions().await, seen, "a second time changes nothing");
    assert_eq!(evolution.report(), report);
    market.close().await;
}

pub(crate) async fn an_offer_that_its_seller_mends_is_of_the_present_catalogue(ground: Ground) {
    let market = Market::open(&ground, catalogues()[0].clone(), Vec::new()).await;
    let id = market.publish(&used("161000")).await;
    market.close().await;
    let market = Market::open(&ground, catalogues()[2].clone(), vec![evolution()]).await;
    market.recrawl().await;
    market.eventually("it says why not", id, |offer| !offer.obstacles.is_empty()).await;
    let mended = market
        .change(id, |offer| {
            *offer = Offer { category: "cycles".to_owned(), attributes: BTreeMap::new(), ..offer.clone() };
        })
        .await;
    assert_eq!((mended.catalogue_version, mended.obstacles.len()), (3, 0));
    assert_eq!(market.settled(id).await.version, mended.version, "there is nothing left to move");
    market.close().await;
}

#[test]
fn a_lineage_is_read_from_a_folder_with_the_past() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let present = catalogue_of(&third());
    let read = || Lineage::read(folder.path(), Arc::clone(&present));
    let old = Offer { catalogue_version: 1, ..used("161") };
    assert!(matches!(read().unwrap().evolve(&old), stages::Evolved::Stuck(_)), "nothing leads from there");
    write("2/catalogue.toml", &second());
    assert!(read().unwrap_err().to_string().contains("2-3.toml"), "{}", read().unwrap_err());
    write("2-3.toml", SECOND_TO_THIRD);
    write("1/catalogue.toml", FIRST);
    write("1-2.toml", FIRST_TO_SECOND);
    let stages::Evolved::Moved(moved) = read().unwrap().evolve(&old) else { panic!("it is moved") };
    assert_eq!((&*moved.category, moved.catalogue_version), ("cycles", 3));
    let unknown = Offer { catalogue_version: 0, ..old.clone() };
    assert_eq!(read().unwrap().evolve(&unknown), stages::Evolved::Moved(moved), "it is as old as can be");
    let fresh = Offer { catalogue_version: 3, ..old };
    assert_eq!(read().unwrap().evolve(&fresh), stages::Evolved::UpToDate);
    write("1-2.toml", &FIRST_TO_SECOND.replace("[[attribute]]\nfrom = \"code\"\nremove = true\n", ""));
    assert!(read().unwrap_err().to_string().contains("`code` is gone"), "{}", read().unwrap_err());
}
