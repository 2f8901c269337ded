//! The API: starts runs, finds them again, and returns their ends.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clock::{Clock, Time};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::callback::{self, Callback};
use crate::calls::{self, Call, blocking};
use crate::end::{End, Reason};
use crate::error::{Error, Result};
use crate::folder::{self, Folder, SUPERVISOR};
use crate::id::RunId;
use crate::limits::{LEFTOVER_AGE, LOG_PIECE_BYTES_MAX, POLL_PAUSE, POLL_PAUSE_MAX, SUPERVISOR_TEXT_MAX};
use crate::local::{LocalRun, LocalRuns};
use crate::log::{self, LogChunk};
use crate::options::{Options, Verb};
use crate::secret::Secret;
use crate::spec::{Action, Spec};
use crate::status::Status;

/// Starts runs, finds them again, and returns their ends. Cheap to clone.
///
/// Its whole state is in the folder: several runners and processes may share one.
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
    local: LocalRuns,
}

#[derive(Clone)]
pub struct Handle {
    /// Whether this start was the first one.
    pub is_first: bool,
    run: RunId,
    runner: Runner,
}

impl Handle {
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    pub async fn wait(&self) -> Result<End> {
        self.runner.wait(&self.run).await
    }

    pub async fn kill(&self) -> Result<bool> {
        self.runner.kill(&self.run).await
    }
}

impl Runner {
    /// Opens or creates the folder of runs, and removes leftovers of processes that died while they
    /// claimed or removed a run.
    pub fn open(options: Options) -> Result<Self> {
        let Options { folder, supervisor, callbacks, clock } = options;
        let root = std::path::absolute(&folder)
            .map_err(Error::while_doing(|| format!("the folder {} cannot be named", folder.display())))?;
        let opening = || format!("the folder of runs {} cannot be opened", root.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&root).map_err(Error::while_doing(opening))?;
        clear_leftovers(&root, clock.now()).map_err(Error::while_doing(opening))?;
        let web = calls::default_client().map_err(|what| Error::spec("tls", what))?;
        let local = LocalRuns::default();
        Ok(Self { inner: Arc::new(Inner { root, supervisor, callbacks, clock, web, local }) })
    }

    /// Starts a run, or finds it: starting an id again finds the first run, whatever its spec was.
    ///
    /// A run that was claimed and not started is started now with `spec`; an abandoned call is
    /// resumed as it was begun. A crash at any point leads neither to two runs nor to a run that
    /// cannot be started: if this did not return, start the run again.
    pub async fn start(&self, run: &RunId, spec: &Spec) -> Result<Handle> {
        spec.check()?;
        let (inner, id, spec) = (Arc::clone(&self.inner), run.clone(), resolved(spec)?);
        let folder = inner.folder(run);
        let claimed = {
            let (inner, folder, spec) = (Arc::clone(&inner), folder.clone(), spec.clone());
            blocking(move || {
                let is_first = folder.claim(&inner.root, &spec)?;
                let status = folder.status(inner.clock.now())?;
                if status == Status::NotStarted && !is_first {
                    folder.rewrite(&spec)?;
                }
                Ok((is_first, status))
            })
        };
        let (is_first, status) = claimed.await?;
        match (status, &spec.action) {
            (Status::NotStarted, Action::Command(_)) => self.supervise(&id, folder).await?,
            (Status::NotStarted | Status::Abandoned { .. }, _) => self.resume(&id, folder).await?,
            _ => {}
        }
        Ok(Handle { is_first, run: id, runner: self.clone() })
    }

    /// The status of a run. A command that died is reported only when none of its processes is
    /// left.
    pub async fn status(&self, run: &RunId) -> Result<Status> {
        let local = self.inner.local.of(run);
        let (inner, folder) = (Arc::clone(&self.inner), self.inner.folder(run));
        let status = blocking(move || folder.status(inner.clock.now())).await?;
        match (status, local) {
            // Its supervisor has not begun yet.
            (Status::NotStarted, Some(local)) if local.is_active() => {
                Ok(Status::Running { pid: local.pid, since: local.since })
            }
            (status, _) => Ok(status),
        }
    }

    /// Waits until a run has ended or died. Resumes an abandoned call.
    pub async fn wait(&self, run: &RunId) -> Result<End> {
        let mut pause = POLL_PAUSE;
        loop {
            let local = self.inner.local.of(run);
            match self.status(run).await? {
                Status::Ended(end) => return Ok(end),
                Status::Died { since, noticed } => {
                    let detail = "its supervisor is gone, and the end of the command is unknown";
                    return Ok(End::new(Reason::Died, detail, since, noticed));
                }
                Status::NotStarted if local.is_none() => return Err(self.inner.not_started(run)),
                Status::Abandoned { .. } => self.resume(run, self.inner.folder(run)).await?,
                Status::NotStarted | Status::Running { .. } => {}
            }
            if let Some(local) = local.filter(LocalRun::is_active) {
                local.finished().await;
            } else {
                sleep(pause).await;
                pause = (pause * 2).min(POLL_PAUSE_MAX);
            }
        }
    }

    /// Requests a kill; returns whether the run was running. It is over when [`wait`](Self::wait)
    /// returns: a command gets TERM, and KILL after its grace time; a gRPC service is told; an HTTP
    /// service is not.
    pub async fn kill(&self, run: &RunId) -> Result<bool> {
        let status = self.status(run).await?;
        match status {
            Status::NotStarted => return Err(Error::NotStarted(run.clone())),
            Status::Ended(_) | Status::Died { .. } => return Ok(false),
            Status::Running { .. } | Status::Abandoned { .. } => {}
        }
        let folder = self.inner.folder(run);
        blocking({
            let folder = folder.clone();
            move || folder.request_kill()
        })
        .await?;
        self.inner.local.wake(run);
        if matches!(status, Status::Abandoned { .. }) {
            self.resume(run, folder).await?;
        }
        Ok(true)
    }

    /// A service reports the end of a run. The first report counts: returns whether this was it.
    pub async fn callback(&self, run: &RunId, token: &str, callback: Callback) -> Result<bool> {
        let (inner, folder, id, token) =
            (Arc::clone(&self.inner), self.inner.folder(run), run.clone(), token.to_owned());
        let is_first =
            blocking(move || callback::note(&folder, &id, &token, callback, inner.clock.now())).await?;
        self.inner.local.wake(run);
        Ok(is_first)
    }

    pub async fn log(&self, run: &RunId, offset: u64, bytes_max: usize) -> Result<LogChunk> {
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

    /// Removes everything about a run. Refuses a running one; succeeds if there is none.
    pub async fn remove(&self, run: &RunId) -> Result<()> {
        match self.status(run).await? {
            Status::Running { .. } | Status::Abandoned { .. } => return Err(Error::UnderWay(run.clone())),
            Status::NotStarted | Status::Ended(_) | Status::Died { .. } => {}
        }
        let (inner, folder, run) = (Arc::clone(&self.inner), self.inner.folder(run), run.clone());
        blocking(move || match folder.take()? {
            // A run that was started since then stays.
            Some(_lock) if folder.started()?.is_none() || folder.is_over()? => folder.remove(&inner.root),
            Some(_) => Err(Error::UnderWay(run)),
            None if folder.exists()? => Err(Error::UnderWay(run)),
            None => Ok(()),
        })
        .await
    }

    /// All runs with a folder, by id.
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

    /// Starts a supervisor for a claimed run. If there is one already, the second one exits at
    /// once.
    async fn supervise(&self, run: &RunId, folder: Folder) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        let mut child = blocking(move || inner.supervisor.spawn(&folder)).await?;
        let (pid, since) = (child.id(), self.inner.clock.now());
        let over = self.inner.local.note(run, Arc::default(), pid, since);
        let (inner, run) = (Arc::clone(&self.inner), run.clone());
        tokio::spawn(async move {
            if let Err(error) = child.wait().await {
                tracing::warn!(%run, %error, "the end of a supervisor was not seen");
            }
            inner.local.forget(&run, over);
        });
        Ok(())
    }

    /// Executes a call in a task of this process, unless another one does.
    async fn resume(&self, run: &RunId, folder: Folder) -> Result<()> {
        let (inner, wake) = (Arc::clone(&self.inner), Arc::new(Notify::new()));
        let taken = {
            let (inner, run, wake) = (Arc::clone(&inner), run.clone(), Arc::clone(&wake));
            blocking(move || {
                let Some(lock) = folder.take()? else { return Ok(None) };
                if folder.end()?.is_some() {
                    return Ok(None);
                }
                let Some(spec) = folder.spec()? else {
                    return Err(folder.failed("find what to do", ErrorKind::NotFound.into()));
                };
                if matches!(spec.action, Action::Command(_)) {
                    return Err(Error::spec("run", "the run was claimed for a command: start it as one"));
                }
                let with = (inner.clock.clone(), inner.callbacks.clone(), inner.web.clone());
                let call = Call::new(run, folder, spec, with, wake);
                let began = call.begin()?;
                Ok(Some((lock, call, began)))
            })
        };
        let Some((lock, call, began)) = taken.await? else { return Ok(()) };
        let over = inner.local.note(run, wake, Some(std::process::id()), began);
        let run = run.clone();
        tokio::spawn(async move {
            if let Err(error) = call.execute(began).await {
                tracing::error!(%run, %error, "the end of a call could not be noted: it will be resumed");
            }
            drop::<File>(lock);
            inner.local.forget(&run, over);
        });
        Ok(())
    }
}

impl Inner {
    fn folder(&self, run: &RunId) -> Folder {
        folder::of(&self.root, run)
    }

    fn not_started(&self, run: &RunId) -> Error {
        let mut output = String::new();
        let read = File::open(self.folder(run).file(SUPERVISOR));
        let read = read.and_then(|file| file.take(SUPERVISOR_TEXT_MAX).read_to_string(&mut output));
        match read {
            Ok(bytes) if bytes > 0 => {
                Error::Supervisor { run: run.clone(), output: output.trim().to_owned() }
            }
            _ => Error::NotStarted(run.clone()),
        }
    }
}

/// Removes folders of unfinished claims and removals. A younger claim may be in progress.
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

/// The same spec with the inherited variables as they are now, and an absolute directory.
fn resolved(spec: &Spec) -> Result<Spec> {
    let mut spec = spec.clone();
    let Action::Command(command) = &mut spec.action else { return Ok(spec) };
    for name in std::mem::take(&mut command.inherit) {
        let Some(value) = std::env::var_os(&name) else { continue };
        let value = value.into_string().map_err(|_| {
            Error::spec(
                format!("environment.{name}"),
                "the inherited variable is not UTF-8: set it in the task",
            )
        })?;
        command.environment.entry(name).or_insert(Secret::from(value));
    }
    if let Some(directory) = &mut command.directory {
        let named =
            std::path::absolute(&*directory).map_err(|error| Error::spec("directory", error.to_string()))?;
        *directory = named;
    }
    Ok(spec)
}
