//! Reading TTrees.

mod baskets;
mod corrupt;
mod damage;
mod files;
