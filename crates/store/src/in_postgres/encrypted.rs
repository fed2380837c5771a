//! An encrypted connection as the client of PostgreSQL wants it, with the digest of the server's certificate that ties a password's
//! proof to this connection (`tls-server-end-point`, RFC 5929).

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

#[derive(Clone)]
pub(super) struct Connector(pub(super) Arc<ClientConfig>);

pub(super) struct HostConnector {
    host: String,
    config: Arc<ClientConfig>,
}

pub(super) struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Connector {
    type Stream = Encrypted<S>;
    type TlsConnect = HostConnector;
    type Error = Infallible;

    /// The host may be the folder of a socket, whose connection is not encrypted.
    fn make_tls_connect(&mut self, host: &str) -> Result<HostConnector, Infallible> {
        Ok(HostConnector { host: host.into(), config: Arc::clone(&self.0) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for HostConnector {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let host =
                ServerName::try_from(self.host).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            tokio_rustls::TlsConnector::from(self.config).connect(host, stream).await.map(Encrypted)
        })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        let certificate = self.0.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let digest = certificate.and_then(|certificate| digest(certificate));
        digest.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, bytes)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// The digest of a certificate by the hash of its own signature, and by SHA-256 where that hash is older; `None` for signatures
/// without a hash.
fn digest(certificate: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];
    let algorithm = signature_algorithm(certificate)?;
    match (algorithm.strip_prefix(RSA), algorithm.strip_prefix(ECDSA)) {
        // MD5 or SHA-1 with RSA, SHA-1 with ECDSA, and SHA-256 with both.
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => Some(Sha256::digest(certificate).to_vec()),
        (Some([12]), _) | (_, Some([3, 3])) => Some(Sha384::digest(certificate).to_vec()),
        (Some([13]), _) | (_, Some([3, 4])) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// The identifier of the algorithm that a certificate is signed with: what begins the second element of the outermost sequence.
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    const SEQUENCE: u8 = 0x30;
    const IDENTIFIER: u8 = 0x06;
    let (signed, _) = element(certificate, SEQUENCE)?;
    let (_, behind) = element(signed, SEQUENCE)?;
    let (algorithm, _) = element(behind, SEQUENCE)?;
    Some(element(algorithm, IDENTIFIER)?.0)
}

/// The content of a DER element of this kind, and what follows it. A length above 127 stands in the bytes behind the one that counts them.
fn element(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.strip_prefix(&[kind])?.split_first()?;
    let bytes_of_length = if length < 0x80 { 0 } else { usize::from(length & 0x7f) };
    let (long, rest) = rest.split_at_checked(bytes_of_length).filter(|_| bytes_of_length <= 4)?;
    let long = long.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    rest.split_at_checked(if length < 0x80 { length.into() } else { long })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a certificate begins: 200 bytes that are signed, then the algorithm.
    fn certificate(algorithm: &[u8]) -> Vec<u8> {
        let identifier = [&[0x06, algorithm.len() as u8], algorithm].concat();
        let algorithm = [&[0x30, identifier.len() as u8], &identifier[..]].concat();
        let content = [&[0x30, 0x81, 200], &[7; 200][..], &algorithm].concat();
        [&[0x30, 0x82, 0, content.len() as u8], &content[..]].concat()
    }

    #[test]
    fn the_digest_is_that_of_the_signature_and_never_weaker_than_sha_256() {
        let length = |algorithm: &[u8]| digest(&certificate(algorithm)).map(|digest| digest.len());
        let rsa = |last| [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, last];
        assert_eq!([4, 5, 11, 12, 13].map(|last| length(&rsa(last))), [32, 32, 32, 48, 64].map(Some));
        assert_eq!(length(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3]), Some(48));
        assert_eq!(length(&[0x2b, 0x65, 0x70]), None, "Ed25519 has no hash");
    }

    #[test]
    fn what_is_no_certificate_has_no_digest() {
        let whole = certificate(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]);
        assert!((0..whole.len()).all(|length| digest(&whole[..length]).is_none()));
        assert_eq!(digest(&[0x30, 0xff]), None);
    }
}
