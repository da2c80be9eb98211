// Data like ATLAS's DAOD_PHYS: eight containers of particles.

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Container {
   const char *name;
   double mean; // number of particles in an event
   double scale; // of pt, in MeV
   double mass; // in MeV; 0 if each particle has a mass of its own
};

const std::vector<Container> containers{
   {"AnalysisElectrons", 1.5, 25e3, 0.511},   {"AnalysisMuons", 1.2, 25e3, 105.66},
   {"AnalysisPhotons", 2.5, 20e3, 1e-3},      {"AnalysisTauJets", 1.5, 30e3, 1776.9},
   {"AnalysisJets", 9.0, 30e3, 0},            {"AnalysisLargeRJets", 1.3, 250e3, 0},
   {"AnalysisTrackJets", 7.0, 15e3, 0},       {"InDetTrackParticles", 40.0, 2e3, 139.57},
};

constexpr int n_other = 4; // vectors of each container that the analysis does not read

// Floats are stored with 16 bits of mantissa, as derivations of ATLAS keep them.
float shortened(double value)
{
   union {
      float number;
      unsigned bits;
   } both{static_cast<float>(value)};
   both.bits &= ~0x7Fu;
   return both.number;
}

} // namespace

/// Writes the TTree `CollectionTree`.
void atlas_make(const char *path, long entries, int compression)
{
   TFile file(path, "RECREATE", "", compression);
   TTree tree("CollectionTree", "eight containers");
   TRandom3 random(1);
   std::vector<std::vector<std::vector<float>>> values(containers.size());
   for (std::size_t c = 0; c < containers.size(); ++c) {
      values[c].resize(4 + n_other);
      std::vector<std::string> names{"pt", "eta", "phi", "m"};
      for (int k = 0; k < n_other; ++k)
         names.push_back("other" + std::to_string(k));
      for (std::size_t k = 0; k < names.size(); ++k)
         tree.Branch((std::string(containers[c].name) + "_" + names[k]).c_str(), &values[c][k]);
   }
   for (long entry = 0; entry < entries; ++entry) {
      for (std::size_t c = 0; c < containers.size(); ++c) {
         auto &of = values[c];
         const int size = random.Poisson(containers[c].mean);
         for (auto &one : of)
            one.resize(size);
         for (int i = 0; i < size; ++i) {
            const double pt = 4e3 + random.Exp(containers[c].scale);
            of[0][i] = shortened(pt);
            of[1][i] = shortened(random.Gaus(0, 1.5));
            of[2][i] = shortened(random.Uniform(-M_PI, M_PI));
            of[3][i] = shortened(containers[c].mass > 0 ? containers[c].mass : pt * random.Uniform(0.05, 0.2));
            for (int k = 0; k < n_other; ++k)
               of[4 + k][i] = shortened(random.Gaus());
         }
         std::sort(of[0].begin(), of[0].end(), std::greater<float>());
      }
      tree.Fill();
   }
   tree.Write();
   file.Close();
}
