//! The routes of the console, read from its code, so that the tests miss no page and no action.

use std::path::Path;

/// The routes of the console with this verb, `get` or `post`, as in the code:
/// `/console/stages/{id}`.
pub(crate) fn routes(verb: &str) -> Vec<String> {
    let mut found = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../edge/console/src"), verb, &mut found);
    assert!(found.len() > 15, "the routes are written otherwise than this test reads them: {found:?}");
    found
}

fn read(folder: &Path, verb: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, verb, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(text.split(".route(").skip(1).filter_map(|route| one(route, verb)));
        }
    }
}

/// The path of the route in this code, if it takes the verb. Routes of feeds have a common prefix
/// in a function.
fn one(route: &str, verb: &str) -> Option<String> {
    let (path, handlers) = if let Some(rest) = route.strip_prefix("&feed(\"") {
        let (rest, handlers) = rest.split_once("\")")?;
        (format!("/console/feeds/{{seller}}/{{namespace}}{rest}"), handlers)
    } else {
        let (path, handlers) = route.strip_prefix('"')?.split_once('"')?;
        (path.to_owned(), handlers)
    };
    handlers.lines().next()?.contains(&format!("{verb}(")).then_some(path)
}

/// Whether an address matches a route.
pub(crate) fn fits(route: &str, address: &str) -> bool {
    let (route, address) =
        (route.split('/'), address.split(['?', '#']).next().unwrap_or_default().split('/'));
    let (route, address): (Vec<&str>, Vec<&str>) = (route.collect(), address.collect());
    route.len() == address.len()
        && route
            .iter()
            .zip(&address)
            .all(|(known, piece)| known == piece || known.starts_with('{') && !piece.is_empty())
}
