//! A Kafka broker in KRaft mode, from the jars of `scripts/kafka`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::guardian::Guardian;
use crate::tls::TlsFiles;
use crate::{Missing, free_port, log_tail, or_skip};
use parking_lot::Mutex;

const WHAT: &str = "Kafka";
const USER: &str = "torg";
const PASSWORD: &str = "torg-test";
/// Any 16 bytes in base64.
const CLUSTER_ID: &str = "dG9yZy10ZXN0LWNsdXN0ZQ";
const START_TIMEOUT: Duration = Duration::from_secs(90);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Another program may take a port before the broker does.
const START_ATTEMPTS_MAX: u32 = 3;
/// Logged once at each start, when the broker accepts requests.
const STARTED: &str = "Kafka Server started";
/// Small and quick to start.
const JVM_ARGUMENTS: &[&str] = &["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// The broker that all tests of one binary share, started by the first call; `None`, after a
/// [`skip`], if this machine cannot run one. Tests use their own topics and never stop the broker.
#[must_use]
pub fn kafka() -> Option<&'static Kafka> {
    static SHARED: OnceLock<Result<Kafka, Missing>> = OnceLock::new();
    or_skip(SHARED.get_or_init(Kafka::start).as_ref().map_err(Missing::clone))
}

#[derive(Debug, Clone, Default)]
pub struct KafkaOptions {
    /// Clients must use TLS and SASL PLAIN (see [`Kafka::user`] and [`Kafka::tls`]).
    pub secure: bool,
    /// Lines for `server.properties`, which override the defaults.
    pub settings: Vec<(String, String)>,
}

/// One broker with a controller and its own folder on 127.0.0.1. Topics must be created; internal
/// topics have one replica. Dropping it, or the end of the process, kills the broker and removes
/// the folder.
#[derive(Debug)]
pub struct Kafka {
    jars: PathBuf,
    folder: PathBuf,
    port: u16,
    tls: Option<TlsFiles>,
    broker: Mutex<Option<Child>>,
    guardian: Option<Guardian>,
}

impl Kafka {
    /// Starts a broker without TLS and waits until it serves requests.
    pub fn start() -> Result<Kafka, Missing> {
        Kafka::start_with(&KafkaOptions::default())
    }

    /// Starts a broker and waits until it serves requests.
    pub fn start_with(options: &KafkaOptions) -> Result<Kafka, Missing> {
        let missing = |why: String| Missing::new(WHAT, why);
        if !Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success()) {
            return Err(missing("no java in PATH (run scripts/kafka)".to_owned()));
        }
        let jars = jars_folder();
        if !jars.join("complete").is_file() {
            return Err(missing(format!("no jars in {} (run scripts/kafka)", jars.display())));
        }
        let mut why = String::new();
        for _ in 0..START_ATTEMPTS_MAX {
            match Kafka::try_start(&jars, options) {
                Ok(broker) => return Ok(broker),
                Err(error) => why = error,
            }
            if !why.contains("Address already in use") {
                break;
            }
        }
        Err(missing(why))
    }

    fn try_start(jars: &Path, options: &KafkaOptions) -> Result<Kafka, String> {
        let told = |error: std::io::Error| error.to_string();
        let folder = tempfile::Builder::new().prefix("torg-kafka-").tempdir().map_err(told)?.keep();
        let guardian = Guardian::watch(&folder, "kill -9 \"$(cat \"$1/pid\")\"", &[]).map_err(told)?;
        let mut kafka = Kafka {
            jars: jars.to_path_buf(),
            folder,
            port: free_port(),
            tls: None,
            broker: Mutex::new(None),
            guardian: Some(guardian),
        };
        if options.secure {
            kafka.tls = Some(kafka.create_certificates().map_err(|error| error.to_string())?);
        }
        std::fs::write(kafka.folder.join("log4j2.properties"), LOGGING).map_err(told)?;
        std::fs::write(kafka.config_path(), kafka.properties(options)).map_err(told)?;
        kafka.format()?;
        kafka.launch()?;
        Ok(kafka)
    }

    /// `127.0.0.1:port`; the same after a restart.
    #[must_use]
    pub fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// With [`KafkaOptions::secure`].
    #[must_use]
    pub fn tls(&self) -> Option<&TlsFiles> {
        self.tls.as_ref()
    }

    /// User and password of SASL PLAIN, with [`KafkaOptions::secure`].
    #[must_use]
    pub fn user(&self) -> Option<(&'static str, &'static str)> {
        self.tls.as_ref().map(|_| (USER, PASSWORD))
    }

    /// Shuts the broker down and waits for its end.
    ///
    /// # Panics
    /// When the broker does not run.
    pub fn stop(&self) {
        let mut slot = self.broker.lock();
        let mut broker = slot.take().expect("a running broker");
        let asked = Command::new("kill").args(["-TERM", &broker.id().to_string()]).status();
        let until = Instant::now() + STOP_TIMEOUT;
        while asked.as_ref().is_ok_and(std::process::ExitStatus::success) && Instant::now() < until {
            if !matches!(broker.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        self.forget(&mut broker);
    }

    /// Kills the broker.
    ///
    /// # Panics
    /// When the broker does not run.
    pub fn kill(&self) {
        self.forget(&mut self.broker.lock().take().expect("a running broker"));
    }

    /// Starts the broker after [`Kafka::stop`] or [`Kafka::kill`], with the same port and folder,
    /// and waits until it serves requests.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start_again(&self) {
        self.launch().unwrap_or_else(|error| panic!("Kafka did not start again: {error}"));
    }

    /// Reaps the process, and removes its id for the guardian: another process may get the same id.
    fn forget(&self, broker: &mut Child) {
        reap(broker);
        let _ = std::fs::remove_file(self.folder.join("pid"));
    }

    fn config_path(&self) -> PathBuf {
        self.folder.join("server.properties")
    }

    fn log_path(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    fn create_certificates(&self) -> Result<TlsFiles, Box<dyn std::error::Error>> {
        let files = TlsFiles::create(&self.folder, USER)?;
        // A PEM key store is a key and its certificate in one file.
        let store =
            std::fs::read_to_string(&files.server_key)? + &std::fs::read_to_string(&files.server_cert)?;
        std::fs::write(self.folder.join("keystore.pem"), store)?;
        Ok(files)
    }

    fn properties(&self, options: &KafkaOptions) -> String {
        use std::fmt::Write as _;
        let (client, internal, controller) = (self.port, free_port(), free_port());
        let protocol = if options.secure { "SASL_SSL" } else { "PLAINTEXT" };
        let folder = self.folder.display();
        let mut lines = format!(
            "process.roles=broker,controller\nnode.id=1\nlog.dirs={folder}/data\n\
             controller.quorum.voters=1@127.0.0.1:{controller}\ncontroller.listener.names=CONTROLLER\n\
             inter.broker.listener.name=INTERNAL\n\
             listeners=CLIENT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal},CONTROLLER://127.0.0.1:{controller}\n\
             advertised.listeners=CLIENT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal}\n\
             listener.security.protocol.map=CLIENT:{protocol},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        );
        lines.push_str(ONE_BROKER);
        if options.secure {
            let _ = writeln!(
                lines,
                "listener.name.client.ssl.keystore.type=PEM\n\
                 listener.name.client.ssl.keystore.location={folder}/keystore.pem\n\
                 listener.name.client.ssl.truststore.type=PEM\n\
                 listener.name.client.ssl.truststore.location={folder}/ca.pem\n\
                 listener.name.client.sasl.enabled.mechanisms=PLAIN\n\
                 listener.name.client.plain.sasl.jaas.config=\
                 org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}=\"{PASSWORD}\";"
            );
        }
        for (name, value) in &options.settings {
            let _ = writeln!(lines, "{name}={value}");
        }
        lines
    }

    fn java(&self, class: &str) -> Result<Command, String> {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.log_path())
            .map_err(|error| error.to_string())?;
        let both = log.try_clone().map_err(|error| error.to_string())?;
        let mut command = Command::new("java");
        command
            .args(JVM_ARGUMENTS)
            .arg(format!("-Dlog4j2.configurationFile={}", self.folder.join("log4j2.properties").display()))
            .arg("-cp")
            .arg(format!("{}/*", self.jars.display()))
            .arg(class)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(both);
        Ok(command)
    }

    fn format(&self) -> Result<(), String> {
        let mut command = self.java("kafka.tools.StorageTool")?;
        command.args(["format", "--cluster-id", CLUSTER_ID, "--config"]).arg(self.config_path());
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() {
            Ok(())
        } else {
            Err(self.complaint(&format!("StorageTool ended with {status}")))
        }
    }

    fn launch(&self) -> Result<(), String> {
        use std::os::unix::process::CommandExt as _;
        let mut slot = self.broker.lock();
        assert!(slot.is_none(), "the broker runs already");
        let started_before = self.starts();
        let mut command = self.java("kafka.Kafka")?;
        // Its own group: Ctrl-C reaches it through the guardian.
        command.arg(self.config_path()).process_group(0);
        let mut broker = command.spawn().map_err(|error| error.to_string())?;
        let id = broker.id().to_string();
        if let Err(error) = std::fs::write(self.folder.join("pid"), id) {
            reap(&mut broker);
            return Err(error.to_string());
        }
        let until = Instant::now() + START_TIMEOUT;
        loop {
            if self.starts() > started_before {
                *slot = Some(broker);
                return Ok(());
            }
            if let Ok(Some(status)) = broker.try_wait() {
                return Err(self.complaint(&format!("the broker ended with {status}")));
            }
            if Instant::now() > until {
                reap(&mut broker);
                return Err(self.complaint(&format!("the broker was not ready after {START_TIMEOUT:?}")));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// The number of starts in the log.
    fn starts(&self) -> usize {
        let log = std::fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8_lossy(&log).matches(STARTED).count()
    }

    fn complaint(&self, what: &str) -> String {
        format!("{what}\n{}", log_tail(&self.log_path()))
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        if let Some(mut broker) = self.broker.lock().take() {
            self.forget(&mut broker);
        }
        drop(self.guardian.take());
    }
}

/// Kills and reaps a process.
fn reap(process: &mut Child) {
    let _ = process.kill();
    let _ = process.wait();
}

/// `${TORG_CACHE:-$HOME/.cache/torg}/kafka-VERSION`, as in `scripts/kafka`.
fn jars_folder() -> PathBuf {
    crate::cache_folder().join(format!("kafka-{}", version()))
}

/// The version that `scripts/kafka-pom.xml` names.
fn version() -> &'static str {
    let pom = include_str!("../../../../scripts/kafka-pom.xml");
    let from = pom.split_once("<kafka.version>").map_or("", |(_, rest)| rest);
    from.split_once("</kafka.version>").map_or("", |(version, _)| version)
}

const LOGGING: &str = "\
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %p %c{1}: %m%n
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
";

/// Settings for a single broker.
const ONE_BROKER: &str = "\
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
default.replication.factor=1
min.insync.replicas=1
num.partitions=1
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=4194304
log.cleaner.threads=1
num.network.threads=2
num.io.threads=2
background.threads=2
";
