//! Reads and writes files on servers that speak HTTP.
//!
//! A [`Resource`](resource::Resource) is requested by an [`Address`]. A [`Client`](client::Client) has the
//! connections of this process. Requests block, and several threads can have several requests under way. Each
//! asks for one range, or for several if the server has proven that it answers that ([`several`]). Every answer
//! is compared with the request and with the version of the file that was opened. A request that failed is made
//! again if this may help. A server that is too busy gets fewer requests at the same time ([`turns`]).

mod client;
mod failure;
mod folder;
mod forwarded;
mod location;
mod multipart;
mod multistatus;
mod opening;
mod options;
mod part;
mod protocol;
mod proxy;
mod reply;
mod resource;
mod retry;
mod several;
mod source;
mod turns;
mod upload;
mod version;
mod web;

pub(crate) use client::{Client, Request};
pub(crate) use failure::Failure;
pub use options::HttpOptions;
pub(crate) use protocol::Http;
pub(crate) use reply::{Correction, Reply, element, gist};
pub(crate) use resource::Address;
pub(crate) use retry::{Patience, retried};
pub(crate) use several::Several;
pub(crate) use source::HttpSource;
