//! Each format: every field of a valid file.

use crate::common::{codes, offers, problems, read};
use feedfile::{Availability, CategoryKind, Code, Condition, Format, Money, Position, Price, Severity};

const YML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE yml_catalog SYSTEM "shops.dtd">
<yml_catalog date="2026-01-31 10:00">
  <shop>
    <name>Лавка</name><company>ООО Лавка</company><url>https://lavka.example</url>
    <currencies><currency id="RUR" rate="1"/><currency id="USD" rate="90"/></currencies>
    <categories><category id="1">Книги</category><category id="2" parentId="1">Детективы</category></categories>
    <offers>
      <offer id="a1" available="true" group_id="g">
        <name>Лампа  настольная</name><vendor>Свет</vendor><vendorCode>S-1</vendorCode>
        <url>https://lavka.example/?a=1&amp;b=2</url>
        <price>1 200,50</price><oldprice>1500</oldprice><currencyId>USD</currencyId><categoryId>2</categoryId>
        <picture>https://lavka.example/1.jpg</picture><picture>https://lavka.example/2.jpg</picture>
        <description><![CDATA[<p>Один</p><p>Два &amp; три</p>]]></description>
        <delivery>true</delivery><barcode>4601546021298</barcode>
        <param name="Размер" unit="см">5.6</param><param name="Цвет">белый</param>
        <condition type="likenew"><reason>коробка</reason></condition>
      </offer>
      <offer id="a2" type="vendor.model"><typePrefix>Тостер</typePrefix><vendor>B</vendor><model>K2</model><price from="true">10</price></offer>
      <offer id="a3" type="book"><author>Автор</author><name>Книга</name><ISBN>978-5</ISBN><price>80</price></offer>
      <offer id="a4" type="audiobook"><name>Аудио</name><performed_by>Чтец</performed_by><price>80</price></offer>
      <offer id="a5" type="artist.title"><artist>A</artist><title>Альбом</title><price>80</price></offer>
      <offer id="a6" type="medicine"><name>Мазь</name><price>80</price></offer>
      <offer id="a7" type="event-ticket"><name>Концерт</name><place>Зал</place><date>2026-02-25</date><price>80</price></offer>
      <offer id="a8" type="tour"><name>Тур</name><worldRegion>Африка</worldRegion><days>7</days><price>80</price></offer>
    </offers>
    <promos><promo id="p"><description>offer</description></promo></promos>
  </shop>
</yml_catalog>
"#;

#[test]
fn yml_gives_every_field_of_an_offer() {
    let all = offers(YML);
    assert_eq!(all.len(), 8);
    let first = &all[0];
    assert_eq!((first.external_id.as_str(), first.at), ("a1", Position { line: 9, column: 7 }));
    assert_eq!(
        (first.title.value.as_str(), first.title.at),
        ("Лампа настольная", Position { line: 10, column: 15 })
    );
    let usd = |micros| Money { micros, currency: "USD".to_owned() };
    assert_eq!(first.price.as_ref().unwrap().value, Price::Fixed(usd(1_200_500_000)));
    assert_eq!(first.old_price.as_ref().unwrap().value, usd(1_500_000_000));
    assert_eq!(first.category.id.as_ref().unwrap().value, "2");
    let path: Vec<&str> = first.category.path.as_ref().unwrap().iter().map(AsRef::as_ref).collect();
    assert_eq!(path, ["Книги", "Детективы"]);
    assert_eq!(first.description.as_ref().unwrap().value, "Один\nДва & три");
    assert_eq!(first.photos.len(), 2);
    assert_eq!(first.url.as_ref().unwrap().value, "https://lavka.example/?a=1&b=2");
    assert_eq!(first.condition.as_ref().unwrap().value, Condition::LikeNew);
    assert_eq!(first.availability.as_ref().unwrap().value, Availability::InStock);
    assert_eq!(first.group_id.as_ref().unwrap().value, "g");
    let params: Vec<(&str, &str, &str)> = first
        .params
        .iter()
        .map(|param| (param.name.as_str(), param.value.as_str(), param.unit.as_str()))
        .collect();
    assert_eq!(params, [("Размер", "5.6", "см"), ("Цвет", "белый", "")]);
    assert_eq!(first.params[0].at, Position { line: 16, column: 40 });
}

#[test]
fn yml_gives_every_type_a_title_and_its_own_fields() {
    let all = offers(YML);
    let titles: Vec<&str> = all.iter().map(|offer| offer.title.value.as_str()).collect();
    assert_eq!(titles[1..], ["Тостер B K2", "Книга", "Аудио", "Альбом", "Мазь", "Концерт", "Тур"]);
    let rub = Money { micros: 10_000_000, currency: "RUB".to_owned() };
    assert_eq!(all[1].price.as_ref().unwrap().value, Price::Range(Some(rub), None));
    assert_eq!(all[2].barcodes[0].value, "978-5");
    for (offer, name) in [(2, "author"), (3, "performed_by"), (4, "artist"), (6, "place"), (7, "worldRegion")]
    {
        assert!(all[offer].params.iter().any(|param| param.name == name), "{name}");
    }
}

#[test]
fn the_header_of_yml_is_read() {
    let (_, summary) = read(YML.as_bytes());
    assert_eq!(summary.format, Some(Format::Yml));
    assert_eq!(summary.header.name, "Лавка");
    assert_eq!(summary.header.currencies.len(), 2);
    assert_eq!(summary.header.categories["2"].parent, "1");
    assert_eq!(summary.problems, []);
}

#[test]
fn torg_price_is_yml_with_another_root() {
    let (items, summary) = read(YML.replace("yml_catalog", "torg_price").as_bytes());
    assert_eq!((summary.format, items.len()), (Some(Format::Yml), 8));
}

#[test]
fn yml_names_what_is_wrong_and_where() {
    let text = "<yml_catalog date='20260131'><shop><categories><category id='1'>A</category></categories><offers>\n\
        <offer id='1'><name>A</name><price>5🥴</price></offer>\n\
        <offer id='2'><name>B</name><price>5</price><currencyId>XYZ</currencyId></offer>\n\
        <offer id='3'><price>5</price><currencyId>RUB</currencyId></offer>\n\
        <offer><name>D</name><price>5 RUB</price><categoryId>7</categoryId></offer>\n\
        <offer id='1'><name>E</name><price>5 RUB</price><oldprice>4</oldprice><picture>www.a.example/1.jpg</picture>\
        <picture>none</picture></offer>\n</offers></shop></yml_catalog>";
    let (items, summary) = read(text.as_bytes());
    assert_eq!(
        problems(&items),
        [
            (Code::BadPrice, 2, 36),
            (Code::BadCurrency, 3, 57),
            (Code::MissingField, 4, 1),
            (Code::UnknownCategoryId, 5, 54),
            (Code::MissingField, 5, 1),
            (Code::BadOldPrice, 6, 59),
            (Code::UrlWithoutScheme, 6, 80),
            (Code::BadUrl, 6, 118),
            (Code::DuplicateId, 6, 1),
        ]
    );
    assert_eq!((summary.accepted, summary.rejected, summary.rejected_without_id), (0, 5, 1));
    assert_eq!(summary.problems.iter().map(|found| found.code).collect::<Vec<_>>(), [Code::WrongHeader]);
}

#[test]
fn avito_gives_every_field_of_an_ad() {
    let text = r#"<Ads formatVersion="3" target="Avito.ru">
<Ad><Id>77</Id><Category>Телефоны</Category><GoodsType>Смартфоны</GoodsType><Title>Телефон</Title>
<Description><![CDATA[<ul><li>Раз</li><li>Два</li></ul>]]></Description><Price>18010</Price>
<Images><Image url="https://a.example/1.jpg"/><Image url="https://a.example/2.jpg"/></Images>
<VideoURL>https://video.example/1</VideoURL><Address>Москва, Ильинка, 4</Address>
<Latitude>55.75</Latitude><Longitude>37,62</Longitude><ContactPhone>+7 900 000-00-00, +7 900 000-00-01</ContactPhone>
<ManagerName>Иван</ManagerName><Condition>Новое</Condition><AdType>Товар от производителя</AdType>
<Delivery><Option>ПВЗ</Option><Option>Курьер</Option></Delivery><MemorySize>64</MemorySize></Ad>
<Ad><Id>78</Id><Category>Автомобили</Category><Make>ГАЗ</Make><Model>21</Model><Year>1960</Year><Price>Договорная</Price></Ad>
</Ads>"#;
    let all = offers(text);
    let first = &all[0];
    let words: Vec<&str> = first.category.texts.iter().map(|(_, text)| text.value.as_str()).collect();
    assert_eq!(words, ["Телефоны", "Смартфоны"]);
    assert_eq!(first.description.as_ref().unwrap().value, "Раз\nДва");
    let rub = Money { micros: 18_010_000_000, currency: "RUB".to_owned() };
    assert_eq!(first.price.as_ref().unwrap().value, Price::Fixed(rub));
    assert_eq!((first.photos.len(), first.contacts.phones.len()), (2, 2));
    assert_eq!(first.video.as_ref().unwrap().value, "https://video.example/1");
    let place = first.coordinates.as_ref().unwrap().value;
    assert!((place.latitude - 55.75).abs() < 1e-9 && (place.longitude - 37.62).abs() < 1e-9);
    assert_eq!(first.contacts.name.as_ref().unwrap().value, "Иван");
    assert_eq!(first.condition.as_ref().unwrap().value, Condition::New);
    let params: Vec<(&str, &str)> =
        first.params.iter().map(|param| (param.name.as_str(), param.value.as_str())).collect();
    let expected = [
        ("AdType", "Товар от производителя"),
        ("Delivery", "ПВЗ"),
        ("Delivery", "Курьер"),
        ("MemorySize", "64"),
    ];
    assert_eq!(params, expected);
    assert_eq!(all[1].title.value, "ГАЗ 21 1960");
    assert_eq!(all[1].price.as_ref().unwrap().value, Price::Negotiable(None));
}

const ITEM: &str = r"<g:id>DB_1</g:id><title>Ours</title><g:title>Dog Bowl</g:title><g:description>Solid</g:description>
<g:link>https://a.example/1</g:link><g:image_link>https://a.example/1.png</g:image_link>
<g:additional_image_link>https://a.example/2.png,https://a.example/3.png</g:additional_image_link>
<g:brand>Example</g:brand><g:condition>new</g:condition><g:availability>preorder</g:availability>
<g:price>9.99 GBP</g:price><g:sale_price>7.50 GBP</g:sale_price><g:gtin>123</g:gtin>
<g:shipping><g:country>UK</g:country><g:price>4.95 GBP</g:price></g:shipping>
<g:google_product_category>Animals &gt; Pet Supplies</g:google_product_category><g:product_type>Bowls</g:product_type>
<g:product_detail><g:attribute_name>Depth</g:attribute_name><g:attribute_value>5 cm</g:attribute_value></g:product_detail>
<g:color>blue</g:color>";

fn assert_bowl(text: &str) {
    let all = offers(text);
    assert_eq!(all.len(), 1);
    let bowl = &all[0];
    assert_eq!((bowl.external_id.as_str(), bowl.title.value.as_str()), ("DB_1", "Dog Bowl"));
    let gbp = |micros| Money { micros, currency: "GBP".to_owned() };
    assert_eq!(bowl.price.as_ref().unwrap().value, Price::Fixed(gbp(7_500_000)));
    assert_eq!(bowl.old_price.as_ref().unwrap().value, gbp(9_990_000));
    assert_eq!(bowl.photos.len(), 3);
    assert_eq!(bowl.availability.as_ref().unwrap().value, Availability::PreOrder);
    let texts: Vec<(CategoryKind, &str)> =
        bowl.category.texts.iter().map(|(kind, text)| (*kind, text.value.as_str())).collect();
    assert_eq!(texts, [(CategoryKind::Google, "Animals > Pet Supplies"), (CategoryKind::Own, "Bowls")]);
    let has =
        |name: &str, value: &str| bowl.params.iter().any(|param| param.name == name && param.value == value);
    assert!(has("color", "blue"));
}

#[test]
fn google_rss_and_atom_are_read_alike() {
    let rss = format!(
        "<?xml version=\"1.0\"?><rss xmlns:g=\"http://base.google.com/ns/1.0\" version=\"2.0\"><channel><title>Shop</title>\
         <link>https://a.example</link><item>{ITEM}</item></channel></rss>"
    );
    assert_bowl(&rss);
    let atom = format!(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:g=\"x\"><title>Shop</title><link rel=\"self\" \
         href=\"https://a.example\"/><entry>{ITEM}</entry></feed>"
    );
    assert_bowl(&atom);
    assert!(offers(&atom)[0].params.iter().any(|param| param.name == "Depth" && param.value == "5 cm"));
    let (_, summary) = read(atom.as_bytes());
    assert_eq!((summary.header.name.as_str(), summary.header.url.as_str()), ("Shop", "https://a.example"));
}

#[test]
fn google_tables_are_read_like_its_xml() {
    let csv = "id,title,description,link,image_link,additional_image_link,price,sale_price,availability,\
        google_product_category,product_type,color\r\n\
        DB_1,Dog Bowl,\"Solid, \"\"blue\"\"\nsecond line\",https://a.example/1,https://a.example/1.png,\
        \"https://a.example/2.png,https://a.example/3.png\",9.99 GBP,7.50 GBP,preorder,Animals > Pet Supplies,Bowls,blue\r\n";
    assert_bowl(csv);
    assert_eq!(offers(csv)[0].description.as_ref().unwrap().value, "Solid, \"blue\"\nsecond line");
    let tsv = "Id\tTitle\tPrice\tLink\n1\tTV 24\" black\t5 EUR\thttps://a.example\n2\tShort\n";
    let (items, summary) = read(tsv.as_bytes());
    assert_eq!((summary.format, items.len()), (Some(Format::GoogleTsv), 2));
    assert_eq!(items[0].offer.as_ref().unwrap().title.value, "TV 24\" black");
    assert_eq!(codes(&items, Severity::Warning), [Code::WrongColumns, Code::MissingPrice]);
}

#[test]
fn own_xml_gives_every_field_of_an_offer() {
    let text = r#"<?xml version="1.0" encoding="UTF-8"?>
<torg-offers version="1">
  <shop><name>Shop</name><phone>+49 30 123456</phone></shop>
  <categories><category id="1">Sport</category><category id="2" parent="1">Bikes</category></categories>
  <offers>
    <offer id="b1">
      <title>Red bicycle</title><description>Runs.</description><category ref="2" torg="sg-4">city bike</category>
      <price><fixed currency="EUR">120.50</fixed><old>150</old></price><condition>like_new</condition>
      <availability>in_stock</availability><url>https://a.example/1</url><photos><photo>https://a.example/1.jpg</photo></photos>
      <video>https://v.example/1</video>
      <place><address>Bremen</address><latitude>53.07</latitude><longitude>8.8</longitude></place>
      <contacts><name>Dora</name><phone>+49 30 123456</phone><email>dora@a.example</email></contacts>
      <vendor>V</vendor><model>M</model><vendor-code>C</vendor-code><barcode>123</barcode><group>g</group>
      <params><param name="Frame" unit="cm">56</param></params>
    </offer>
    <offer id="b2"><title>Gift</title><price><free/></price></offer>
    <offer id="b3"><title>Boat</title><price><negotiable><from currency="EUR">+5</from></negotiable></price></offer>
    <offer id="b4"><title>Job</title><price><range from="10" to="20.5" currency="EUR"/></price></offer>
  </offers>
</torg-offers>"#;
    let all = offers(text);
    let first = &all[0];
    let eur = |micros| Money { micros, currency: "EUR".to_owned() };
    assert_eq!(first.price.as_ref().unwrap().value, Price::Fixed(eur(120_500_000)));
    assert_eq!(first.old_price.as_ref().unwrap().value, eur(150_000_000));
    assert_eq!(first.category.path.as_ref().unwrap().len(), 2);
    assert_eq!(first.contacts.email.as_ref().unwrap().value, "dora@a.example");
    assert_eq!(
        (first.params[0].unit.as_str(), first.params[0].at),
        ("cm", Position { line: 14, column: 45 })
    );
    assert_eq!(all[1].price.as_ref().unwrap().value, Price::Free);
    assert_eq!(all[2].price.as_ref().unwrap().value, Price::Negotiable(Some(eur(5_000_000))));
    assert_eq!(
        all[3].price.as_ref().unwrap().value,
        Price::Range(Some(eur(10_000_000)), Some(eur(20_500_000)))
    );
}

#[test]
fn own_xml_that_breaks_the_schema_is_rejected_with_the_place() {
    let text = "<torg-offers version='1'><offers>\n<offer id='1'><title>Ж</title>\n  <colour>red</colour></offer>\n\
        <offer id='2'><title>B</title></offer></offers></torg-offers>";
    let (items, summary) = read(text.as_bytes());
    assert_eq!((summary.accepted, summary.rejected), (1, 1));
    assert!(problems(&items).contains(&(Code::WrongStructure, 3, 3)), "{:?}", problems(&items));
}

const JSON_OFFER: &str = r#"{"id": 5, "title": "Bicycle \"Red\"", "price": {"amount": "120.50", "currency": "EUR"}, "old_price": 150,
  "category": ["Sport", "Bikes"], "photos": ["https://a.example/1.jpg", {"url": "https://a.example/2.jpg"}],
  "place": {"address": "Bremen", "latitude": 53.07, "longitude": 8.8}, "contacts": {"name": "Dora", "phones": ["+49 30 123456"]},
  "params": {"Frame": 56, "Gears": ["3", "7"]}, "condition": "used", "available": true}"#;

#[test]
fn own_json_is_read_as_an_object_an_array_and_lines() {
    let line = JSON_OFFER.replace('\n', " ");
    let files = [
        format!(
            "{{\"shop\": {{\"name\": \"S\"}}, \"offers\": [{JSON_OFFER}, {}]}}",
            JSON_OFFER.replace("5,", "6,")
        ),
        format!("[{JSON_OFFER},\n{}]", JSON_OFFER.replace("5,", "6,")),
        format!("{line}\n{}\n", line.replace("\"id\": 5", "\"id\": \"6\"")),
    ];
    for file in files {
        let all = offers(&file);
        assert_eq!(all.len(), 2, "{file}");
        let first = &all[0];
        assert_eq!((first.external_id.as_str(), first.title.value.as_str()), ("5", "Bicycle \"Red\""));
        let eur = Money { micros: 120_500_000, currency: "EUR".to_owned() };
        assert_eq!(first.price.as_ref().unwrap().value, Price::Fixed(eur));
        assert_eq!(first.category.texts[0].1.value, "Sport > Bikes");
        assert_eq!((first.photos.len(), first.params.len(), first.contacts.phones.len()), (2, 3, 1));
        assert!(first.coordinates.is_some() && first.address.is_some());
        assert_eq!(first.availability.as_ref().unwrap().value, Availability::InStock);
    }
}

#[test]
fn values_of_json_know_their_lines() {
    let text = "{\"offers\": [\n  {\"id\": \"1\", \"title\": \"A\",\n   \"price\": \"x\"},\n  {\"id\": \"2\" \"title\": \"B\"}]}";
    let (items, summary) = read(text.as_bytes());
    assert_eq!(problems(&items), [(Code::BadPrice, 3, 13), (Code::BrokenOffer, 4, 14)]);
    assert_eq!(items[1].external_id, "2");
    assert_eq!(summary.rejected_without_id, 0);
}

#[test]
fn a_parsed_profile_gives_uid_link_and_source() {
    let text = r#"{"uid": "u7", "link": "https://site.example/u7", "source": "site", "profile": {"name": "Ann", "phone": "+7 900 000-00-00"},
        "offers": [{"uid": "o1", "link": "https://site.example/o1", "title": "Chair", "price": "500 RUB", "views": 7, "source": "other"},
        {"uid": "o2", "title": "Desk", "price": 700, "currency": "RUB"}]}"#;
    let all = offers(text);
    assert_eq!(
        (all[0].external_id.as_str(), all[0].url.as_ref().unwrap().value.as_str()),
        ("o1", "https://site.example/o1")
    );
    assert_eq!(all[0].source.as_ref().unwrap().value, "other");
    assert_eq!(all[1].source.as_ref().unwrap().value, "site");
    assert_eq!(all[1].contacts.name.as_ref().unwrap().value, "Ann");
    let (_, summary) = read(text.as_bytes());
    assert_eq!(summary.format, Some(Format::ParsedProfile));
    assert_eq!((summary.header.uid.as_str(), summary.header.source.as_str()), ("u7", "site"));
}

#[test]
fn a_price_without_a_currency_takes_that_of_the_file_before_that_of_the_caller() {
    let options = || feedfile::Options { currency: "EUR".to_owned(), ..feedfile::Options::default() };
    let offer = "<offers><offer id='1'><name>A</name><price>5</price></offer></offers></shop></yml_catalog>";
    let named =
        format!("<yml_catalog date='2026-01-31'><shop><currencies><currency id='KZT'/></currencies>{offer}");
    let silent = format!("<yml_catalog date='2026-01-31'><shop>{offer}");
    for (text, currency) in [(named, "KZT"), (silent, "EUR")] {
        let (items, _) = crate::common::read_with(text.as_bytes(), options());
        let money = Money { micros: 5_000_000, currency: currency.to_owned() };
        assert_eq!(items[0].offer.as_ref().unwrap().price.as_ref().unwrap().value, Price::Fixed(money));
    }
}
