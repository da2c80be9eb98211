// The eight queries with RDataFrame, in compiled C++. Python calls `AdlRun` (rdataframe.py).
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>
#include <TH1D.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using ROOT::RVecF, ROOT::RVecI;
using Node = ROOT::RDF::RNode;
using Histogram = ROOT::RDF::RResultPtr<TH1D>;

struct Momentum {
   double px = 0, py = 0, pz = 0, energy = 0;

   static Momentum Of(double pt, double eta, double phi, double mass)
   {
      double px = pt * std::cos(phi), py = pt * std::sin(phi), pz = pt * std::sinh(eta);
      return {px, py, pz, std::sqrt(px * px + py * py + pz * pz + mass * mass)};
   }
   Momentum operator+(const Momentum &other) const
   {
      return {px + other.px, py + other.py, pz + other.pz, energy + other.energy};
   }
   double Mass() const { return std::sqrt(std::max(energy * energy - px * px - py * py - pz * pz, 0.)); }
   double Pt() const { return std::hypot(px, py); }
};

static std::vector<Momentum> Momenta(const RVecF &pt, const RVecF &eta, const RVecF &phi, const RVecF &mass)
{
   std::vector<Momentum> momenta;
   for (std::size_t i = 0; i < pt.size(); ++i)
      momenta.push_back(Momentum::Of(pt[i], eta[i], phi[i], mass[i]));
   return momenta;
}

static bool HasZ(const RVecF &pt, const RVecF &eta, const RVecF &phi, const RVecF &mass, const RVecI &charge)
{
   auto muons = Momenta(pt, eta, phi, mass);
   for (std::size_t i = 0; i < muons.size(); ++i)
      for (std::size_t j = i + 1; j < muons.size(); ++j) {
         if (charge[i] == charge[j])
            continue;
         double m = (muons[i] + muons[j]).Mass();
         if (m > 60 && m < 120)
            return true;
      }
   return false;
}

struct Trijet {
   double pt, btag;
};

static Trijet BestTrijet(const RVecF &pt, const RVecF &eta, const RVecF &phi, const RVecF &mass, const RVecF &btag)
{
   auto jets = Momenta(pt, eta, phi, mass);
   double nearest = std::numeric_limits<double>::infinity();
   Trijet best{0, 0};
   for (std::size_t i = 0; i < jets.size(); ++i)
      for (std::size_t j = i + 1; j < jets.size(); ++j) {
         auto two = jets[i] + jets[j];
         for (std::size_t k = j + 1; k < jets.size(); ++k) {
            auto three = two + jets[k];
            double distance = std::abs(three.Mass() - 172.5);
            if (distance < nearest) {
               nearest = distance;
               best = {three.Pt(), std::max({btag[i], btag[j], btag[k]})};
            }
         }
      }
   return best;
}

static bool Near(double eta, double phi, const RVecF &pt, const RVecF &etas, const RVecF &phis)
{
   for (std::size_t i = 0; i < pt.size(); ++i) {
      double deta = eta - etas[i];
      double dphi = std::remainder(phi - phis[i], 2 * M_PI);
      if (pt[i] > 10 && deta * deta + dphi * dphi < 0.4 * 0.4)
         return true;
   }
   return false;
}

// The sum of the momenta of jets that are far from leptons, or a negative number if there is no such jet.
static double SumFar(const RVecF &pt, const RVecF &eta, const RVecF &phi, const RVecF &mpt, const RVecF &meta,
                     const RVecF &mphi, const RVecF &ept, const RVecF &eeta, const RVecF &ephi)
{
   double sum = 0;
   bool any = false;
   for (std::size_t i = 0; i < pt.size(); ++i) {
      if (pt[i] > 30 && !Near(eta[i], phi[i], mpt, meta, mphi) && !Near(eta[i], phi[i], ept, eeta, ephi)) {
         sum += pt[i];
         any = true;
      }
   }
   return any ? sum : -1;
}

// The transverse mass of missing momentum and the third lepton, or a negative number if no pair fits.
static double ThirdLepton(float met, float metphi, const RVecF &mpt, const RVecF &meta, const RVecF &mphi,
                          const RVecF &mmass, const RVecI &mcharge, const RVecF &ept, const RVecF &eeta,
                          const RVecF &ephi, const RVecF &emass, const RVecI &echarge)
{
   auto leptons = Momenta(mpt, meta, mphi, mmass);
   for (auto &electron : Momenta(ept, eeta, ephi, emass))
      leptons.push_back(electron);
   std::size_t muons = mpt.size();
   auto charge = [&](std::size_t i) { return i < muons ? mcharge[i] : echarge[i - muons]; };
   auto pt = [&](std::size_t i) { return i < muons ? mpt[i] : ept[i - muons]; };
   auto phi = [&](std::size_t i) { return i < muons ? mphi[i] : ephi[i - muons]; };
   double nearest = std::numeric_limits<double>::infinity();
   std::size_t first = 0, second = 0;
   for (std::size_t i = 0; i < leptons.size(); ++i)
      for (std::size_t j = i + 1; j < leptons.size(); ++j) {
         if ((i < muons) != (j < muons) || charge(i) == charge(j))
            continue;
         double distance = std::abs((leptons[i] + leptons[j]).Mass() - 91.2);
         if (distance < nearest) {
            nearest = distance;
            first = i;
            second = j;
         }
      }
   if (first == second)
      return -1;
   std::size_t third = leptons.size();
   for (std::size_t i = 0; i < leptons.size(); ++i)
      if (i != first && i != second && (third == leptons.size() || pt(i) > pt(third)))
         third = i;
   double dphi = double(metphi) - double(phi(third));
   return std::sqrt(2 * double(met) * double(pt(third)) * (1 - std::cos(dphi)));
}

static bool NotNegative(double value)
{
   return value >= 0;
}

static std::vector<Histogram> Book(Node all, int query, const std::string &btag)
{
   auto model = [](const char *name, double high) { return ROOT::RDF::TH1DModel(name, "", 64, 0, high); };
   auto met = [&](Node node, const char *name) { return node.Histo1D<float>(model(name, 256), "MET_pt"); };
   const std::vector<std::string> muons{"Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge"};
   switch (query) {
   case 1: return {met(all, "1")};
   case 2: return {all.Histo1D<RVecF>(model("2", 256), "Jet_pt")};
   case 3: {
      auto central = [](const RVecF &pt, const RVecF &eta) { return RVecF(pt[abs(eta) < 1]); };
      return {all.Define("central", central, {"Jet_pt", "Jet_eta"}).Histo1D<RVecF>(model("3", 256), "central")};
   }
   case 4: {
      auto two = [](const RVecF &pt) { return std::count_if(pt.begin(), pt.end(), [](float x) { return x > 40; }) >= 2; };
      return {met(all.Filter(two, {"Jet_pt"}), "4")};
   }
   case 5: {
      return {met(all.Filter(HasZ, muons), "5")};
   }
   case 6: {
      auto three = [](const RVecF &pt) { return pt.size() >= 3; };
      auto best = all.Filter(three, {"Jet_pt"})
                     .Define("best", BestTrijet, {"Jet_pt", "Jet_eta", "Jet_phi", "Jet_mass", btag})
                     .Define("best_pt", [](const Trijet &jets) { return jets.pt; }, {"best"})
                     .Define("best_btag", [](const Trijet &jets) { return jets.btag; }, {"best"});
      return {best.Histo1D<double>(model("6a", 512), "best_pt"), best.Histo1D<double>(model("6b", 1), "best_btag")};
   }
   case 7: {
      auto sum = all.Define("sum", SumFar,
                            {"Jet_pt", "Jet_eta", "Jet_phi", "Muon_pt", "Muon_eta", "Muon_phi", "Electron_pt",
                             "Electron_eta", "Electron_phi"});
      return {sum.Filter(NotNegative, {"sum"}).Histo1D<double>(model("7", 1024), "sum")};
   }
   default: {
      auto three = [](const RVecF &a, const RVecF &b) { return a.size() + b.size() >= 3; };
      auto mt = all.Filter(three, {"Muon_pt", "Electron_pt"})
                   .Define("mt", ThirdLepton,
                           {"MET_pt", "MET_phi", "Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge",
                            "Electron_pt", "Electron_eta", "Electron_phi", "Electron_mass", "Electron_charge"});
      return {mt.Filter(NotNegative, {"mt"}).Histo1D<double>(model("8", 256), "mt")};
   }
   }
}

std::vector<TH1D> AdlRun(const std::vector<std::string> &files, int query, const std::string &btag)
{
   ROOT::RDataFrame all("Events", files);
   std::vector<TH1D> found;
   for (auto &histogram : Book(all, query, btag))
      found.push_back(*histogram);
   return found;
}
