// The products of an event, as other modules of a framework hand them to an output module. Neither nyssa nor ROOT is here.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace products {

struct Header {
  std::uint32_t run = 0;
  std::uint32_t block = 0;
  std::uint64_t number = 0;
  float weight = 0;
};

struct Hit {
  float x = 0;
  float y = 0;
  float z = 0;
  std::uint16_t cell = 0;
};

struct Jet {
  float pt = 0;
  float eta = 0;
  float phi = 0;
  float mass = 0;
  float tag = 0;
  std::vector<Hit> hits;
};

struct Track {
  float pt = 0;
  float eta = 0;
  float phi = 0;
  float dxy = 0;
  float dz = 0;
  float chi2 = 0;
  std::int16_t hits = 0;
  std::int16_t charge = 0;
};

struct Muon {
  float pt = 0;
  float eta = 0;
  float phi = 0;
  float isolation = 0;
  std::int32_t charge = 0;
};

struct Event {
  Header header;
  std::vector<Jet> jets;
  std::vector<Track> tracks;
  std::vector<Muon> muons;
  std::vector<std::string> triggers;
};

// Makes the event of a number: about 2 kB in about 2 microseconds. The same number always gives the same event.
void make(Event &event, std::uint64_t number);

// Returns whether two events have equal products.
bool equal(const Event &left, const Event &right);

} // namespace products
