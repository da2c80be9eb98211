//! Loads certificates and keys.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use nyssa_io::{Error, Result};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::ServerConfig;

/// Returns the acceptor of TLS connections with the chain of certificates and the key in two files.
///
/// # Errors
/// `InvalidInput` for a file that is not a certificate or a key, or if they do not belong together; the errors
/// of the system.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor> {
    let wrong = |path: &Path, what: &str, error: pem::Error| {
        let error = match error {
            pem::Error::Io(error) => error,
            other => IoError::new(ErrorKind::InvalidInput, other.to_string()),
        };
        Error::new(path.display().to_string(), format!("read {what} from"), error)
    };
    let no_certificate = |error| wrong(certificate, "certificates", error);
    let chain = CertificateDer::pem_file_iter(certificate).map_err(no_certificate)?;
    let chain = chain.collect::<std::result::Result<Vec<_>, _>>().map_err(no_certificate)?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, "a key", error))?;
    let unusable = |error: tokio_rustls::rustls::Error| {
        let error = IoError::new(ErrorKind::InvalidInput, error.to_string());
        Error::new(certificate.display().to_string(), "use the certificates of", error)
    };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(unusable)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
