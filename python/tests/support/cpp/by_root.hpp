// What ROOT does with the classes.

#pragma once

#include "event.hpp"

// Writes the entries.
void write_by_root(const char *path);
// Reads the entries, and returns the first one that has wrong values, or -1.
int wrong_in_root(const char *path);
