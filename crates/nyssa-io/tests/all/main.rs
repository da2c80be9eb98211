//! The tests of the crate from outside, one program: what it costs to link is paid once. Tests that record the process, and
//! those that kill it, are programs of their own.

#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]

mod access;
mod cache;
mod cache_max_age;
mod dav;
mod fetch;
mod folders;
mod http;
mod http_faults;
mod io_stats;
mod s3;
mod served_folder;
mod sinks;
mod sources;
mod stop;
mod xrootd_faults;
mod xrootd_http;
mod xrootd_logins;
mod xrootd_proxies;
mod xrootd_servers;
mod xrootd_tls;
mod xrootd_writing;
