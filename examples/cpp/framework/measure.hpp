// What a job takes: time, CPU time, memory.

#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace measure {

inline double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The seconds in which this thread neither ran nor waited for a core: it waited for another thread or for the storage. On
// other systems than Linux waiting for a core counts, too.
class Stalls {
public:
  double seconds() const {
    const double ran = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_;
    // The clocks differ by microseconds.
    return std::max(0.0, seconds_of(CLOCK_MONOTONIC) - wall_ - ran - (queued() - queued_));
  }

private:
  // Returns the seconds in which the thread waited for a core.
  static double queued() {
    std::uint64_t running = 0, waiting = 0;
    std::ifstream("/proc/thread-self/schedstat") >> running >> waiting;
    return 1e-9 * static_cast<double>(waiting);
  }

  double wall_ = seconds_of(CLOCK_MONOTONIC);
  double cpu_ = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  double queued_ = queued();
};

// The CPU time of all threads.
inline double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

// The peak of resident memory in bytes.
inline std::uint64_t peak_memory() {
  // Unlike getrusage, this is not the memory of the process that started this one.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes)
      return 1024 * kilobytes;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<std::uint64_t>(usage.ru_maxrss);
#else
  return 1024 * static_cast<std::uint64_t>(usage.ru_maxrss);
#endif
}

} // namespace measure
