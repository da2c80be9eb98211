// Measures what a program takes.

#pragma once

#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <ostream>

// The seconds, and the CPU seconds of all threads, since it was made.
class Clock {
public:
  // Writes them as members of JSON, with the peak of memory in MB.
  void write(std::ostream &out) const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    out << "\"seconds\": " << seconds.count() << ", \"cpu\": "
        << static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC
        << ", \"rss\": " << static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
};
