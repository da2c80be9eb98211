// What every output module does.

#pragma once

#include "event.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

// How a module writes its file.
struct Settings {
  std::string file;
  // Streams that write at the same time.
  unsigned streams = 1;
  // Threads of the library, beside the streams: with 1 it has none, and streams compress what they write.
  unsigned threads = 1;
  // A setting of ROOT, such as 505 for zstd of level 5; nyssa takes names, too.
  std::string compression = "505";
  // Compressed size of a cluster, in bytes.
  std::uint64_t cluster = 8 << 20;
  // Largest size of a page before compression, in bytes.
  std::uint64_t page = 256 << 10;
  // Whether events are tasks of oneTBB; otherwise each stream has a thread.
  bool tasks = false;
};

// The output of one stream. One thread at a time uses it.
class StreamOutput {
public:
  virtual ~StreamOutput() = default;
  // Writes the event of the stream.
  virtual void write() = 0;
  // Ends the output, after the last event.
  virtual void end() = 0;
};

// A file that several streams write.
class Module {
public:
  virtual ~Module() = default;
  // Makes the output of a stream, which has its next event in `event` each time.
  virtual std::unique_ptr<StreamOutput> stream(const products::Event &event) = 0;
  // Completes the file, after the last stream.
  virtual void end() = 0;
};

// The modules by their names.
using Modules = std::map<std::string, std::function<std::unique_ptr<Module>(const Settings &)>>;

// Adds `nyssa` (a fill context for each stream) and `nyssa-one` (one writer behind a mutex).
void add_nyssa(Modules &modules);

#ifdef WITH_ROOT
// Adds `root` (RNTupleParallelWriter with a fill context for each stream), `root-one` (RNTupleWriter behind a mutex) and
// `merger` (TBufferMerger with a TTree for each stream).
void add_root(Modules &modules);
// Reads an RNTuple or a TTree by ROOT. Returns what is wrong first, or an empty text if each of the events is there once, with
// equal products.
std::string wrong_in_root(const std::string &file, std::uint64_t events);
#endif
