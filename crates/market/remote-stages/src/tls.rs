//! Turns TLS failures into errors that say what to do.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Why the last connection to an address failed. Cheap to clone.
///
/// The HTTP/2 library reports only that a connection failed; with TLS 1.3 a server refuses our
/// certificate after the handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastError(Arc<Mutex<Option<String>>>);

impl LastError {
    pub(crate) fn text(&self) -> Option<String> {
        self.0.lock().clone()
    }

    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }

    fn note(&self, text: String) {
        *self.0.lock() = Some(text);
    }

    /// Records why a handshake failed.
    pub(crate) fn note_handshake(&self, error: &io::Error) {
        self.note(match tls_error(error) {
            Some(error) => handshake_words(error),
            None => format!("the connection broke during the TLS handshake: {error}"),
        });
    }
}

/// Our certificate, if any, and whether the server asked for it.
#[derive(Debug)]
pub(crate) struct OwnCertificate {
    key: Option<Arc<CertifiedKey>>,
    asked: AtomicBool,
}

impl OwnCertificate {
    pub(crate) fn new(key: Option<CertifiedKey>) -> Self {
        Self { key: key.map(Arc::new), asked: AtomicBool::new(false) }
    }

    /// The likely cause of a connection that ended before the server sent anything.
    fn refusal(&self) -> Option<&'static str> {
        let asked = self.asked.load(Ordering::Relaxed);
        asked.then_some(match self.key {
            None => "it asks for a certificate of ours: give tls.certificate_pem and tls.key_pem",
            Some(_) => {
                "it refused our certificate: give one of an authority that it trusts as tls.certificate_pem"
            }
        })
    }
}

impl ResolvesClientCert for OwnCertificate {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        self.key.clone()
    }

    fn has_certs(&self) -> bool {
        self.key.is_some()
    }
}

/// A connection that records why it ended before the server sent anything.
#[derive(Debug)]
pub(crate) struct ReportingStream {
    stream: TlsStream<TcpStream>,
    own: Arc<OwnCertificate>,
    last_error: LastError,
    heard: bool,
}

impl ReportingStream {
    pub(crate) fn new(stream: TlsStream<TcpStream>, own: Arc<OwnCertificate>, last_error: LastError) -> Self {
        Self { stream, own, last_error, heard: false }
    }

    fn note_end(&self) {
        if !self.heard
            && let Some(refusal) = self.own.refusal()
        {
            self.last_error.note(refusal.to_owned());
        }
    }
}

impl AsyncRead for ReportingStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        if read.is_ok() && buffer.filled().len() > before {
            self.heard = true;
        } else {
            self.note_end();
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for ReportingStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        Poll::Ready(written.inspect_err(|_| self.note_end()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, parts));
        Poll::Ready(written.inspect_err(|_| self.note_end()))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(context));
        Poll::Ready(flushed.inspect_err(|_| self.note_end()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

fn handshake_words(error: &rustls::Error) -> String {
    use rustls::Error::{InvalidCertificate, InvalidMessage, NoApplicationProtocol};
    match error {
        // An authority of the same name but with another key shows as a bad signature.
        InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "its certificate is of no authority that is trusted here: give that authority as tls.ca_pem"
                .to_owned()
        }
        InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("{error}: correct the address, or give the certificate's name as tls.server_name"),
        InvalidMessage(_) => {
            format!("there is no TLS ({error}): write the address with http:// if that is right")
        }
        NoApplicationProtocol => "it does not speak HTTP/2, which gRPC needs".to_owned(),
        _ => format!("TLS failed: {error}"),
    }
}
