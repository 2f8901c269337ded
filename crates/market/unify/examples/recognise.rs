//! What is recognised: lines of `title`, or `title<tab>feed > category`, or with `<tab>address` as
//! a third, from the standard input. `echo 'Диван угловой' | cargo run --release -p unify --example
//! recognise`

use std::error::Error;
use std::io::BufRead;
use std::sync::Arc;

use unify::{Input, Unifier};

fn main() -> Result<(), Box<dyn Error>> {
    let catalogue = Arc::new(catalog::Catalogue::builtin()?);
    let unifier = Unifier::new(catalogue.clone(), Arc::new(geo::Places::builtin()?))?;
    let mut session = unifier.session();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut fields = line.split('\t');
        let title = fields.next().unwrap_or_default();
        let path: Vec<&str> =
            fields.next().unwrap_or_default().split(" > ").filter(|part| !part.is_empty()).collect();
        let offer = session.unify(&Input { title, path: &path, address: fields.next(), ..Input::default() });
        println!("{line}");
        if let Some(found) = &offer.category {
            let name = catalogue.category(&found.id).map(|category| category.path("en")).unwrap_or_default();
            println!("  {} {name} ({} points by {})", found.id, found.points, found.reason.as_str());
        }
        if let Some(place) = &offer.place {
            println!("  {} {}, {}", place.place_id, place.name, place.country);
        }
        for (id, values) in &offer.attributes {
            println!("  {id} = {values:?}");
        }
        for mark in &offer.marks {
            let hint = mark.suggestion.as_deref().unwrap_or_default();
            println!("  {} {}: {} {hint}", mark.kind.as_str(), mark.field, mark.given);
        }
    }
    Ok(())
}
