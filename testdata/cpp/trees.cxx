// TTrees of numbers and texts. `make.py` calls these functions with the path of the new file.

#include <TBranch.h>
#include <TFile.h>
#include <TNamed.h>
#include <TSystem.h>
#include <TTree.h>
#include <string>
#include <vector>

namespace trees {

/// Events as an experiment has them: numbers, counted arrays of two collections, lists, texts.
/// `first` makes the entries of several files differ.
void events(const char *path, int compression, int count, int first = 0) {
  TFile file(path, "RECREATE", "", compression);
  TTree tree("Events", "events");
  UInt_t run = 0;
  ULong64_t event = 0;
  Int_t nMuon = 0;
  UInt_t nJet = 0;
  Float_t pt[8], eta[8], jet[8];
  Int_t charge[8];
  Bool_t tight[8], trigger = false;
  UChar_t flags = 0;
  Double_t met = 0;
  char label[16];
  std::string text;
  std::vector<float> weights;
  std::vector<std::vector<int>> hits;
  std::vector<std::string> names;
  tree.Branch("run", &run, "run/i");
  tree.Branch("event", &event, "event/l");
  tree.Branch("nMuon", &nMuon, "nMuon/I");
  tree.Branch("Muon_pt", pt, "Muon_pt[nMuon]/F");
  tree.Branch("Muon_eta", eta, "Muon_eta[nMuon]/F");
  tree.Branch("Muon_charge", charge, "Muon_charge[nMuon]/I");
  tree.Branch("Muon_tight", tight, "Muon_tight[nMuon]/O");
  tree.Branch("nJet", &nJet, "nJet/i");
  tree.Branch("Jet_pt", jet, "Jet_pt[nJet]/F");
  tree.Branch("MET", &met, "MET/D");
  tree.Branch("trigger", &trigger, "trigger/O");
  tree.Branch("flags", &flags, "flags/b");
  tree.Branch("label", label, "label/C");
  tree.Branch("text", &text);
  tree.Branch("weights", &weights);
  tree.Branch("hits", &hits);
  tree.Branch("names", &names);
  tree.SetAutoFlush(100);
  for (int i = first; i < first + count; ++i) {
    run = 3000 + i / 100;
    event = 5000000000ull + 7 * i;
    nMuon = i * 5 % 4;
    nJet = i * 3 % 7;
    for (int k = 0; k < 8; ++k) {
      pt[k] = 20 + (i * 37 + k * 11) % 100 / 3.f;
      eta[k] = (i + k) % 48 / 10.f - 2.4f;
      charge[k] = (i + k) % 2 ? 1 : -1;
      tight[k] = (i + k) % 3 == 0;
      jet[k] = 30 + (i * 13 + k * 7) % 200 / 7.f;
    }
    met = i % 90 / 7.;
    trigger = i % 5 == 0;
    flags = i % 256;
    std::snprintf(label, sizeof label, "label %d", i % 12);
    text = std::string(i % 6, 'a' + i % 26);
    weights.assign(i % 3, i / 8.f);
    hits.assign(i % 3, std::vector<int>(i % 4, i));
    names.assign(i % 2, "name" + std::to_string(i % 10));
    tree.Fill();
  }
  tree.Write();
}

/// A tree with an index and two friends: one in the same file, one in `other`.
void friends(const char *path, const char *other) {
  // ROOT looks for the friend when it is added, and keeps the name as it is given.
  TString before = gSystem->WorkingDirectory(), name = gSystem->BaseName(other);
  gSystem->ChangeDirectory(gSystem->GetDirName(other));
  {
    TFile file(other, "RECREATE");
    TTree tree("far", "");
    int run, number;
    float z;
    tree.Branch("run", &run);
    tree.Branch("number", &number);
    tree.Branch("z", &z);
    for (int i = 29; i >= 0; --i) { run = i / 10; number = i % 10; z = i / 2.f; tree.Fill(); }
    tree.BuildIndex("run", "number");
    tree.Write();
  }
  TFile file(path, "RECREATE");
  TTree near("near", "");
  int y;
  near.Branch("y", &y);
  for (int i = 0; i < 30; ++i) { y = 2 * i; near.Fill(); }
  near.Write();
  TTree tree("main", "");
  int run, number;
  tree.Branch("run", &run);
  tree.Branch("number", &number);
  for (int i = 0; i < 30; ++i) { run = i / 10; number = i % 10; tree.Fill(); }
  tree.BuildIndex("run", "number");
  tree.AddFriend("near");
  tree.AddFriend("far", name);
  tree.Write();
  gSystem->ChangeDirectory(before);
}

/// Objects as ROOT wrote them before there was splitting: `TBranchObject`.
void old_branches(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "");
  auto named = new TNamed;
  tree.BranchOld("whole.", "TNamed", &named, 32000, 0);
  for (int i = 0; i < 12; ++i) {
    named->SetNameTitle(std::string(i, 'n').c_str(), ("title " + std::to_string(i)).c_str());
    tree.Fill();
  }
  tree.Write();
  tree.ResetBranchAddresses();
  delete named;
}

} // namespace trees
