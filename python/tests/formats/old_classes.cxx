// Objects as ROOT wrote them before there was streamer info, in files that have none of them.
#include <cstring>
#include "TBranch.h"
#include "TBranchClones.h"
#include "TBufferFile.h"
#include "TClonesArray.h"
#include "TFile.h"
#include "TH1.h"
#include "TH2.h"
#include "TH3.h"
#include "TKey.h"
#include "TLeaf.h"
#include "TNtuple.h"
#include "TProfile.h"
#include "TTree.h"
#include "TVector2.h"

namespace nyssa_old {

UInt_t open(TBufferFile &b, int version) {
  UInt_t at = b.Length();
  b << UInt_t(0) << Version_t(version);
  return at;
}
void close(TBufferFile &b, UInt_t at) { b.SetByteCount(at, kTRUE); }

// Begins an object of a class behind a pointer.
UInt_t object(TBufferFile &b, const char *name) {
  UInt_t at = b.Length();
  b << UInt_t(0) << UInt_t(0xFFFFFFFF);
  b.WriteFastArray(name, strlen(name) + 1);
  return at;
}

// Where an object of a key begins: places in it count from the start of the key.
void begin(TBufferFile &b, const char *class_name, const char *name) {
  b.SetBufferOffset(26 + strlen(class_name) + 1 + strlen(name) + 1 + 1);
}
void finish(TBufferFile &b, TFile &file, const char *class_name, const char *name) {
  auto *key = new TKey(name, "", TClass::GetClass(class_name), b.Length(), &file);
  int keylen = key->GetKeylen();
  delete key;
  key = new TKey(name, "", TClass::GetClass(class_name), b.Length() - keylen, &file);
  memcpy(key->GetBuffer(), b.Buffer() + keylen, b.Length() - keylen);
  key->WriteFile(1);
  if (!file.GetListOfKeys()->FindObject(key)) file.AppendKey(key);
}

void attributes(TBufferFile &b, TAttAxis &a, int version) {
  auto at = open(b, version);
  b << a.GetNdivisions() << a.GetAxisColor() << a.GetLabelColor() << a.GetLabelFont()
    << a.GetLabelOffset() << a.GetLabelSize() << a.GetTickLength() << a.GetTitleOffset();
  if (version > 1) b << a.GetTitleSize();
  if (version > 2) b << a.GetTitleColor() << a.GetTitleFont();
  close(b, at);
}

void axis(TBufferFile &b, TAxis &a, int version) {
  auto at = open(b, version);
  a.TNamed::Streamer(b);
  attributes(b, a, version > 3 ? 3 : version);
  b << a.GetNbins();
  TArrayD edges(*a.GetXbins());
  if (version < 5) {
    TArrayF few(edges.GetSize());
    for (int i = 0; i < edges.GetSize(); i++) few[i] = edges[i];
    b << Float_t(a.GetXmin()) << Float_t(a.GetXmax());
    few.Streamer(b);
  } else {
    b << a.GetXmin() << a.GetXmax();
    edges.Streamer(b);
  }
  if (version > 2) b << Int_t(1) << Int_t(2);
  if (version > 3) {
    b << Bool_t(kTRUE);
    TString("%H:%M").Streamer(b);
  }
  close(b, at);
}

void histogram(TBufferFile &b, TH1 &h, int version, int axes) {
  auto at = open(b, version);
  h.TNamed::Streamer(b);
  h.TAttLine::Streamer(b);
  h.TAttFill::Streamer(b);
  h.TAttMarker::Streamer(b);
  b << h.GetNcells();
  axis(b, *h.GetXaxis(), axes);
  axis(b, *h.GetYaxis(), axes);
  axis(b, *h.GetZaxis(), axes);
  double stats[11];
  h.GetStats(stats);
  b << Short_t(10) << Short_t(900) << h.GetEntries() << stats[0] << stats[1] << stats[2] << stats[3];
  TArrayD contour(2);
  contour[1] = 1.5;
  if (version < 2) {
    TArrayF few(2);
    few[1] = 1.5;
    b << Float_t(77) << Float_t(-5) << Float_t(0);
    few.Streamer(b);
  } else {
    b << Double_t(77) << Double_t(-5) << Double_t(0);
    contour.Streamer(b);
  }
  h.GetSumw2()->Streamer(b);
  TString("hist").Streamer(b);
  TList functions;
  functions.Streamer(b);
  close(b, at);
}

void histograms(const char *path) {
  TFile file(path, "RECREATE", "", 0);
  TH1::AddDirectory(kFALSE);
  double edges[] = {0, 0.5, 2, 8};
  for (int version = 1; version <= 2; version++) {
    for (int axes = 1; axes <= 5; axes++) {
      TH1F h("h", "one", 3, edges);
      h.Sumw2();
      h.Fill(1, 2.5);
      h.Fill(5, 3);
      TBufferFile b(TBuffer::kWrite);
      auto name = TString::Format("one%d%d", version, axes);
      begin(b, "TH1F", name);
      auto at = open(b, 1);
      histogram(b, h, version, axes);
      h.TArrayF::Streamer(b);
      close(b, at);
      finish(b, file, "TH1F", name);
    }
    {
      TProfile p("p", "profile", 4, 0, 1);
      p.Fill(0.3, 7, 2);
      TBufferFile b(TBuffer::kWrite);
      auto name = TString::Format("profile%d", version);
      begin(b, "TProfile", name);
      auto at = open(b, version);
      auto of_base = open(b, 1);
      histogram(b, p, version, 2 + version);
      p.TArrayD::Streamer(b);
      close(b, of_base);
      TArrayD entries(6);
      for (int bin = 0; bin < 6; bin++) entries[bin] = p.GetBinEntries(bin);
      entries.Streamer(b);
      b << Int_t(0);
      version < 2 ? b << Float_t(0.5) << Float_t(9) : b << Double_t(0.5) << Double_t(9);
      close(b, at);
      finish(b, file, "TProfile", name);
    }
  }
  {
    TH2D h("h", "two", 2, 0, 1, 3, edges);
    h.Fill(0.2, 1, 4);
    TBufferFile b(TBuffer::kWrite);
    begin(b, "TH2D", "two");
    auto at = open(b, 2);
    b << Version_t(2);  // It had no byte count.
    histogram(b, h, 2, 5);
    b << Double_t(1) << Double_t(4) << Double_t(4) << Double_t(0.8);
    h.TArrayD::Streamer(b);
    close(b, at);
    finish(b, file, "TH2D", "two");
  }
  {
    TH3F h("h", "three", 2, 0, 1, 2, 0, 1, 2, 0, 1);
    h.Fill(0.2, 0.7, 0.2, 4);
    TBufferFile b(TBuffer::kWrite);
    begin(b, "TH3F", "three");
    auto at = open(b, 2);
    auto of_base = open(b, 2);
    histogram(b, h, 2, 5);
    h.TAtt3D::Streamer(b);
    close(b, of_base);
    h.TArrayF::Streamer(b);
    close(b, at);
    finish(b, file, "TH3F", "three");
  }
}

void branch(TBufferFile &b, TBranch &br, int version) {
  auto tag = object(b, "TBranch");
  auto at = open(b, version);
  br.TNamed::Streamer(b);
  if (version > 7) br.TAttFill::Streamer(b);
  int most = br.GetMaxBaskets();
  TObjArray none, baskets;
  if (version < 2)
    for (int i = 0; i < br.GetWriteBasket(); i++) baskets.AddAtAndExpand(br.GetBasket(i), i);
  b << br.GetCompressionSettings() << br.GetBasketSize() << br.GetEntryOffsetLen();
  if (version > 5) {
    b << br.GetWriteBasket() << Int_t(br.GetEntries()) << br.GetOffset() << most;
    if (version > 6) b << br.GetSplitLevel();
  } else {
    b << most << br.GetWriteBasket() << Int_t(br.GetEntries());
  }
  b << Double_t(br.GetEntries()) << Double_t(br.GetTotBytes()) << Double_t(br.GetZipBytes());
  if (version < 6) b << br.GetOffset();
  none.Streamer(b);
  br.GetListOfLeaves()->Streamer(b);
  baskets.Streamer(b);
  auto sizes = [&] { for (int i = 0; i < most; i++) b << br.GetBasketBytes()[i]; };
  auto starts = [&] { for (int i = 0; i < most; i++) b << Int_t(br.GetBasketEntry()[i]); };
  auto seek = [&](int i) { return i < br.GetWriteBasket() ? br.GetBasketSeek(i) : 0; };
  if (version > 5) {
    b << Char_t(1);
    sizes();
    b << Char_t(1);
    starts();
    b << Char_t(version > 8 ? 2 : 1);
    for (int i = 0; i < most; i++) version > 8 ? b << Long64_t(seek(i)) : b << Int_t(seek(i));
  } else {
    b << most;
    starts();
    if (version > 4) {
      b << most;
      sizes();
    }
    if (version > 1) {
      b << most;
      for (int i = 0; i < most; i++) b << Int_t(seek(i));
    }
  }
  if (version > 2) TString().Streamer(b);
  close(b, at);
  close(b, tag);
}

/// As ROOT wrote it while numbers of entries were `int`s and sizes `double`s.
void clones(TBufferFile &b, TBranchClones &br) {
  auto tag = object(b, "TBranchClones");
  auto at = open(b, 2);
  br.TNamed::Streamer(b);
  b << Int_t(1) << Int_t(32000) << Int_t(0) << Int_t(10) << Int_t(0) << Int_t(br.GetEntries());
  b << Double_t(br.GetEntries()) << Double_t(0) << Double_t(0) << Int_t(0);
  auto offset = TBranchClones::Class()->GetDataMemberOffset("fBranchCount");
  branch(b, **(TBranch **)((char *)&br + offset), 6);
  TString("TVector2").Streamer(b);
  auto list = open(b, 3);
  TObject().Streamer(b);
  TString().Streamer(b);
  b << br.GetListOfBranches()->GetEntries() << Int_t(0);
  for (auto *one : *br.GetListOfBranches()) branch(b, *(TBranch *)one, 6);
  close(b, list);
  close(b, at);
  close(b, tag);
}

void tree(TBufferFile &b, TTree &t, int version, int branches) {
  auto at = open(b, version);
  t.TNamed::Streamer(b);
  t.TAttLine::Streamer(b);
  t.TAttFill::Streamer(b);
  t.TAttMarker::Streamer(b);
  b << Int_t(25) << Int_t(1000000000) << Int_t(0);
  b << Double_t(t.GetEntries()) << Double_t(t.GetTotBytes()) << Double_t(t.GetZipBytes());
  b << Int_t(10000000) << Int_t(1000000);
  auto list = open(b, 3);
  TObject().Streamer(b);
  TString().Streamer(b);
  b << t.GetListOfBranches()->GetEntries() << Int_t(0);
  for (auto *one : *t.GetListOfBranches()) {
    if (auto *many = dynamic_cast<TBranchClones *>(one)) clones(b, *many);
    else branch(b, *(TBranch *)one, branches);
  }
  close(b, list);
  t.GetListOfLeaves()->Streamer(b);
  if (version > 1) TArrayD().Streamer(b);
  if (version > 2) TArrayI().Streamer(b);
  if (version > 3) TList().Streamer(b);
  close(b, at);
}

/// A tree of each version of `TTree` and `TBranch`, and an ntuple, of the same entries.
void trees(const char *path) {
  TFile file(path, "RECREATE", "", 0);
  auto *t = new TNtuple("t", "entries", "a:b");
  Int_t n;
  Float_t values[5];
  t->Branch("n", &n, "n/I", 1000);
  t->Branch("values", values, "values[n]/F", 1000);
  for (int entry = 0; entry < 500; entry++) {
    n = entry % 5;
    for (int i = 0; i < n; i++) values[i] = entry + 0.25 * i;
    t->Fill(entry, -entry);
  }
  t->SetMaxVirtualSize(1 << 28);  // All baskets that are read stay in memory.
  t->Write();
  for (int version = 1; version <= 4; version++) {
    for (int branches = 1; branches <= 9; branches++) {
      TBufferFile b(TBuffer::kWrite);
      auto name = TString::Format("t%d%d", version, branches);
      begin(b, "TTree", name);
      tree(b, *t, version, branches);
      finish(b, file, "TTree", name);
    }
  }
  TBufferFile b(TBuffer::kWrite);
  begin(b, "TNtuple", "ntuple");
  auto at = open(b, 1);
  tree(b, *t, 4, 6);
  b << Int_t(2);
  close(b, at);
  finish(b, file, "TNtuple", "ntuple");
}

/// A split `TClonesArray` in a branch of the old kind, as ROOT writes it today and as it did once.
void split(const char *path) {
  TFile file(path, "RECREATE", "", 0);
  TTree t("now", "");
  auto *vectors = new TClonesArray("TVector2", 10);
  t.GetListOfBranches()->Add(new TBranchClones(&t, "vec", &vectors, 32000, -1, 1));
  for (int entry = 0; entry < 50; entry++) {
    vectors->Clear();
    for (int i = 0; i < entry % 4; i++) new ((*vectors)[i]) TVector2(entry, 0.5 * i);
    t.Fill();
  }
  t.Write();
  auto *br = (TBranchClones *)t.GetListOfBranches()->At(0);
  auto offset = TBranchClones::Class()->GetDataMemberOffset("fBranchCount");
  (*(TBranch **)((char *)br + offset))->FlushBaskets();
  TBufferFile b(TBuffer::kWrite);
  begin(b, "TTree", "once");
  tree(b, t, 4, 6);
  finish(b, file, "TTree", "once");
}

}  // namespace nyssa_old
