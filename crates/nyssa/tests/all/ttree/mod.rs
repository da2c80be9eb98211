//! Tests the reading and writing of TTrees.

mod baskets;
mod corrupt;
mod damage;
mod files;
mod written;
