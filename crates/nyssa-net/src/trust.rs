//! Loads the authorities whose certificates are trusted.

use std::env;
use std::path::Path;

use rustls::pki_types::CertificateDer;

/// The folder in which grid sites keep the certificates of their authorities.
const GRID_CERTIFICATES: &str = "/etc/grid-security/certificates";

/// Returns the authorities of the system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR`, and the authorities of the grid, from
/// the folder `X509_CERT_DIR`.
pub fn authorities() -> Vec<CertificateDer<'static>> {
    let mut certificates = rustls_native_certs::load_native_certs().certs;
    let grid = env::var_os("X509_CERT_DIR").unwrap_or_else(|| GRID_CERTIFICATES.into());
    if Path::new(&grid).is_dir() {
        let more = rustls_native_certs::load_certs_from_paths(None, Some(grid.as_ref()));
        certificates.extend(more.certs);
    }
    certificates
}

/// Returns the reason why there is no secure connection, with advice.
pub fn explained(error: &rustls::Error) -> String {
    let advice = match error {
        rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer) => {
            "; set SSL_CERT_FILE or X509_CERT_DIR to the certificates of its authority"
        }
        _ => "",
    };
    format!("no secure connection: {error}{advice}")
}
