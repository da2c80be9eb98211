//! Limits what one client can hold: its connections, and the time for which it takes nothing of an answer.

use std::collections::HashMap;
use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The number of connections of each client.
#[derive(Clone, Default)]
pub(crate) struct Clients(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection of a client. It no longer counts when this is dropped.
pub(crate) struct Connection {
    clients: Clients,
    client: IpAddr,
}

impl Clients {
    /// Counts a connection, unless its client has `most` of them already.
    pub(crate) fn connect(&self, address: IpAddr, most: usize) -> Option<Connection> {
        let client = client(address);
        let mut all = self.all();
        let number = all.entry(client).or_default();
        if *number >= most {
            return None;
        }
        *number += 1;
        drop(all);
        Some(Connection { clients: self.clone(), client })
    }

    fn all(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut all = self.clients.all();
        let left = all.get_mut(&self.client).map_or(0, |number| {
            *number -= 1;
            *number
        });
        if left == 0 {
            all.remove(&self.client);
        }
    }
}

/// Returns the address that stands for a client. One client has all IPv6 addresses that begin with the same 64 bits.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(all) => {
            let [a, b, c, d, ..] = all.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 => v4,
    }
}

/// A socket whose client must take some bytes of an answer within a time.
pub(crate) struct Impatient<S> {
    socket: S,
    patience: Duration,
    /// The end of the time, while the client takes nothing.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    pub(crate) fn new(socket: S, patience: Duration) -> Self {
        Self { socket, patience, end: None }
    }

    /// Returns what the socket answers to a write, or an error if the time is over.
    fn wait<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let patience = self.patience;
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(patience)));
        match end.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.wait(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, parts);
        self.wait(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        self.wait(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.socket).poll_shutdown(context);
        self.wait(closed, context)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_connections() {
        let clients = Clients::default();
        let connect = |address: &str| clients.connect(address.parse().unwrap(), 2);
        let (first, two) = (connect("10.0.0.1"), connect("::ffff:10.0.0.1"));
        assert!(first.is_some() && two.is_some() && connect("10.0.0.1").is_none());
        assert!(connect("10.0.0.2").is_some());
        drop(first);
        assert!(connect("10.0.0.1").is_some());
        let (three, four) = (connect("2001:db8::1"), connect("2001:db8::2"));
        assert!(three.is_some() && four.is_some() && connect("2001:db8::3").is_none());
        drop((two, three, four));
        assert!(clients.all().is_empty());
    }

    #[test]
    fn a_client_that_takes_nothing_is_left() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(async {
            // The other end is never read.
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let _silent = std::net::TcpStream::connect(address).unwrap();
            let socket = listener.accept().await.unwrap().0;
            let mut socket = Impatient::new(socket, Duration::from_millis(200));
            let bytes = vec![0; 1 << 20];
            loop {
                let write =
                    |context: &mut Context<'_>| Pin::new(&mut socket).poll_write(context, &bytes);
                if let Err(error) = std::future::poll_fn(write).await {
                    return error;
                }
            }
        });
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
