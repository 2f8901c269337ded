//! Mappings from a seller's categories to those of the catalogue.

use access::Action;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::catalog::v1::{FindCategoriesRequest, FindCategoriesResponse};
use wire::torg::feeds::v1::{ListMappingsRequest, Mapping, SetMappingRequest};

use super::{FeedRef, may_change};
use crate::address::{Path, Query};
use crate::form::Form;
use crate::language::w;
use crate::layout::Section;
use crate::services::Failure;
use crate::view::{Column, Tone, columns, empty, pager, part, state, table, token};
use crate::visit::Visit;

const SHOWN: u32 = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    page: String,
    /// A search in the catalogue.
    find: String,
}

pub(super) async fn show(visit: Visit, Path(feed): Path<FeedRef>, Query(params): Query<Params>) -> Response {
    let request = ListMappingsRequest {
        seller: feed.seller.clone(),
        page_size: SHOWN,
        page_token: params.page.clone(),
        ..Default::default()
    };
    let find = FindCategoriesRequest {
        text: params.find.trim().to_owned(),
        language: visit.language().code().to_owned(),
        ..Default::default()
    };
    let (mappings, found) = tokio::join!(visit.call(&request), async {
        if find.text.is_empty() { None } else { Some(visit.call(&find).await) }
    });
    let page = feed.under(&["categories"]);
    let body = mappings.map(|mappings| {
        html! {
            p { a href=(feed.page()) { (visit.f("Feed {0} of {1}", &[&feed.namespace, &feed.seller])) } }
            p { (visit.t("The seller's categories, and the category of the catalogue that each maps to. A mapping set here applies to all feeds of the seller, from the next load on.")) }
            (search(&visit, &page, &params, found.as_ref()))
            (rows(&visit, &feed, &mappings.mappings))
            (pager(&visit, &page, &[("find", &params.find)], &params.page, &mappings.next_page_token))
            @if may_map(&visit, &feed) { (mapping_form(&visit, &page)) }
        }
    });
    visit.page(Section::Feeds, &visit.f("Categories of {0}", &[&feed.seller]), body)
}

/// The seller, services that write for sellers, and staff.
fn may_map(visit: &Visit, feed: &FeedRef) -> bool {
    may_change(visit, &feed.seller) || visit.may(Action::SeeInternals)
}

fn search(
    visit: &Visit,
    page: &str,
    params: &Params,
    found: Option<&Result<FindCategoriesResponse, Failure>>,
) -> Markup {
    html! {
        form.inline method="get" action=(page) {
            label for="find-category" {
                (visit.t("Find a category of the catalogue"))
                input #find-category name="find" value=(params.find) maxlength="200";
            }
            button { (visit.t("Find")) }
        }
        @if let Some(found) = found {
            div data-live #found { (part(visit, found, |found| html! {
                @if found.candidates.is_empty() { (empty(visit.t("No matching categories."))) }
                @else {
                    ul { @for category in found.candidates.iter().filter_map(|candidate| candidate.category.as_option()) {
                        li { code { (category.id) } " " (category.path) }
                    } }
                }
            })) }
        }
    }
}

fn rows(visit: &Visit, feed: &FeedRef, mappings: &[Mapping]) -> Markup {
    let may = may_map(visit, feed);
    let mut columns =
        columns![text "The seller's category", text "Category of the catalogue", text "Mapped by"].to_vec();
    columns.extend(may.then_some(Column::text(w("Change"))));
    let none = visit.t("No categories of this seller are known yet: they come with the first load.");
    let rows = mappings.iter().enumerate().map(|(place, mapping)| row(visit, feed, may, place, mapping));
    table(visit, visit.t("Categories"), &columns, none, rows)
}

fn row(visit: &Visit, feed: &FeedRef, may: bool, place: usize, mapping: &Mapping) -> Markup {
    let share = (mapping.score.clamp(0.0, 1.0) * 100.0).round();
    let id = format!("category-{place}");
    html! {
        th scope="row" { (mapping.path.join(" › ")) }
        td { code { (mapping.category) } }
        td {
            @if mapping.by_hand {
                (state(Tone::Good, visit.t("set by hand"))) @if !mapping.author.is_empty() { " " (mapping.author) }
            } @else { (visit.f("recognised, {0} % of the offers", &[&share])) }
        }
        @if may {
            td {
                form.inline method="post" action=(feed.under(&["categories"])) {
                    (token(visit))
                    input type="hidden" name="path" value=(serde_json::to_string(&mapping.path).unwrap_or_default());
                    label.hidden for=(id) { (visit.t("Category of the catalogue")) }
                    input id=(id) name="category" maxlength="200" value=(mapping.category);
                    button { (visit.t("Save")) }
                    @if mapping.by_hand { button name="again" value="on" { (visit.t("Recognise it again")) } }
                }
            }
        }
    }
}

/// A form for a category that is not listed.
fn mapping_form(visit: &Visit, page: &str) -> Markup {
    html! {
        details #another {
            summary { (visit.t("Map another category")) }
            form.fields method="post" action=(page) {
                (token(visit))
                label for="names" {
                    (visit.t("The seller's category: one name a line, from the outermost"))
                    textarea #names name="names" rows="4" required maxlength="2000" {}
                }
                label for="category" { (visit.t("Category of the catalogue")) input #category name="category" required maxlength="200"; }
                div { button.main { (visit.t("Save")) } }
            }
        }
    }
}

pub(super) async fn set(visit: Visit, Path(feed): Path<FeedRef>, form: Form) -> Response {
    let again = form.is_on("again");
    let category = if again { String::new() } else { form.text("category").to_owned() };
    let request =
        SetMappingRequest { seller: feed.seller.clone(), path: names(&form), category, ..Default::default() };
    let message = if request.category.is_empty() {
        visit.t("The category is recognised again, from the next load on.")
    } else {
        visit.t("This applies from the next load on.")
    };
    visit.submit(&feed.under(&["categories"]), Ok(request), |_| message.to_owned()).await
}

/// The path of the seller's category: from a row of the list, or one name a line.
fn names(form: &Form) -> Vec<String> {
    let listed: Option<Vec<String>> = serde_json::from_str(form.text("path")).ok();
    let lines = || form.text("names").lines().map(str::trim).filter(|line| !line.is_empty());
    listed.unwrap_or_else(|| lines().map(str::to_owned).collect())
}
