// Data like an AOD for the benchmark of storage: a branch for each product, of classes with members of all kinds.

#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

struct AodTrack {
   float pt = 0, eta = 0, phi = 0, chi2 = 0;
   float covariance[15] = {};
   short charge = 0;
   std::uint8_t layers = 0, quality = 0;
};

struct AodJet {
   double px = 0, py = 0, pz = 0, energy = 0;
   float area = 0;
   std::vector<std::uint16_t> constituents;
   std::map<std::string, float> tags;
};

struct AodCandidate {
   std::uint16_t pt = 0, eta = 0, phi = 0, dz = 0, dxy = 0;
   std::int32_t id = 0;
   std::uint8_t flags = 0;
};

struct AodVertex {
   double x = 0, y = 0, z = 0;
   float covariance[6] = {};
   std::vector<float> weights;
};

struct AodTrigger {
   std::string path;
   std::vector<std::vector<std::uint32_t>> objects;
   bool passed = false;
};

struct AodHeader {
   std::uint32_t run = 0, lumi = 0;
   std::uint64_t event = 0;
   std::vector<std::string> steps;
};

namespace {

// Floats have 11 bits of mantissa, as products with reduced precision do.
float shortened(double value)
{
   union {
      float number;
      std::uint32_t bits;
   } both{static_cast<float>(value)};
   both.bits &= ~0xFFFu;
   return both.number;
}

struct Products {
   AodHeader *header = nullptr;
   std::vector<AodTrack> *tracks = nullptr;
   std::vector<AodJet> *jets = nullptr;
   std::vector<AodCandidate> *candidates = nullptr;
   std::vector<AodVertex> *vertices = nullptr;
   std::vector<AodTrigger> *triggers = nullptr;
   std::vector<float> *pileup = nullptr;

   template <class F>
   void each(F &&with)
   {
      with("header", header);
      with("tracks", tracks);
      with("jets", jets);
      with("candidates", candidates);
      with("vertices", vertices);
      with("triggers", triggers);
      with("pileup", pileup);
   }
};

void fill(AodHeader &header, TRandom3 &, int entry)
{
   header.run = 360000 + entry / 5000;
   header.lumi = entry / 200;
   header.event = 1000000ull + 3 * entry;
   header.steps = {"HLT", "RECO", "AOD"};
}

void fill(std::vector<AodTrack> &tracks, TRandom3 &random, int)
{
   tracks.resize(random.Poisson(40));
   for (auto &track : tracks) {
      track.pt = random.Exp(2);
      track.eta = random.Gaus(0, 1.5);
      track.phi = random.Uniform(-M_PI, M_PI);
      track.chi2 = shortened(random.Exp(1));
      for (auto &one : track.covariance)
         one = shortened(1e-4 * random.Gaus());
      track.charge = random.Integer(2) ? 1 : -1;
      track.layers = random.Integer(16);
      track.quality = random.Integer(4) ? 7 : 3;
   }
}

void fill(std::vector<AodJet> &jets, TRandom3 &random, int)
{
   jets.resize(random.Poisson(5));
   int first = 0;
   for (auto &jet : jets) {
      // Doubles that are floats, as calculations with floats leave them.
      const float pt = 20 + random.Exp(30), phi = random.Uniform(-M_PI, M_PI), eta = random.Gaus(0, 1.5);
      jet.px = float(pt * std::cos(phi));
      jet.py = float(pt * std::sin(phi));
      jet.pz = float(pt * std::sinh(eta));
      jet.energy = float(pt * std::cosh(eta));
      jet.area = shortened(0.5 + 0.02 * random.Gaus());
      jet.constituents.resize(random.Poisson(12));
      for (auto &one : jet.constituents)
         one = first++;
      jet.tags = {{"flavour", shortened(random.Rndm())}, {"pileup", shortened(random.Rndm())}};
   }
}

void fill(std::vector<AodCandidate> &candidates, TRandom3 &random, int)
{
   const int ids[] = {211, -211, 22, 130, 13, -13, 11, -11};
   candidates.resize(random.Poisson(80));
   for (auto &one : candidates) {
      one.pt = random.Exp(300);
      one.eta = random.Integer(20000);
      one.phi = random.Integer(40000);
      one.dz = 30000 + 50 * random.Gaus();
      one.dxy = 30000 + 20 * random.Gaus();
      one.id = ids[std::min(7, int(random.Exp(1.2)))];
      one.flags = random.Integer(8) ? 0 : random.Integer(32);
   }
}

void fill(std::vector<AodVertex> &vertices, TRandom3 &random, int)
{
   vertices.resize(1 + random.Poisson(8));
   for (auto &vertex : vertices) {
      vertex.x = 0.01 * random.Gaus();
      vertex.y = 0.01 * random.Gaus();
      vertex.z = 4 * random.Gaus();
      for (auto &one : vertex.covariance)
         one = shortened(1e-6 * random.Gaus());
      vertex.weights.resize(random.Poisson(5));
      for (auto &one : vertex.weights)
         one = random.Integer(3) ? 1 : shortened(random.Rndm());
   }
}

void fill(std::vector<AodTrigger> &triggers, TRandom3 &random, int)
{
   triggers.resize(12);
   for (std::size_t i = 0; i < triggers.size(); ++i) {
      triggers[i].path = "HLT_Path" + std::to_string(i) + "_v" + std::to_string(i % 3);
      triggers[i].passed = random.Integer(12) == 0;
      triggers[i].objects.assign(triggers[i].passed ? random.Integer(3) : 0, {});
      for (auto &one : triggers[i].objects)
         one.assign(1 + random.Integer(3), random.Integer(20));
   }
}

void fill(std::vector<float> &pileup, TRandom3 &random, int)
{
   pileup.resize(16);
   for (auto &one : pileup)
      one = random.Poisson(35);
}

template <class T>
std::enable_if_t<std::is_arithmetic_v<T>, double> sum(T value)
{
   return value;
}
double sum(const std::string &text)
{
   double all = text.size();
   for (unsigned char one : text)
      all += one;
   return all;
}
double sum(const AodTrack &track)
{
   double all = sum(track.pt) + track.eta + track.phi + track.chi2 + track.charge + track.layers + track.quality;
   for (float one : track.covariance)
      all += one;
   return all;
}
double sum(const AodCandidate &one)
{
   return double(one.pt) + one.eta + one.phi + one.dz + one.dxy + one.id + one.flags;
}
template <class T>
double sum(const std::vector<T> &values);
double sum(const AodJet &jet)
{
   double all = jet.px + jet.py + jet.pz + jet.energy + jet.area + sum(jet.constituents);
   for (auto &[name, value] : jet.tags)
      all += sum(name) + value;
   return all;
}
double sum(const AodVertex &vertex)
{
   double all = vertex.x + vertex.y + vertex.z + sum(vertex.weights);
   for (float one : vertex.covariance)
      all += one;
   return all;
}
double sum(const AodTrigger &trigger)
{
   return sum(trigger.path) + sum(trigger.objects) + trigger.passed;
}
double sum(const AodHeader &header)
{
   return double(header.run) + header.lumi + header.event + sum(header.steps);
}
template <class T>
double sum(const std::vector<T> &values)
{
   double all = values.size();
   for (auto const &one : values)
      all += sum(one);
   return all;
}

} // namespace

/// Writes the TTree `Events`, with a split branch for each product.
void storage_make(const char *path, int entries, int compression)
{
   TRandom3 random(1);
   TFile file(path, "RECREATE", "", compression);
   TTree tree("Events", "products");
   Products all;
   all.each([&](const char *name, auto *&product) {
      product = new std::decay_t<decltype(*product)>;
      tree.Branch(name, &product, 32000, 99);
   });
   for (int entry = 0; entry < entries; ++entry) {
      all.each([&](const char *, auto *product) { fill(*product, random, entry); });
      tree.Fill();
   }
   tree.Write();
   tree.ResetBranchAddresses();
   all.each([](const char *, auto *product) { delete product; });
}

/// Returns a sum over all members of each product, read from the TTree.
std::vector<double> storage_tree_sums(const char *path)
{
   TFile file(path);
   auto tree = file.Get<TTree>("Events");
   Products all;
   all.each([&](const char *name, auto *&product) { tree->SetBranchAddress(name, &product); });
   std::vector<double> sums(7);
   for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
      tree->GetEntry(entry);
      auto next = sums.begin();
      all.each([&](const char *, auto *product) { *next++ += sum(*product); });
   }
   tree->ResetBranchAddresses();
   return sums;
}

/// Returns the same, read from the RNTuple. Its fields are those of the file: split into members, or streamed.
std::vector<double> storage_ntuple_sums(const char *path)
{
   auto reader = ROOT::RNTupleReader::Open("Events", path);
   auto &entry = reader->GetModel().GetDefaultEntry();
   Products all;
   all.each([&](const char *name, auto *&product) {
      product = entry.GetPtr<std::decay_t<decltype(*product)>>(name).get();
   });
   std::vector<double> sums(7);
   for (auto i : reader->GetEntryRange()) {
      reader->LoadEntry(i);
      auto next = sums.begin();
      all.each([&](const char *, auto *product) { *next++ += sum(*product); });
   }
   return sums;
}

#ifdef __ROOTCLING__
#pragma link C++ struct AodTrack+;
#pragma link C++ struct AodJet+;
#pragma link C++ struct AodCandidate+;
#pragma link C++ struct AodVertex+;
#pragma link C++ struct AodTrigger+;
#pragma link C++ struct AodHeader+;
#pragma link C++ class std::vector<AodTrack>+;
#pragma link C++ class std::vector<AodJet>+;
#pragma link C++ class std::vector<AodCandidate>+;
#pragma link C++ class std::vector<AodVertex>+;
#pragma link C++ class std::vector<AodTrigger>+;
#pragma link C++ class std::map<std::string,float>+;
#pragma link C++ class std::vector<std::vector<std::uint32_t>>+;
#endif
