//! Tests the reading of TTrees.

mod baskets;
mod corrupt;
mod damage;
mod files;
