//! TTree → RNTuple.
