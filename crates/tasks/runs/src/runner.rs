//! Starts runs, finds them again, and tells how they end.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clock::{Clock, Time};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::callback::{self, CallBack};
use crate::calls::{self, Call, blocking};
use crate::end::{End, Reason};
use crate::error::{Error, Result};
use crate::folder::{self, Folder, SUPERVISOR};
use crate::id::RunId;
use crate::limits::{LEFTOVER_AGE, LOG_PIECE_BYTES_MAX, LOOK_PAUSE, LOOK_PAUSE_MAX, SUPERVISOR_TEXT_MAX};
use crate::live::{Live, Lives};
use crate::log::{self, Piece};
use crate::look::Looked;
use crate::options::{Options, Verb};
use crate::resolve::resolved;
use crate::spec::{Spec, What};

/// Starts runs, finds them again, and tells how they end. Cheap to clone.
///
/// All that it knows is in the folder: several runners, also of several processes, may use one.
#[derive(Clone)]
pub struct Runner {
    inner: Arc<Inner>,
}

struct Inner {
    root: PathBuf,
    supervisor: Verb,
    callbacks: Option<String>,
    clock: Clock,
    web: reqwest::Client,
    lives: Lives,
}

/// A run that was started.
#[derive(Clone)]
pub struct Handle {
    /// Whether this start was the first one.
    pub is_first: bool,
    run: RunId,
    runner: Runner,
}

impl Handle {
    /// Its id.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// [`Runner::wait`].
    pub async fn wait(&self) -> Result<End> {
        self.runner.wait(&self.run).await
    }

    /// [`Runner::kill`].
    pub async fn kill(&self) -> Result<bool> {
        self.runner.kill(&self.run).await
    }
}

impl Runner {
    /// Opens the folder of runs, makes it if there is none, and clears away what processes left that died while they claimed or removed a run.
    pub fn open(options: Options) -> Result<Self> {
        let Options { folder, supervisor, callbacks, clock } = options;
        let root = std::path::absolute(&folder)
            .map_err(Error::while_doing(|| format!("the folder {} cannot be named", folder.display())))?;
        let opening = || format!("the folder of runs {} cannot be opened", root.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&root).map_err(Error::while_doing(opening))?;
        clear_leftovers(&root, clock.now()).map_err(Error::while_doing(opening))?;
        let web = calls::web_client().map_err(|what| Error::spec("tls", what))?;
        let lives = Lives::default();
        Ok(Self { inner: Arc::new(Inner { root, supervisor, callbacks, clock, web, lives }) })
    }

    /// Starts a run, or finds it: whoever starts an id again finds the first run, whatever it was to do.
    ///
    /// What was claimed and not started is started now, as `spec` says; a call that nobody carries out is taken up as it was begun. A crash at any point of this
    /// leads neither to two runs nor to a run that cannot be started: if this did not return, start the run again.
    pub async fn start(&self, run: &RunId, spec: &Spec) -> Result<Handle> {
        spec.check()?;
        let (inner, id, spec) = (Arc::clone(&self.inner), run.clone(), resolved(spec)?);
        let folder = inner.folder(run);
        let claimed = {
            let (inner, folder, spec) = (Arc::clone(&inner), folder.clone(), spec.clone());
            blocking(move || {
                let is_first = folder.claim(&inner.root, &spec)?;
                let looked = folder.look(inner.clock.now())?;
                if looked == Looked::NotStarted && !is_first {
                    folder.renew(&spec)?;
                }
                Ok((is_first, looked))
            })
        };
        let (is_first, looked) = claimed.await?;
        match (looked, &spec.what) {
            (Looked::NotStarted, What::Command(_)) => self.supervise(&id, folder).await?,
            (Looked::NotStarted | Looked::Left { .. }, _) => self.take_up(&id, folder).await?,
            _ => {}
        }
        Ok(Handle { is_first, run: id, runner: self.clone() })
    }

    /// What is known of a run. That a command died is told only when no process of it is left.
    pub async fn look(&self, run: &RunId) -> Result<Looked> {
        let live = self.inner.lives.of(run);
        let (inner, folder) = (Arc::clone(&self.inner), self.inner.folder(run));
        let looked = blocking(move || folder.look(inner.clock.now())).await?;
        match (looked, live) {
            // Its supervisor has not come so far yet.
            (Looked::NotStarted, Some(live)) if live.is_on() => {
                Ok(Looked::Running { pid: live.pid, since: live.since })
            }
            (looked, _) => Ok(looked),
        }
    }

    /// Waits until a run has ended, or died. Takes up a call that nobody carries out.
    pub async fn wait(&self, run: &RunId) -> Result<End> {
        let mut pause = LOOK_PAUSE;
        loop {
            let live = self.inner.lives.of(run);
            match self.look(run).await? {
                Looked::Ended(end) => return Ok(end),
                Looked::Died { since, noticed } => {
                    let detail = "its supervisor is gone, and nobody saw the end of the command";
                    return Ok(End::new(Reason::Died, detail, since, noticed));
                }
                Looked::NotStarted if live.is_none() => return Err(self.inner.not_started(run)),
                Looked::Left { .. } => self.take_up(run, self.inner.folder(run)).await?,
                Looked::NotStarted | Looked::Running { .. } => {}
            }
            if let Some(live) = live.filter(Live::is_on) {
                live.until_over().await;
            } else {
                sleep(pause).await;
                pause = (pause * 2).min(LOOK_PAUSE_MAX);
            }
        }
    }

    /// Asks to kill a run, and says whether it was under way. It is over when [`wait`](Self::wait) says so: a command gets TERM, and KILL after its
    /// time for that; a gRPC service is told; an HTTP service is not.
    pub async fn kill(&self, run: &RunId) -> Result<bool> {
        let looked = self.look(run).await?;
        match looked {
            Looked::NotStarted => return Err(Error::NotStarted(run.clone())),
            Looked::Ended(_) | Looked::Died { .. } => return Ok(false),
            Looked::Running { .. } | Looked::Left { .. } => {}
        }
        let folder = self.inner.folder(run);
        blocking({
            let folder = folder.clone();
            move || folder.ask_to_kill()
        })
        .await?;
        self.inner.lives.nudge(run);
        if matches!(looked, Looked::Left { .. }) {
            self.take_up(run, folder).await?;
        }
        Ok(true)
    }

    /// A service tells the end of a run. The first end that is told counts: says whether this was it.
    pub async fn call_back(&self, run: &RunId, token: &str, said: CallBack) -> Result<bool> {
        let (inner, folder, id, token) =
            (Arc::clone(&self.inner), self.inner.folder(run), run.clone(), token.to_owned());
        let told = blocking(move || callback::note(&folder, &id, &token, said, inner.clock.now())).await?;
        self.inner.lives.nudge(run);
        Ok(told)
    }

    /// A piece of what a run said, from a place in all that it said.
    pub async fn log(&self, run: &RunId, offset: u64, bytes_max: usize) -> Result<Piece> {
        let (folder, run) = (self.inner.folder(run), run.clone());
        blocking(move || {
            if !folder.exists()? {
                return Err(Error::NotStarted(run));
            }
            let read = log::read(folder.path(), offset, bytes_max.min(LOG_PIECE_BYTES_MAX));
            read.map_err(|error| folder.failed("read its log", error))
        })
        .await
    }

    /// Removes all that is known of a run. One that is under way is refused; one that is not there is removed already.
    pub async fn remove(&self, run: &RunId) -> Result<()> {
        match self.look(run).await? {
            Looked::Running { .. } | Looked::Left { .. } => return Err(Error::UnderWay(run.clone())),
            Looked::NotStarted | Looked::Ended(_) | Looked::Died { .. } => {}
        }
        let (inner, folder, run) = (Arc::clone(&self.inner), self.inner.folder(run), run.clone());
        blocking(move || match folder.take()? {
            // What was started since then is not removed.
            Some(_lock) if folder.started()?.is_none() || folder.is_over()? => folder.remove(&inner.root),
            Some(_) => Err(Error::UnderWay(run)),
            None if folder.exists()? => Err(Error::UnderWay(run)),
            None => Ok(()),
        })
        .await
    }

    /// All runs that have a folder, in the order of their ids.
    pub async fn list(&self) -> Result<Vec<RunId>> {
        let inner = Arc::clone(&self.inner);
        blocking(move || {
            let listing = || format!("the runs in {} cannot be listed", inner.root.display());
            let mut runs = Vec::new();
            for entry in fs::read_dir(&inner.root).map_err(Error::while_doing(listing))? {
                let name = entry.map_err(Error::while_doing(listing))?.file_name();
                runs.extend(name.to_str().and_then(|name| name.parse::<RunId>().ok()));
            }
            runs.sort();
            Ok(runs)
        })
        .await
    }

    /// Starts a supervisor for a run that was claimed. If there is one already, the second one goes at once.
    async fn supervise(&self, run: &RunId, folder: Folder) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        let mut child = blocking(move || inner.supervisor.spawn(&folder)).await?;
        let (pid, since) = (child.id(), self.inner.clock.now());
        let over = self.inner.lives.note(run, Arc::default(), pid, since);
        let (inner, run) = (Arc::clone(&self.inner), run.clone());
        tokio::spawn(async move {
            if let Err(error) = child.wait().await {
                tracing::warn!(%run, %error, "the end of a supervisor was not seen");
            }
            inner.lives.forget(&run, over);
        });
        Ok(())
    }

    /// Carries out a call in a task of this process, unless somebody does so.
    async fn take_up(&self, run: &RunId, folder: Folder) -> Result<()> {
        let (inner, nudge) = (Arc::clone(&self.inner), Arc::new(Notify::new()));
        let taken = {
            let (inner, run, nudge) = (Arc::clone(&inner), run.clone(), Arc::clone(&nudge));
            blocking(move || {
                let Some(lock) = folder.take()? else { return Ok(None) };
                if folder.end()?.is_some() {
                    return Ok(None);
                }
                let Some(spec) = folder.spec()? else {
                    return Err(folder.failed("find what to do", ErrorKind::NotFound.into()));
                };
                if matches!(spec.what, What::Command(_)) {
                    return Err(Error::spec("run", "the run was claimed for a command: start it as one"));
                }
                let with = (inner.clock.clone(), inner.callbacks.clone(), inner.web.clone());
                let call = Call::new(run, folder, spec, with, nudge);
                let began = call.begin()?;
                Ok(Some((lock, call, began)))
            })
        };
        let Some((lock, call, began)) = taken.await? else { return Ok(()) };
        let over = inner.lives.note(run, nudge, Some(std::process::id()), began);
        let run = run.clone();
        tokio::spawn(async move {
            if let Err(error) = call.carry_out(began).await {
                tracing::error!(%run, %error, "the end of a call could not be noted: it will be taken up again");
            }
            drop::<File>(lock);
            inner.lives.forget(&run, over);
        });
        Ok(())
    }
}

impl Inner {
    fn folder(&self, run: &RunId) -> Folder {
        folder::of(&self.root, run)
    }

    /// Why a run was not started.
    fn not_started(&self, run: &RunId) -> Error {
        let mut said = String::new();
        let read = File::open(self.folder(run).file(SUPERVISOR));
        let read = read.and_then(|file| file.take(SUPERVISOR_TEXT_MAX).read_to_string(&mut said));
        match read {
            Ok(bytes) if bytes > 0 => Error::Supervisor { run: run.clone(), said: said.trim().to_owned() },
            _ => Error::NotStarted(run.clone()),
        }
    }
}

/// Removes folders of claims and removals that were not finished. A claim that is younger may be under way.
fn clear_leftovers(root: &Path, now: Time) -> std::io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_old = || {
            let made = entry.metadata().map_or(now, |about| Time::from_seconds(about.mtime()));
            now.since(made) > LEFTOVER_AGE
        };
        if name.starts_with(".gone-") || (name.starts_with(".new-") && is_old()) {
            match fs::remove_dir_all(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}
