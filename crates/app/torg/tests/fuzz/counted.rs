//! Runs a node in this process, under an allocator that counts.
//!
//! The resident memory of a process says little: the allocator keeps freed memory, and how much of
//! it depends on which thread freed it when. Memory that is allocated and not freed is counted
//! exactly.

use std::alloc::System;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use cap::Cap;
use node::config::{Flag, Sources};
use node::environment::Production;
use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Signal, getpid, kill_process};

use crate::common::{Answer, PATIENCE, found};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// One node at a time: the count is of the whole process.
static ALONE: Mutex<()> = Mutex::new(());
static LOG: Log = Log(Mutex::new(Vec::new()));

/// A running node; stopped when dropped.
pub(crate) struct Counted {
    pub(crate) address: SocketAddr,
    serving: Option<JoinHandle<anyhow::Result<()>>>,
    _folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Counted {
    /// Starts on a free port with these settings and waits until it is ready.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Counted {
        let alone = ALONE.lock();
        let folder = tempfile::tempdir().unwrap();
        // Fails from the second time on.
        let _ = tracing_subscriber::fmt()
            .json()
            .with_max_level(tracing::Level::WARN)
            .with_writer(|| &LOG)
            .try_init();
        LOG.0.lock().clear();
        let flag = |name, key, value: &str| Flag { name, key, value: value.to_owned() };
        let effective = node::config::load(&Sources {
            file: None,
            environment: settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            flags: vec![
                flag("--listen", "listen", "127.0.0.1:0"),
                flag("--data", "data_dir", folder.path().to_str().unwrap()),
            ],
        });
        let config = effective.unwrap().config;
        let (sender, listening) = mpsc::channel();
        let serving = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on(node::serve(
                config,
                Box::new(move |address| {
                    sender.send(address)?;
                    Ok(Arc::new(Production))
                }),
            ))
        });
        let address = listening.recv_timeout(PATIENCE).unwrap();
        let node = Counted { address, serving: Some(serving), _folder: folder, _alone: alone };
        found("the node is ready", || (node.get("/readyz").status == 200).then_some(()));
        node
    }

    /// Allocated bytes, once they stop falling: memory of a call is freed a moment after its
    /// response, and buffers of the store once they are written.
    #[expect(clippy::unused_self, reason = "only while a node runs")]
    pub(crate) fn allocated(&self) -> usize {
        let mut least = ALLOCATOR.allocated();
        let mut same = 0;
        while same < 20 {
            std::thread::sleep(Duration::from_millis(50));
            let now = ALLOCATOR.allocated();
            if now < least {
                (least, same) = (now, 0);
            } else {
                same += 1;
            }
        }
        least
    }

    pub(crate) fn runs(&self) -> bool {
        self.serving.as_ref().is_some_and(|serving| !serving.is_finished())
    }

    /// Lines of the log at `WARN` or worse.
    #[expect(clippy::unused_self, reason = "only while a node runs")]
    pub(crate) fn log_so_far(&self) -> Vec<String> {
        String::from_utf8_lossy(&LOG.0.lock()).lines().map(str::to_owned).collect()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Answer::read(stream)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let _ = kill_process(getpid(), Signal::TERM);
        if let Some(Ok(outcome)) = self.serving.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            outcome.unwrap();
        }
    }
}

struct Log(Mutex<Vec<u8>>);

impl std::io::Write for &Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
