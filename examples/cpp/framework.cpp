// Writes the events of many threads, as a framework does, and says how fast: framework FILE THREADS EVENTS

#include "event.hpp"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <random>

struct Muon {
  float pt = 0;
  float eta = 0;
  int charge = 0;
};

NYSSA_CLASS(Muon, pt, eta, charge)

int main(int count, char **arguments) try {
  if (count != 4) {
    std::cerr << "usage: framework FILE THREADS EVENTS\n";
    return 2;
  }
  const int threads = std::stoi(arguments[2]);
  const std::uint64_t events = std::stoull(arguments[3]);

  // Each thread has a fill context, and all share the memory.
  const std::string contexts = std::to_string(threads);
  nyssa::Writer file(arguments[1], "compression=zstd; force=true; memory=400MB; fill_contexts=" + contexts);
  auto table = file.table("Events", nyssa::field<std::uint64_t>("event"), nyssa::field<std::vector<Jet>>("jets"),
                          nyssa::field<std::vector<Muon>>("muons"));

  // Threads take the next event until there is none.
  std::atomic<std::uint64_t> next{0};
  auto work = [&] {
    auto context = table.context();
    std::vector<Jet> jets;
    std::vector<Muon> muons;
    for (std::uint64_t event = next++; event < events; event = next++) {
      std::minstd_rand random(static_cast<unsigned>(event + 1));
      std::exponential_distribution<float> pt(0.05f);
      std::normal_distribution<float> eta(0, 2);
      jets.resize(random() % 6);
      for (Jet &jet : jets) {
        jet.pt = pt(random);
        jet.eta = eta(random);
        jet.hits.resize(random() % 10);
        for (Hit &hit : jet.hits)
          hit = {eta(random), eta(random)};
      }
      muons.resize(random() % 3);
      for (Muon &muon : muons)
        muon = {pt(random), eta(random), random() % 2 ? 1 : -1};
      context.fill(event, jets, muons);
    }
    context.commit();
  };

  const auto start = std::chrono::steady_clock::now();
  std::vector<std::future<void>> all;
  for (int thread = 0; thread < threads; ++thread)
    all.push_back(std::async(std::launch::async, work));
  for (auto &thread : all)
    thread.get();
  // The seconds in which fills waited for the threads that compress and write.
  const double stalled = table.stats().second;
  table.commit();
  const std::uint64_t bytes = file.commit();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << events << " events of " << threads << " threads, " << static_cast<double>(events) / seconds.count()
            << " events/s, stalled " << stalled << " s, " << bytes << " bytes, peak memory " << usage.ru_maxrss / 1024
            << " MiB\n";
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
