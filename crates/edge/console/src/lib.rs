//! The web console of Torg.
//!
//! Pages are rendered on the server, one request each, and work without scripts; a small script
//! refreshes the parts that change ([`assets`]). The console knows nothing of stores and stages. It
//! calls the services of Torg like any client ([`services`]), in the name of the visitor: the same
//! permissions apply, and the services record the same actions.
//!
//! - A [`Visit`](visit::Visit) is one request of one person: who they are, their language, and the
//!   calls they make.
//! - The session is a sealed cookie ([`session`]); every form carries a CSRF token ([`form`]).
//! - A page is a file in [`pages`]: its routes, its calls, its markup. Shared markup is in
//!   [`view`].
//! - Texts are English in the code; [`words`] holds the Russian ones.
//!
//! Guarantees: no page shows a secret; input from outside is never treated as markup; no page
//! contains an inline script or style; if a service does not answer, the page says so in the place
//! of its data within seconds.

mod address;
mod answer;
mod assets;
mod form;
mod language;
mod layout;
pub mod limits;
mod overview_cache;
mod pages;
mod routes;
mod services;
mod session;
mod slots;
mod view;
mod visit;
mod words;

pub use routes::{Console, Dependencies};
pub use services::{FromConsole, Services};
pub use session::Sealer;
