// Fills histograms of the mass of the two leading particles of eight containers, on views: atlas FILE THREADS
//
// It prints the bins, and what it took, as JSON. RDataFrame does the same in benchmarks/atlas.cxx.

#include "clock.hpp"

#include <nyssa.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

namespace {

constexpr std::array containers{"AnalysisElectrons", "AnalysisMuons",      "AnalysisPhotons",   "AnalysisTauJets",
                                "AnalysisJets",      "AnalysisLargeRJets", "AnalysisTrackJets", "InDetTrackParticles"};
constexpr std::size_t bins = 100;
constexpr double range = 500e3; // in MeV

// The particles of a container in a batch of events.
struct Particles {
  nyssa::Lists<float> pt, eta, phi, m;

  Particles(const nyssa::Batch &batch, const std::string &name)
      : pt(batch.lists<float>(name + "_pt")), eta(batch.lists<float>(name + "_eta")), phi(batch.lists<float>(name + "_phi")),
        m(batch.lists<float>(name + "_m")) {}

  // The mass of the first two particles of an event, or -1.
  double mass(std::size_t event) const {
    const auto pts = pt[event], etas = eta[event], phis = phi[event], ms = m[event];
    if (pts.size() < 2)
      return -1;
    double e = 0, x = 0, y = 0, z = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double p = pts[i], px = p * std::cos(double(phis[i])), py = p * std::sin(double(phis[i])),
                   pz = p * std::sinh(double(etas[i]));
      e += std::sqrt(px * px + py * py + pz * pz + double(ms[i]) * double(ms[i]));
      x += px;
      y += py;
      z += pz;
    }
    return std::sqrt(std::max(0.0, e * e - x * x - y * y - z * z));
  }
};

} // namespace

int main(int count, char **arguments) try {
  if (count != 3) {
    std::cerr << "usage: atlas FILE THREADS\n";
    return 2;
  }
  std::vector<std::string> columns;
  for (const std::string name : containers)
    for (const char *member : {"_pt", "_eta", "_phi", "_m"})
      columns.push_back(name + member);

  const Clock clock;
  const nyssa::Context threads(static_cast<std::uint32_t>(std::stoul(arguments[2])));
  const nyssa::Dataset events(std::string(arguments[1]) + ":CollectionTree", "", &threads);
  std::array<std::array<std::uint64_t, bins>, containers.size()> histograms{};
  for (const nyssa::Batch &batch : events.batches(columns, "", &threads))
    for (std::size_t container = 0; container < containers.size(); ++container) {
      const Particles particles(batch, containers[container]);
      for (std::size_t event = 0; event < batch.size(); ++event) {
        const double mass = particles.mass(event);
        if (mass >= 0 && mass < range)
          ++histograms[container][static_cast<std::size_t>(mass * (bins / range))];
      }
    }
  std::cout << "{";
  clock.write(std::cout);
  const char *separator = ", \"bins\": [";
  for (const auto &histogram : histograms)
    for (const std::uint64_t bin : histogram) {
      std::cout << separator << bin;
      separator = ", ";
    }
  std::cout << "]}\n";
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
