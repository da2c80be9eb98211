// Trees of objects for the benchmark, seeded: one class with vectors of floats, of vectors and of
// objects that have vectors themselves. Split into a branch for each member, and whole.

#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <TVirtualStreamerInfo.h>

#include <string>
#include <vector>

struct BenchHit {
   float x = 0, y = 0, z = 0;
   int layer = 0;
};

struct BenchTrack {
   float pt = 0, eta = 0, phi = 0;
   int charge = 0;
   std::vector<float> residuals;
};

struct BenchEvent {
   int run = 0;
   Long64_t number = 0;
   std::string trigger;
   BenchHit vertex;
   std::vector<float> pt, eta, phi, energy;
   std::vector<std::vector<float>> weights;
   std::vector<BenchHit> hits;
   std::vector<BenchTrack> tracks;

   void fill(TRandom3 &random, int entry)
   {
      run = 1 + entry / 1000;
      number = entry;
      trigger = "path" + std::to_string(random.Integer(40));
      vertex = {float(random.Gaus()), float(random.Gaus()), float(random.Gaus(0, 50)), 0};
      for (auto *column : {&pt, &eta, &phi, &energy})
         column->clear();
      for (int i = random.Poisson(8); i > 0; --i) {
         pt.push_back(random.Exp(30));
         eta.push_back(random.Gaus());
         phi.push_back(random.Uniform(-3.14, 3.14));
         energy.push_back(random.Exp(60));
      }
      weights.assign(random.Poisson(3), {});
      for (auto &one : weights)
         for (int i = random.Poisson(4); i > 0; --i)
            one.push_back(random.Rndm());
      hits.assign(random.Poisson(20), {});
      for (auto &hit : hits)
         hit = {float(random.Gaus()), float(random.Gaus()), float(random.Gaus()), int(random.Integer(10))};
      tracks.assign(random.Poisson(5), {});
      for (auto &track : tracks) {
         track.pt = random.Exp(10);
         track.eta = random.Gaus();
         track.phi = random.Uniform(-3.14, 3.14);
         track.charge = random.Integer(2) ? 1 : -1;
         track.residuals.assign(random.Poisson(6), float(random.Gaus()));
      }
   }
};

void write_bench_objects(const char *path, int split, int entries)
{
   // Whole objects one after the other: uproot refuses containers streamed member by member.
   TVirtualStreamerInfo::SetStreamMemberWise(split > 0);
   TRandom3 random(5);
   TFile file(path, "RECREATE", "", 505);
   TTree tree("Events", "objects");
   auto event = new BenchEvent;
   tree.Branch("event.", &event, 32000, split);
   for (int entry = 0; entry < entries; ++entry) {
      event->fill(random, entry);
      tree.Fill();
   }
   tree.Write();
   tree.ResetBranchAddresses();
   delete event;
}

/// Reads all branches of all entries; the sum of `pt`.
double read_bench_objects(const char *path)
{
   TFile file(path);
   auto tree = file.Get<TTree>("Events");
   BenchEvent *event = nullptr;
   tree->SetBranchAddress("event.", &event);
   double sum = 0;
   for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
      tree->GetEntry(entry);
      for (float x : event->pt)
         sum += x;
   }
   tree->ResetBranchAddresses();
   delete event;
   return sum;
}

#ifdef __ROOTCLING__
#pragma link C++ struct BenchHit+;
#pragma link C++ struct BenchTrack+;
#pragma link C++ struct BenchEvent+;
#pragma link C++ class std::vector<BenchHit>+;
#pragma link C++ class std::vector<BenchTrack>+;
#endif
