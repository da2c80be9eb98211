// The classes of the examples, described once.

#pragma once

#include <nyssa.hpp>

#include <string>
#include <vector>

struct Hit {
  float x = 0;
  float y = 0;
};

struct Jet {
  float pt = 0;
  float eta = 0;
  std::vector<Hit> hits;
};

NYSSA_CLASS(Hit, x, y)
NYSSA_CLASS(Jet, pt, eta, hits)
