//! The console: Torg in front of a person.
//!
//! Pages are made on the server, one request each, and work without scripts; a small script brings what changes up to date ([`assets`]). The console knows
//! nothing of stores and stages: it calls the services of Torg as any client does ([`services`]), in the name of whoever looks, so that a role may do here
//! exactly what it may do there, and whatever the services record, they record of the console too.
//!
//! - A [`Visit`](visit::Visit) is one request of one person: who they are, their language, and the calls that they make.
//! - Who they are is in a sealed cookie ([`session`]); every form carries a token against forgery ([`form`]).
//! - A page is a file in [`pages`]: its routes, what it asks, what it shows. What pages have in common is in [`view`].
//! - Texts are English in the code; [`words`] has them in Russian.
//!
//! What is promised: no page shows a secret; nothing that came from outside is ever taken for markup; no script or style stands inside of a page; a service that
//! does not answer is told on the page where it is missing, within seconds.

mod address;
mod answer;
mod assets;
mod form;
mod language;
mod layout;
pub mod limits;
mod pages;
mod routes;
mod services;
mod session;
mod shared;
mod turns;
mod view;
mod visit;
mod words;
mod words_mark;

pub use routes::{Console, Parts};
pub use services::{Services, Through};
pub use session::Sealer;
