//! The certificate of a server: how much of it is verified, and against which authorities.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::encrypted::Connector;
use super::encryption::{Encryption, SYSTEM, Verifies, own_authorities};

/// Where systems keep the certificates of authorities that they trust.
const FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// No list of authorities is longer.
const MOST_BYTES: u64 = 16 << 20;

/// What encrypts connections, and refuses certificates that do not hold. Fails if the certificates of the authorities
/// cannot be read.
pub(super) fn connector(encryption: &Encryption) -> Result<Connector, String> {
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let chain = match encryption.verifies {
        Verifies::Nothing => None,
        Verifies::Chain | Verifies::ChainAndName => {
            let roots = Arc::new(roots(encryption.authorities.as_deref())?);
            let chain = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
            Some(chain.map_err(|error| error.to_string())?)
        }
    };
    let verifier = Arc::new(Verifier { chain, names: encryption.verifies == Verifies::ChainAndName, algorithms });
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Connector(Arc::new(config)))
}

/// The certificates of the authorities that are trusted: those of a file, else the user's for PostgreSQL, else the system's.
fn roots(file: Option<&str>) -> Result<RootCertStore, String> {
    let system = || FILES.iter().map(PathBuf::from).find(|file| file.exists());
    let found = match file {
        Some(SYSTEM) => system(),
        Some(file) => Some(PathBuf::from(file)),
        None => own_authorities().or_else(system),
    };
    let file = found.ok_or("no certificates of authorities are found; name a file with sslrootcert=FILE")?;
    let reported = |why: &dyn std::fmt::Display| format!("the certificates in {}: {why}", shown(&file));
    let bytes = record::read_input(&file, MOST_BYTES).map_err(|error| reported(&error))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        // One that is damaged is trusted by nobody.
        let _ = certificate.map(|certificate| roots.add(certificate));
    }
    if roots.is_empty() { Err(reported(&"there is none")) } else { Ok(roots) }
}

fn shown(file: &Path) -> String {
    record::printable(&file.display().to_string())
}

/// Verifies as much of a certificate as the mode requires.
#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    names: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, others, name, status, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.names => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
