//! A stage as a process.

use std::process::{ExitStatus, Stdio};

use connectrpc::Protocol;
use connectrpc::client::{ClientConfig, HttpClient};
use stagekit::template::{Language, write_out};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use wire_stages::torg::stages::v1::StageServiceClient;

pub(crate) const STAGE: &str = "my-stage";
pub(crate) const TOKEN: &str = "a-secret";

pub(crate) type Client = StageServiceClient;

/// A stage that listens; killed when it is dropped.
pub(crate) struct Process {
    /// Its id: the one in Rust has the name of the template.
    pub(crate) stage: &'static str,
    address: String,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    _folder: Option<TempDir>,
}

/// The Python that has gRPC; nothing, loudly, where there is none.
pub(crate) fn python_program() -> Option<&'static str> {
    let python = "/usr/bin/python3";
    let there = std::process::Command::new(python).args(["-c", "import grpc, google.protobuf"]).output();
    if there.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    testkit::skip("stages in Python", "python3-grpcio is missing: see scripts/test");
    None
}

/// The template in Python, written out.
pub(crate) fn python_project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_out(Language::Python, STAGE, folder.path(), None).unwrap();
    folder
}

pub(crate) async fn python() -> Option<Process> {
    let folder = python_project();
    let mut command = Command::new(python_program()?);
    command.arg("stage.py").current_dir(folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    Some(Process::start(STAGE, command, Some(folder)).await)
}

pub(crate) async fn rust() -> Process {
    let command = Command::new(env!("CARGO_BIN_EXE_phone-numbers"));
    Process::start("phone-numbers", command, None).await
}

impl Process {
    async fn start(stage: &'static str, mut command: Command, folder: Option<TempDir>) -> Process {
        command.arg("127.0.0.1:0").env("STAGE_TOKEN", TOKEN).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut process = Process { stage, address: String::new(), child, lines, _folder: folder };
        process.address = process.line().await.split_off("listening on ".len());
        process
    }

    /// The next line that it prints.
    pub(crate) async fn line(&mut self) -> String {
        self.lines.next_line().await.unwrap().expect("the stage has ended")
    }

    /// Has it end by SIGTERM, and waits for that.
    pub(crate) async fn terminate(&mut self) -> ExitStatus {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
        self.child.wait().await.unwrap()
    }

    pub(crate) fn client(&self, authorization: Option<&str>) -> Client {
        let config = self.config();
        let config = match authorization {
            Some(value) => config.with_default_header("authorization", value),
            None => config,
        };
        StageServiceClient::new(HttpClient::plaintext_http2_only(), config)
    }

    /// With the right token.
    pub(crate) fn torg(&self) -> Client {
        self.client(Some(&format!("Bearer {TOKEN}")))
    }

    pub(crate) fn config(&self) -> ClientConfig {
        let uri = format!("http://{}", self.address).parse().unwrap();
        ClientConfig::new(uri).with_protocol(Protocol::Grpc)
    }
}
