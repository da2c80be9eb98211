// What ROOT does with the classes.

#pragma once

#include "event.hpp"

// Writes the entries.
void write_by_root(const char *path);
// Reads the entries, and returns the first one that has a wrong value, and the member; an empty text if all are right.
std::string wrong_in_root(const char *path);
