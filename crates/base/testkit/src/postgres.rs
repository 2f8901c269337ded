//! A PostgreSQL server, from the installed binaries of the operating system.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::guardian::Guardian;
use crate::tls::TlsFiles;
use crate::{Missing, free_port, log_tail, or_skip};

const WHAT: &str = "PostgreSQL";
const USER: &str = "torg";
const PASSWORD: &str = "torg-test";
const START_TIMEOUT_S: u32 = 60;
/// Another program may take the port before the server does.
const START_ATTEMPTS_MAX: u32 = 3;

/// The server that all tests of one binary share, started by the first call; `None`, after a
/// [`skip`], if this machine cannot run one. Tests use their own database and never stop the
/// server.
#[must_use]
pub fn postgres() -> Option<&'static Postgres> {
    static SHARED: OnceLock<Result<Postgres, Missing>> = OnceLock::new();
    or_skip(SHARED.get_or_init(Postgres::start).as_ref().map_err(Missing::clone))
}

#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Off is faster and loses data in a power cut. On by default, because durability is tested.
    pub fsync: bool,
    /// On: TCP connections without TLS are refused.
    pub tls: bool,
    /// Lines for `postgresql.conf`, which override the defaults: `("max_connections", "20")`.
    pub settings: Vec<(String, String)>,
}

impl Default for PostgresOptions {
    fn default() -> PostgresOptions {
        PostgresOptions { fsync: true, tls: false, settings: Vec::new() }
    }
}

/// A PostgreSQL server with its own data folder on 127.0.0.1. Dropping it, or the end of the
/// process, stops the server and removes the folder.
#[derive(Debug)]
pub struct Postgres {
    binaries: PathBuf,
    folder: PathBuf,
    port: u16,
    tls: Option<TlsFiles>,
    _guardian: Guardian,
}

#[expect(
    clippy::must_use_candidate,
    reason = "SQL and databases are wanted for their effect as often as for the answer"
)]
impl Postgres {
    /// Starts a server with the default options and waits until it accepts connections.
    pub fn start() -> Result<Postgres, Missing> {
        Postgres::start_with(&PostgresOptions::default())
    }

    /// Starts a server and waits until it accepts connections.
    pub fn start_with(options: &PostgresOptions) -> Result<Postgres, Missing> {
        let missing = |why: String| Missing::new(WHAT, why);
        let binaries = find_binaries().ok_or_else(|| {
            missing(
                "no initdb in /usr/lib/postgresql/*/bin nor in PATH (Debian: apt-get install postgresql)"
                    .to_owned(),
            )
        })?;
        let folder = tempfile::Builder::new()
            .prefix("torg-pg-")
            .tempdir()
            .map_err(|error| missing(format!("cannot make a temporary folder: {error}")))?
            // The guardian removes it.
            .keep();
        let stop = format!("{} -D \"$1/data\" -m immediate stop", as_server_user("\"$2\""));
        let pg_ctl = binaries.join("pg_ctl").display().to_string();
        let guardian = Guardian::watch(&folder, &stop, &[&pg_ctl])
            .map_err(|error| missing(format!("cannot start a shell: {error}")))?;
        let mut server = Postgres { binaries, folder, port: 0, tls: None, _guardian: guardian };
        server.create_cluster(options).map_err(missing)?;
        let mut why = String::new();
        for _ in 0..START_ATTEMPTS_MAX {
            server.port = free_port();
            match server.pg_ctl_start() {
                Ok(()) => return Ok(server),
                Err(error) => why = error,
            }
        }
        Err(missing(why))
    }

    /// The `postgres` database over TCP, with user and password.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The URL of another database.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        let mode = if self.tls.is_some() { "?sslmode=require" } else { "" };
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{database}{mode}", self.port)
    }

    /// The same after a restart.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// With [`PostgresOptions::tls`].
    #[must_use]
    pub fn tls(&self) -> Option<&TlsFiles> {
        self.tls.as_ref()
    }

    /// The authority of the server, with [`PostgresOptions::tls`].
    #[must_use]
    pub fn ca_pem(&self) -> Option<&Path> {
        self.tls.as_ref().map(|files| files.ca.as_path())
    }

    /// Creates an empty database and returns its URL.
    ///
    /// # Panics
    /// When the database exists already or the server is down.
    pub fn create_database(&self, name: &str) -> String {
        self.psql(&format!("CREATE DATABASE \"{}\"", name.replace('"', "\"\"")));
        self.url_of(name)
    }

    /// Creates an empty database with a unique name and returns its URL.
    ///
    /// # Panics
    /// When the server is down.
    pub fn fresh_database(&self) -> String {
        self.create_database(&fresh_name("t"))
    }

    /// Stops the server like a crash: connections break, nothing is flushed.
    ///
    /// # Panics
    /// When the server does not run.
    pub fn stop_immediate(&self) {
        self.pg_ctl(&["-m", "immediate", "stop"]).expect("pg_ctl stop");
    }

    /// Starts the server after [`Postgres::stop_immediate`], with the same port and folder.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start_again(&self) {
        self.pg_ctl_start().expect("pg_ctl start");
    }

    /// `pg_ctl restart -m immediate`: a crash and the recovery from it.
    ///
    /// # Panics
    /// When it does not come up again.
    pub fn restart_immediate(&self) {
        let log = self.log_path();
        let log = log.to_string_lossy();
        self.pg_ctl(&["-l", &log, "-m", "immediate", "restart"]).expect("pg_ctl restart");
    }

    /// Runs SQL in the `postgres` database as superuser. The output is unaligned, without headings,
    /// with `|` between columns.
    ///
    /// # Panics
    /// With psql's own message when a statement fails or the server is down.
    pub fn psql(&self, sql: &str) -> String {
        self.psql_in("postgres", sql)
    }

    ///
    /// # Panics
    /// With psql's own message when a statement fails or the server is down.
    pub fn psql_in(&self, database: &str, sql: &str) -> String {
        let mut command = Command::new(self.binaries.join("psql"));
        command
            .args(["--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--set", "ON_ERROR_STOP=1"])
            .arg("--host")
            .arg(&self.folder)
            .args([
                "--port",
                &self.port.to_string(),
                "--username",
                USER,
                "--dbname",
                database,
                "--command",
                sql,
            ]);
        run(&mut command).unwrap_or_else(|error| panic!("psql: {error}"))
    }

    /// The log of the server.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    fn log_path(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    fn create_cluster(&mut self, options: &PostgresOptions) -> Result<(), String> {
        let io = |error: std::io::Error| error.to_string();
        let password_file = self.folder.join("password");
        std::fs::write(&password_file, PASSWORD).map_err(io)?;
        if options.tls {
            self.tls = Some(TlsFiles::create(&self.folder, USER).map_err(|error| error.to_string())?);
        }
        give_to_server_user(&self.folder)?;
        let data = self.folder.join("data");
        let mut initdb = server_command(&self.binaries.join("initdb"));
        initdb
            .args(["--no-sync", "--no-instructions", "--encoding=UTF8", "--auth-local=trust"])
            // Not the byte order, so that SQL without COLLATE "C" fails tests.
            .args(["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"])
            .args(["--auth-host=scram-sha-256", "--username", USER, "--pwfile"])
            .arg(&password_file)
            .arg("--pgdata")
            .arg(&data);
        run(&mut initdb)?;
        append(&data.join("postgresql.conf"), &self.settings(options)).map_err(io)?;
        if options.tls {
            let rules = format!("local all all trust\nhostssl all {USER} 127.0.0.1/32 scram-sha-256\n");
            std::fs::write(data.join("pg_hba.conf"), rules).map_err(io)?;
        }
        Ok(())
    }

    fn settings(&self, options: &PostgresOptions) -> String {
        use std::fmt::Write as _;
        let mut lines = format!(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nmax_connections = 200\n\
             shared_buffers = 128MB\nautovacuum_naptime = 5s\nlog_line_prefix = '%m [%p] '\n",
            self.folder.display()
        );
        let on = |value: bool| if value { "on" } else { "off" };
        // Writing to a `String` does not fail.
        let _ = writeln!(lines, "fsync = {}", on(options.fsync));
        if let Some(files) = &self.tls {
            let _ = writeln!(
                lines,
                "ssl = on\nssl_ca_file = '{}'\nssl_cert_file = '{}'\nssl_key_file = '{}'",
                files.ca.display(),
                files.server_cert.display(),
                files.server_key.display()
            );
        }
        for (name, value) in &options.settings {
            let _ = writeln!(lines, "{name} = '{}'", value.replace('\'', "''"));
        }
        lines
    }

    fn pg_ctl_start(&self) -> Result<(), String> {
        let log = self.log_path();
        let port = format!("-p {}", self.port);
        self.pg_ctl(&["-l", &log.to_string_lossy(), "-o", &port, "start"])
            .map_err(|error| format!("{error}\n{}", log_tail(&log)))
    }

    fn pg_ctl(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = server_command(&self.binaries.join("pg_ctl"));
        command.arg("-D").arg(self.folder.join("data")).args(["-w", "-t", &START_TIMEOUT_S.to_string()]);
        run(command.args(arguments)).map(drop)
    }
}

/// A unique name for a database, topic or folder.
#[must_use]
pub fn fresh_name(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The newest version in Debian's folder, else from PATH.
fn find_binaries() -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, binaries)| binaries.join("initdb").is_file())
        .collect();
    versions.sort();
    versions.pop().map(|(_, binaries)| binaries).or_else(|| {
        std::env::split_paths(&std::env::var_os("PATH")?).find(|folder| folder.join("initdb").is_file())
    })
}

/// PostgreSQL refuses to run as root: then its programs run as the user of its package.
fn runs_as_root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| {
        Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
    })
}

fn as_server_user(program: &str) -> String {
    if runs_as_root() { format!("runuser -u postgres -- {program}") } else { program.to_owned() }
}

fn server_command(program: &Path) -> Command {
    let mut command = if runs_as_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    // The user of the server may not be allowed to enter the working directory.
    command.current_dir("/");
    command
}

fn give_to_server_user(folder: &Path) -> Result<(), String> {
    if !runs_as_root() {
        return Ok(());
    }
    run(Command::new("chown").args(["-R", "postgres:"]).arg(folder)).map(drop)
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    std::fs::OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes())
}

/// The trimmed stdout, or the error output.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let told = |error: std::io::Error| format!("{name}: {error}");
    // pg_ctl leaves a server behind that inherits its streams: reading a pipe to the end would wait
    // for that server.
    let (stdout, stderr) = (tempfile::tempfile().map_err(told)?, tempfile::tempfile().map_err(told)?);
    let status = command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().map_err(told)?)
        .stderr(stderr.try_clone().map_err(told)?)
        .status()
        .map_err(told)?;
    if status.success() {
        Ok(written(stdout).map_err(told)?)
    } else {
        Err(format!(
            "{name}: {status}: {} {}",
            written(stderr).map_err(told)?,
            written(stdout).map_err(told)?
        ))
    }
}

fn written(mut file: std::fs::File) -> std::io::Result<String> {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}
