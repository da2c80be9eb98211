"""Read, write, convert and tune CERN's RNTuple and TTree data without ROOT."""
