//! Certificates that have expired, expire soon, or have another key.

use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, KeyPair};

use crate::doctor::rig::Patient;

const DAY: Duration = Duration::from_secs(24 * 3600);
const FILES: [(&str, &str); 2] = [("TORG_TLS_CERT_FILE", "cert.pem"), ("TORG_TLS_KEY_FILE", "key.pem")];

/// Writes a certificate that expires this many days from now, and its key.
fn write(patient: &Patient, days: i64) -> KeyPair {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let now = SystemTime::now();
    let away = DAY * u32::try_from(days.abs()).unwrap();
    let ends = if days < 0 { now - away } else { now + away + DAY / 2 };
    params.not_before = (now - 400 * DAY).into();
    params.not_after = ends.into();
    let certificate = params.self_signed(&key).unwrap();
    patient.write("cert.pem", &certificate.pem());
    patient.write("key.pem", &key.serialize_pem());
    key
}

#[test]
fn a_certificate_is_told_when_it_ends_soon_has_ended_or_has_another_key() {
    let patient = Patient::new().with(&FILES);
    write(&patient, 100);
    let told = patient.examine(&[]);
    told.assert_told("tls", "ok", "cert.pem: the certificate is valid until", "");
    told.assert_well();

    write(&patient, 13);
    patient.examine(&[]).assert_told("tls", "warning", "expires in 13 days", "renew it");
    write(&patient, -1);
    patient.examine(&[]).assert_told("tls", "error", "cert.pem: the certificate has expired", "renew it");

    write(&patient, 100);
    patient.write("key.pem", &KeyPair::generate().unwrap().serialize_pem());
    patient.examine(&[]).assert_told("tls", "error", "cert.pem with key.pem", "must belong together");
    std::fs::remove_file(patient.path("key.pem")).unwrap();
    patient.examine(&[]).assert_told("tls", "error", "key.pem", "check that the file exists");
}
