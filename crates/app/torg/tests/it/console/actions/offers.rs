//! Actions of sellers, moderators and admins on an offer.

use serde_json::json;

use crate::console::browser::{Driver, Width, is_there};
use crate::console::forms::REASON;
use crate::console::rig::{self, NINA, ask, make_offer};

#[test]
fn every_role_moves_an_offer_where_it_may_and_finds_no_other_way() {
    if !is_there() {
        return;
    }
    let (server, driver) = (rig::demo(), Driver::start());
    // The role, its settings and the offer's states; a seller need not give a reason.
    let ways: [(&str, Width, &str, &[&str]); 3] = [
        ("seller", Width::Phone, "ru", &["sold", "active", "removed", "active"]),
        (
            "moderator",
            Width::Phone,
            "ru",
            &["banned", "expired", "banned", "sold", "banned", "removed", "banned", "active"],
        ),
        (
            "admin",
            Width::Desktop,
            "en",
            &["expired", "active", "sold", "removed", "active", "removed", "archived"],
        ),
    ];
    for (role, width, language, way) in ways {
        let id = make_offer(&server, &format!("A bicycle for {role}"));
        let browser = rig::window_of(&driver, &server.url(), role, NINA, width, language);
        // The search of every page finds the offer by its id.
        browser.go("/console/offers");
        browser.fill("#find", &id);
        browser.send_keys("#find", "\u{e007}");
        browser.wait_for(&format!("A bicycle for {role}"));
        for to in way {
            let form = format!("move-{to}");
            let why = format!("#reason-{to}");
            let fields = [(&*why, REASON)];
            browser.does_with(&form, if role == "seller" { &[] } else { &fields });
            let offer = ask(&server, "torg.offers.v1.OfferService/GetOffer", &json!({"id": id}));
            let status = format!("STATUS_{}", to.to_uppercase());
            assert_eq!(offer["offer"]["status"], *status, "{role}: {offer}");
        }
        if role != "seller" {
            browser.wait_for(REASON);
        }
        browser.picture(&format!("offer-moved-by-{role}"));
    }
    // Pages do not show actions that the role may not do.
    let id = make_offer(&server, "A bicycle for nobody");
    for (role, closed) in [
        ("seller", &["banned", "expired"][..]),
        ("moderator", &["sold", "removed"]),
        ("support", &["banned", "removed"]),
    ] {
        let browser = rig::window_of(&driver, &server.url(), role, NINA, Width::Desktop, "en");
        browser.go(&format!("/console/offers/{id}"));
        browser.wait_for("A bicycle for nobody");
        for to in closed {
            assert!(!browser.has(&format!("#move-{to}")), "{role} is offered {to}");
        }
    }
}
