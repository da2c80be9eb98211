//! Reads and writes files on servers that speak HTTP. S3 uses the same requests.
//!
//! A [`Resource`](resource::Resource) is asked for by an [`Address`]; a [`Client`](client::Client) has the
//! connections of this process. Requests block; several threads have several under way. Each asks for one
//! range, or for several if the server has proven that it answers that ([`several`]). Whatever comes is checked against what was asked for and against the version of the file that was
//! opened, and what may pass is tried again.

mod client;
mod failure;
mod folder;
mod location;
mod multipart;
mod multistatus;
mod opening;
mod options;
mod proxy;
mod resource;
mod retry;
mod several;
mod source;
mod upload;
mod version;
mod web;

pub(crate) use client::{Client, Reply, Request, element, gist};
pub(crate) use failure::Failure;
pub(crate) use location::shown;
pub use options::HttpOptions;
pub(crate) use resource::Address;
pub(crate) use retry::{Patience, retried};
pub(crate) use source::HttpSource;
pub(crate) use web::Http;
