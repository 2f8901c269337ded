//! A throw-away authority with the certificates of a server and a client.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// PEM files.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The authority that clients must trust.
    pub ca: PathBuf,
    /// Valid for `localhost` and 127.0.0.1.
    pub server_cert: PathBuf,
    pub server_key: PathBuf,
    /// With the database user as its common name.
    pub client_cert: PathBuf,
    pub client_key: PathBuf,
}

impl TlsFiles {
    /// Creates an authority and two certificates in `folder`; keys are readable by their owner
    /// only.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn create(folder: &Path, client_name: &str) -> Result<TlsFiles, Box<dyn std::error::Error>> {
        let mut authority = CertificateParams::new(Vec::<String>::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        authority.distinguished_name.push(DnType::CommonName, "Torg test authority");
        let authority_key = KeyPair::generate()?;
        let ca = write(folder, "ca.pem", &authority.self_signed(&authority_key)?.pem())?;
        let issuer = Issuer::new(authority, authority_key);

        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let (server_cert, server_key) =
            sign(&issuer, names, "localhost", ExtendedKeyUsagePurpose::ServerAuth)?;
        let (client_cert, client_key) =
            sign(&issuer, Vec::new(), client_name, ExtendedKeyUsagePurpose::ClientAuth)?;
        Ok(TlsFiles {
            ca,
            server_cert: write(folder, "server.pem", &server_cert)?,
            server_key: write(folder, "server.key", &server_key)?,
            client_cert: write(folder, "client.pem", &client_cert)?,
            client_key: write(folder, "client.key", &client_key)?,
        })
    }
}

fn sign(
    issuer: &Issuer<'_, KeyPair>,
    subject_names: Vec<String>,
    common_name: &str,
    purpose: ExtendedKeyUsagePurpose,
) -> Result<(String, String), rcgen::Error> {
    let mut params = CertificateParams::new(subject_names)?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.extended_key_usages = vec![purpose];
    let key = KeyPair::generate()?;
    Ok((params.signed_by(&key, issuer)?.pem(), key.serialize_pem()))
}

fn write(folder: &Path, name: &str, pem: &str) -> std::io::Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(name);
    std::fs::write(&path, pem)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(path)
}
