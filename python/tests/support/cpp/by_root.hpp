// What ROOT does with the classes.

#pragma once

#include "event.hpp"

#include <Rtypes.h>

namespace evolved {

// An older form of the class of `by_nyssa.cpp`.
struct Jet {
  float px = 0;
  float py = 0;
  int charge = 0;
  std::vector<event::Hit> clusters;
  float kept = 0;
};

// Version 2 of another one, with its base classes in another order, one base class less, and another unit.
struct Energy {
  float energy = 0;
};
struct Point {
  float x = 0;
};
struct Cluster : Energy, Point {
  float pt = 0;
  float q[3] = {};
  ClassDefNV(Cluster, 2)
};

} // namespace evolved

// Writes the entries.
void write_by_root(const char *path);
// Reads the entries, and returns the first one that has a wrong value, and the member; an empty text if all are right.
std::string wrong_in_root(const char *path);
// Reads entries of which some have late fields, as `wrong_in_root` reads entries.
std::string wrong_late_in_root(const char *path);
// Writes jets in the older form.
void write_old_by_root(const char *path);
// Writes clusters of version 2.
void write_old_clusters_by_root(const char *path);
// Writes products to a file as ROOT streams them, each after its number of bytes, and a ROOT file with their streamer infos.
void stream_by_root(const char *bytes, const char *infos);
// Reads streamed products as `wrong_in_root` reads entries.
std::string wrong_streamed_in_root(const char *path);
