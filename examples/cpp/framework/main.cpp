// A framework in miniature: streams of events, and an output module that writes their products.
//
//     framework MODULE FILE STREAMS EVENTS [NAME=VALUE ...]    NAME is threads, compression, cluster, page or scheduler
//
// It prints an object of JSON. Streams take the next event until there is none, and make its products, which costs little
// beside the output; the module `none` writes nothing. With `scheduler=threads`, the default, each stream has a thread. With
// `scheduler=tbb`, each event is a task of oneTBB, so that a stream goes on in another thread from time to time.

#include "measure.hpp"
#include "module.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#ifdef WITH_TBB
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

namespace {

class Nothing : public Module {
  class Output : public StreamOutput {
    void write() override {}
    void end() override {}
  };

public:
  std::unique_ptr<StreamOutput> stream(const products::Event &) override { return std::make_unique<Output>(); }
  void end() override {}
};

// The streams of a job.
class Streams {
public:
  Streams(Module &module, std::uint64_t events) : module_(module), events_(events) {}

  // Runs so many streams, and gives their first error. Returns the seconds in which they stood still.
  double run(unsigned count) {
    std::vector<std::thread> threads;
    for (unsigned index = 0; index < count; ++index)
      threads.emplace_back([this] { guarded([this] { work(); }); });
    for (std::thread &thread : threads)
      thread.join();
    if (failure_)
      std::rethrow_exception(failure_);
    return stalled_;
  }

#ifdef WITH_TBB
  // Does so as tasks of oneTBB. Tasks do not know how long their threads waited.
  void run_as_tasks(unsigned count) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, count);
    tbb::task_arena arena(static_cast<int>(count));
    std::vector<Stream> streams(count);
    arena.execute([&] {
      tbb::task_group tasks;
      for (Stream &stream : streams)
        tasks.run([this, &stream, &tasks] { step(stream, tasks); });
      tasks.wait();
    });
    if (failure_)
      std::rethrow_exception(failure_);
  }
#endif

private:
  // An event, and where its products go.
  struct Stream {
    products::Event event;
    std::unique_ptr<StreamOutput> output;
  };

  template <class Work> void guarded(Work work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_)
        failure_ = std::current_exception();
      next_ = events_;
    }
  }
  // Makes and writes the next event. Returns whether there was one; the output ends after the last one.
  bool write_next(Stream &stream) {
    if (!stream.output)
      stream.output = module_.stream(stream.event);
    const std::uint64_t number = next_++;
    if (number >= events_) {
      stream.output->end();
      return false;
    }
    products::make(stream.event, number);
    stream.output->write();
    return true;
  }
  void work() {
    const measure::Stalls stalls;
    Stream stream;
    while (write_next(stream)) {
    }
    const double seconds = stalls.seconds();
    const std::lock_guard<std::mutex> lock(mutex_);
    stalled_ += seconds;
  }
#ifdef WITH_TBB
  // Does the next event of a stream, and leaves the one after it to any thread.
  void step(Stream &stream, tbb::task_group &tasks) {
    bool goes_on = false;
    guarded([&] { goes_on = write_next(stream); });
    if (goes_on)
      tasks.run([this, &stream, &tasks] { step(stream, tasks); });
  }
#endif

  Module &module_;
  const std::uint64_t events_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  double stalled_ = 0;
  std::exception_ptr failure_;
};

// Reads the settings behind the first arguments.
Settings settings(int count, char **arguments) {
  Settings settings;
  settings.file = arguments[2];
  settings.streams = static_cast<unsigned>(std::stoul(arguments[3]));
  for (int index = 5; index < count; ++index) {
    const std::string argument = arguments[index];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "threads")
      settings.threads = static_cast<unsigned>(std::stoul(value));
    else if (name == "compression")
      settings.compression = value;
    else if (name == "cluster")
      settings.cluster = std::stoull(value);
    else if (name == "page")
      settings.page = std::stoull(value);
    else if (name == "scheduler" && (value == "threads" || value == "tbb"))
      settings.tasks = value == "tbb";
    else
      throw std::runtime_error("there is no setting " + name);
  }
  return settings;
}

void run(const std::string &name, Module &module, const Settings &settings, std::uint64_t events) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = measure::cpu_seconds();
  Streams streams(module, events);
  double stalled = 0;
  if (!settings.tasks)
    stalled = streams.run(settings.streams);
#ifdef WITH_TBB
  else
    streams.run_as_tasks(settings.streams);
#else
  else
    throw std::runtime_error("this program was built without oneTBB");
#endif
  module.end();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::error_code none;
  const auto bytes = std::filesystem::file_size(settings.file, none);
  std::cout << "{\"module\": \"" << name << "\", \"streams\": " << settings.streams << ", \"threads\": " << settings.threads
            << ", \"events\": " << events << ", \"seconds\": " << seconds.count()
            << ", \"events_per_second\": " << static_cast<double>(events) / seconds.count()
            << ", \"stalled_seconds\": " << stalled << ", \"cpu_seconds\": " << measure::cpu_seconds() - cpu
            << ", \"peak_memory\": " << measure::peak_memory() << ", \"bytes\": " << (none ? 0 : bytes) << "}\n";
}

} // namespace

int main(int count, char **arguments) try {
  Modules modules;
  modules["none"] = [](const Settings &) { return std::make_unique<Nothing>(); };
  add_nyssa(modules);
#ifdef WITH_ROOT
  add_root(modules);
  if (count == 4 && std::string(arguments[1]) == "check") {
    const std::string wrong = wrong_in_root(arguments[2], std::stoull(arguments[3]));
    if (!wrong.empty())
      throw std::runtime_error(wrong);
    return 0;
  }
#endif
  const auto found = count < 5 ? modules.end() : modules.find(arguments[1]);
  if (found == modules.end()) {
    std::cerr << "usage: framework MODULE FILE STREAMS EVENTS [threads=|compression=|cluster=|page=|scheduler=...]\nmodules:";
    for (const auto &module : modules)
      std::cerr << " " << module.first;
    std::cerr << "\n";
    return 2;
  }
  const Settings given = settings(count, arguments);
  const auto module = found->second(given);
  run(found->first, *module, given, std::stoull(arguments[4]));
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
