//! `torg serve --demo`: a complete marketplace with generated data, in a folder of its own.
//!
//! It consists of sellers and their offers ([`offer`], [`things`], [`fill`]), feeds and photos that
//! the demo serves itself ([`site`], [`feeds`], [`pictures`], [`links`]), an outside stage in a
//! process of its own ([`stage`], [`child`]), reactive tasks ([`tasks`]), and simulated users
//! ([`people`], [`life`]). All data goes through the usual interfaces: nothing here writes to the
//! store directly.
#![allow(clippy::must_use_candidate, reason = "a part of the program, not a library for others")]

mod child;
mod clock;
mod dice;
mod feeds;
mod fill;
mod folder;
mod guide;
mod life;
mod limits;
mod links;
mod lock;
mod offer;
mod people;
mod pictures;
mod polish;
#[cfg(test)]
mod rig;
mod sellers;
mod serve;
mod site;
mod stage;
mod tasks;
mod things;
mod traces;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use ::clock::Clock;
use anyhow::Context as _;
use async_trait::async_trait;
use axum::Router;
use clap::Args;
use fetch::{Client, Rules};
use stages::VideoConfig;

use self::child::OutsideProcess;
use self::clock::{DemoClock, at_first, made_at_ms};
use self::fill::Filling;
use self::folder::{Folder, STORE, Taken};
use self::life::system_ms;
use self::limits::{KEYS_HOURS, OFFERS, OFFERS_MAX, RETENTION_HOURS, SPEED_MAX};
use self::people::People;
use self::tasks::Written;
use node::config::{Config, Role, Url};
use node::environment::{Environment, Opened, Started};
use node::supervisor::Running;
use terminal::errors::advised;

pub use self::limits::FOLDER;
pub use self::links::own_address;
use self::site::Site;
pub use self::stage::{ID as STAGE, StageFlags, serve as serve_stage};
pub use self::traces::{Traces, traces};

/// The flags of `torg serve` that are about the demo.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    /// Runs a whole marketplace to look at, in ./torg-demo unless --data names another folder; goes
    /// on where it was.
    #[arg(long)]
    pub demo: bool,
    /// Empties the demo's folder first, and starts over; refused while that demo runs.
    #[arg(long, requires = "demo")]
    demo_reset: bool,
    /// Lets the time of offers run so many times as fast.
    #[arg(long, requires = "demo", value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SPEED_MAX)))]
    demo_speed: u32,
    /// So many offers are made.
    #[arg(long, requires = "demo", value_name = "N", default_value_t = OFFERS, hide = true,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(OFFERS_MAX)))]
    demo_offers: u32,
}

/// A locked demo folder in which nothing is changed yet.
pub struct Claim {
    folder: Taken,
    flags: Flags,
    asked_here: Option<String>,
}

/// A demo that is ready to start.
pub struct Demo {
    folder: Folder,
    clock: DemoClock,
    offers: u32,
    asked_here: Option<String>,
    site: Site,
}

impl Claim {
    /// Locks the folder of the demo and points all storage in the configuration to it: a demo never
    /// touches another store. `asked_here` is the default address of commands in the same shell.
    pub fn stake(flags: Flags, config: &mut Config, asked_here: Option<String>) -> anyhow::Result<Claim> {
        stay_here(config)?;
        leave_others_alone(config);
        let folder = Folder::take(&config.data_dir)?;
        settle(config, folder.path())?;
        Ok(Claim { folder, flags, asked_here })
    }

    /// Opens the folder, and empties it first if a reset is requested. Call this after all other
    /// checks have passed.
    pub fn open(self, listening: SocketAddr) -> anyhow::Result<Demo> {
        let Claim { folder, flags, asked_here } = self;
        let now_ms = system_ms();
        let folder = if flags.demo_reset { folder.open_empty(now_ms)? } else { folder.open(now_ms)? };
        child::forget_pid(&folder);
        if let Written::Moved(before) = tasks::write_file(&folder)? {
            let (file, before) = (folder.place(tasks::FILE), before.display());
            tracing::warn!(file = %file.display(), "the tasks of the demo were changed, and their runs write into {before}: write the demo's folder there instead, or delete the file to have the demo's own again");
        }
        let made = folder.progress()?.offers;
        // The clock runs at once, unless past offers are still to be created.
        let clock = if folder.saved_time()?.is_some() {
            let clock = DemoClock::standing_at(DemoClock::resumed_ms(&folder, now_ms)?, flags.demo_speed);
            clock.run_from(now_ms);
            clock
        } else {
            DemoClock::standing_at(made_at_ms(folder.started_ms, made, flags.demo_offers), flags.demo_speed)
        };
        let site = Site::at(own_address(listening));
        Ok(Demo { folder, clock, offers: flags.demo_offers, asked_here, site })
    }
}

#[async_trait]
impl Environment for Demo {
    fn clock(&self) -> Clock {
        self.clock.clock()
    }

    fn client(&self, rules: Rules) -> Client {
        links::client(rules, self.site.own())
    }

    fn videos(&self) -> VideoConfig {
        links::videos(self.site.own())
    }

    fn routes(&self) -> Option<Router> {
        Some(serve::routes(self.site))
    }

    /// Whether past offers are still being created.
    fn clock_jumps(&self) -> bool {
        self.clock.moves()
    }

    /// Creates the first offers, the feeds and the outside stage, then starts the background tasks.
    async fn start(&self, node: Opened) -> anyhow::Result<Option<Started>> {
        let Opened { market, feeds, ctl, topics } = node;
        let Demo { folder, clock, offers: total, asked_here, site } = self;
        folder.tell(&guide::console(site.own()))?;
        let (offers, opinions) = (market.offers.clone(), market.opinions.topic.clone());
        let people = People::new(offers, opinions, clock.clone(), *site);
        let made = folder.progress()?.offers;
        let mut filling = Filling {
            offers: market.offers.clone(),
            people,
            folder: folder.clone(),
            clock: clock.clone(),
            site: *site,
            total: *total,
            made,
            built_in: market.registry.built_in().map(str::to_owned).collect(),
        };
        let first = at_first(*total);
        while filling.made < first {
            filling.chunk(first).await?;
        }
        links::make_feeds(&feeds, *site).await.context("the demo's feeds")?;
        let mut outside = OutsideProcess::new(market.registry.clone(), folder.clone());
        let pid = outside.start().await?;
        guide::write_sample(folder)?;
        let text = guide::text(folder, site.own(), asked_here.as_deref(), pid)?;

        let mut running = Running::new();
        let stopped = running.stopped();
        running.start("the demo does not live any more", life::live(filling, stopped));
        let stopped = running.stopped();
        let moved = life::move_values(ctl, folder.clone(), stopped);
        running.start("values of the demo do not move any more", moved);
        let stopped = running.stopped();
        let kept = life::keep_less(topics, clock.clone(), stopped);
        running.start("messages of the demo are kept for too long", kept);
        let stopped = running.stopped();
        running.start("the demo's feeds do not change any more", life::fetch_changes(feeds, stopped));
        let stopped = running.stopped();
        running
            .start("the time of the demo is lost", life::save_time(clock.clone(), folder.clone(), stopped));
        let stopped = running.stopped();
        running.start("the demo's outside stage is not kept any more", async move {
            outside.keep(stopped).await;
            Ok(())
        });
        Ok(Some(Started { running, guide: text }))
    }
}

/// Limits the demo to this machine: its console lets everybody act as anybody, without TLS.
fn stay_here(config: &mut Config) -> anyhow::Result<()> {
    let listen = config.listen;
    if !listen.ip().to_canonical().is_loopback() {
        let message = format!("a demo serves this machine only, and {listen} is open to others");
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, listen.port()));
        return Err(advised(message, format!("give it --listen {here}")));
    }
    if config.access.mode == access::Mode::Required {
        tracing::warn!("access control is off in a demo, whatever access.mode says");
    }
    if config.tls != access::TlsConfig::default() {
        tracing::warn!("TLS is off in a demo, whatever [tls] says");
    }
    (config.access, config.tls) = (access::Config::default(), access::TlsConfig::default());
    Ok(())
}

/// Removes external services from the configuration. A demo that is started beside a real
/// installation must not call its stages, send alerts, send made-up addresses to its geocoder, or
/// fetch its own files through a proxy.
fn leave_others_alone(config: &mut Config) {
    let usual = Config::default();
    let Config { stages, tasks, feeds, .. } = config;
    does_not_count("stages.file", &mut stages.file, usual.stages.file);
    does_not_count("tasks.webhook_url", &mut tasks.webhook_url, usual.tasks.webhook_url);
    does_not_count("tasks.callback_url", &mut tasks.callback_url, usual.tasks.callback_url);
    does_not_count("feeds.geocoder_url", &mut feeds.geocoder_url, usual.feeds.geocoder_url);
    does_not_count("feeds.errors_url", &mut feeds.errors_url, usual.feeds.errors_url);
    // Feeds, photos and videos of a demo are on this machine, which a proxy cannot reach.
    does_not_count("feeds.proxy_url", &mut feeds.proxy_url, usual.feeds.proxy_url);
}

fn does_not_count<T: PartialEq>(key: &str, value: &mut T, usual: T) {
    if *value != usual {
        tracing::warn!("{key} does not count in a demo, whatever it says");
        *value = usual;
    }
}

/// Sets embedded storage in the folder, and all roles.
fn settle(config: &mut Config, folder: &Path) -> anyhow::Result<()> {
    let path = folder.to_str().with_context(|| folder.display().to_string());
    let path = path.map_err(|error| advised(error, "give --data a path that is Unicode"))?;
    config.store.url = Url::from(&*format!("fjall:{path}/{STORE}"));
    config.files.url = Url::from(&*format!("file:{path}/files"));
    config.topics.url = Url::from("store");
    (config.topics.retention_hours, config.topics.retention_mb) = (RETENTION_HOURS, 0);
    config.feeds.spool_dir = folder.join("spool");
    config.tasks.runs_dir = folder.join("runs");
    config.tasks.path = folder.join(tasks::FILE);
    config.offers.idempotency_hours = KEYS_HOURS;
    // The generated offers match only the built-in catalogue.
    config.offers.catalogue_dir.clear();
    config.offers.catalogue_past_dir.clear();
    config.roles = Role::ALL.to_vec();
    folder.clone_into(&mut config.data_dir);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_serves_this_machine_without_access_control_and_tls_and_no_other_machine() {
        let mut config = Config::default();
        config.access.mode = access::Mode::Required;
        config.access.jwks_file = "keys.json".into();
        config.tls.cert_file = "cert.pem".into();
        config.tls.key_file = "key.pem".into();
        config.listen = "0.0.0.0:8081".parse().unwrap();
        let told = terminal::errors::report(&stay_here(&mut config).unwrap_err());
        assert!(told.contains("0.0.0.0:8081 is open to others"), "{told}");
        assert!(told.ends_with("give it --listen 127.0.0.1:8081"), "{told}");
        for here in ["127.0.0.1:8081", "[::1]:0"] {
            config.listen = here.parse().unwrap();
            stay_here(&mut config).unwrap();
        }
        assert_eq!(config.access, access::Config::default());
        assert_eq!((config.access.mode, config.tls.is_on().unwrap()), (access::Mode::Off, false));
    }

    #[test]
    fn a_demo_has_nothing_to_do_with_the_services_of_others() {
        let mut config = Config::default();
        config.stages.file = "stages.toml".into();
        config.tasks.webhook_url = Url::from("https://alerts.example");
        config.tasks.callback_url = "https://torg.example".to_owned();
        config.feeds.geocoder_url = "https://places.example".to_owned();
        config.feeds.errors_url = "https://help.example".to_owned();
        config.feeds.proxy_url = Url::from("http://proxy.example:3128");
        config.feeds.upload_mb_max = 7;
        leave_others_alone(&mut config);
        assert_eq!(config.feeds.upload_mb_max, 7, "the rest counts");
        config.feeds.upload_mb_max = Config::default().feeds.upload_mb_max;
        assert_eq!(config, Config::default());
    }
}
