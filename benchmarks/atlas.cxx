// An analysis of the eight containers of atlas_data.cxx by RDataFrame.
//
// It is compiled, so that its time has no just-in-time compilation.

#include "atlas_data.cxx"

#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>
#include <TH1D.h>

namespace {

constexpr int bins = 100;
constexpr double range = 500e3; // of the invariant mass, in MeV

} // namespace

/// Fills a histogram of the invariant mass of the two leading particles of each container.
///
/// Returns the contents of all bins of all histograms, one after the other, without those below and above.
std::vector<double> atlas_analyse(const char *path)
{
   using Floats = ROOT::RVec<float>;
   const auto mass = [](const Floats &pt, const Floats &eta, const Floats &phi, const Floats &m) {
      if (pt.size() < 2)
         return -1.0;
      double e = 0, x = 0, y = 0, z = 0;
      for (int i = 0; i < 2; ++i) {
         const double p = pt[i], px = p * std::cos(double(phi[i])), py = p * std::sin(double(phi[i])),
                      pz = p * std::sinh(double(eta[i]));
         e += std::sqrt(px * px + py * py + pz * pz + double(m[i]) * double(m[i]));
         x += px;
         y += py;
         z += pz;
      }
      return std::sqrt(std::max(0.0, e * e - x * x - y * y - z * z));
   };
   ROOT::RDataFrame frame("CollectionTree", path);
   ROOT::RDF::RNode node = frame;
   std::vector<ROOT::RDF::RResultPtr<TH1D>> histograms;
   for (const auto &one : containers) {
      const std::string name = one.name;
      node = node.Define("mass_" + name, mass, {name + "_pt", name + "_eta", name + "_phi", name + "_m"});
   }
   for (const auto &one : containers) {
      const std::string name = std::string("mass_") + one.name;
      histograms.push_back(node.Histo1D<double>({name.c_str(), "", bins, 0, range}, name));
   }
   std::vector<double> contents;
   for (auto &histogram : histograms)
      for (int bin = 1; bin <= bins; ++bin)
         contents.push_back(histogram->GetBinContent(bin));
   return contents;
}
