// Writes TTrees with branches of every kind, into files of one way of writing each.

#include "kinds.hxx"

#include <ROOT/TIOFeatures.hxx>
#include <TNtuple.h>
#include <TNtupleD.h>
#include <TVirtualStreamerInfo.h>

void Numbers::fill(int k) {
   t = k % 2; c = 'a' + k; sc = -k; uc = 200 + k; s = -300 * k; us = 60000 + k; i = -100000 * k;
   u = 4000000000u + k; l = -(1L << 40) * k; ul = (1UL << 63) + k; ll = -k; ull = k; f = k / 3.f;
   d = k / 7.; l64 = -(1LL << 50) * k; ul64 = ~0ULL - k; i8 = -k; u64 = k; d32 = k / 3.;
   ranged = k * 1.7; f16 = k / 3.f; f16r = k / 10.f - 0.5f; bits = k / 3.; angle = k / 4. - 1;
   for (int j = 0; j < 3; ++j) { a[j] = k + j / 4.f; flags[j] = (k + j) % 2; }
   for (int j = 0; j < 6; ++j) m[j / 3][j % 3] = 10 * k + j;
   for (int j = 0; j < 8; ++j) cube[j / 4][j / 2 % 2][j % 2] = 100 * k - j;
   for (int j = 0; j < 2; ++j) { da[j] = (k + j) / 10.; }
   for (int j = 0; j < 4; ++j) fa[j / 2][j % 2] = k / 8.f + j;
   e = k % 2 ? green : red; es = k % 2 ? Small::b : Small::a; transient = k;
   std::strcpy(text, std::string(k % 7, 'x').c_str());
}

void Texts::fill(int k) {
   ts = TString('t', k % 4);
   ss = std::string(k == 3 ? 300 : k, 's'); // 255 and more have a longer count
   delete[] cs;
   cs = new char[k + 1]{};
   std::memset(cs, 'c', k);
   for (int j = 0; j < 2; ++j) { tsa[j] = TString('A' + j, k); ssa[j] = std::string(k * j, 'a' + j); }
}

void Counted::clear() {
   delete[] x; delete[] packed; delete[] half; delete[] flags; delete[] bytes;
   delete[] two[0]; delete[] two[1];
}
void Counted::fill(int i) {
   clear();
   n = i % 4; k = i; after = -i;
   x = new double[n]; packed = new Double32_t[n]; half = new Float16_t[n]; flags = new bool[n];
   bytes = new UChar_t[n];
   for (auto &one : two) one = new float[n];
   for (int j = 0; j < n; ++j) {
      x[j] = i + j / 3.; packed[j] = i - j / 3.; half[j] = i * 7 + j; flags[j] = (i + j) % 2;
      bytes[j] = 250 + j; two[0][j] = i; two[1][j] = j;
   }
}

void CountedObjects::fill(int k) {
   delete[] plains; delete[] names;
   n = k % 3;
   plains = new Plain[n]; names = new TString[n];
   for (int j = 0; j < n; ++j) { plains[j].fill(k + j); names[j] = TString('n', k + j); }
}

void Stl::fill(int k) {
   int n = k % 4;
   auto some = [&](auto &to, auto of) {
      to.clear();
      for (int j = 0; j < n; ++j) to.insert(to.end(), of(k + j));
   };
   some(vb, [](int j) { return j % 2 == 0; });
   some(vc, [](int j) { return 'a' + j; });
   some(vuc, [](int j) { return 200 + j; });
   some(vs, [](int j) { return -j; });
   some(vi, [](int j) { return j * 1000; });
   some(vu, [](int j) { return 4000000000u + j; });
   some(vl, [](int j) { return -(1L << 40) * j; });
   some(vul, [](int j) { return (1UL << 63) + j; });
   some(vf, [](int j) { return j / 3.f; });
   some(vd, [](int j) { return j / 3.; });
   some(ld32, [](int j) { return j / 3.; });
   some(vstr, [](int j) { return std::string(j, 's'); });
   some(vts, [](int j) { return TString('t', j); });
   some(ve, [](int j) { return j % 2 ? green : red; });
   some(li, [](int j) { return j; });
   some(dd, [](int j) { return j / 2.; });
   some(si, [](int j) { return j; });
   some(ms, [](int j) { return j / 2; });
   some(us, [](int j) { return j; });
   some(sstr, [](int j) { return std::string(j, 'z'); });
   some(mif, [](int j) { return std::make_pair(j, j / 3.f); });
   some(msi, [](int j) { return std::make_pair(std::string(j, 'k'), j); });
   some(mm, [](int j) { return std::make_pair(j / 2, j / 3.); });
   some(um, [](int j) { return std::make_pair(j, -j); });
   p = {k, k / 3.};
   pv = {std::string(k, 'p'), std::vector<int>(n, k)};
   bits = k * 37;
   ar = {k, k + 1, k + 2};
   for (int j = 0; j < 2; ++j) arr[j].assign(n + j, k);
   delete pvi;
   pvi = new std::vector<int>(n, k);
}

void Deep::fill(int k) {
   int n = k % 3;
   vv.clear(); vvv.clear(); vm.clear(); mv.clear(); mmm.clear(); vset.clear(); vp.clear(); vvs.clear();
   vvb.clear(); mp.clear(); mvp.clear(); vvp.clear(); lv.clear(); vbits.clear(); mpair.clear();
   for (int j = 0; j < n; ++j) {
      int o = k + j;
      std::string name(o, 'a' + j);
      Plain plain; plain.fill(o);
      vv.push_back(std::vector<float>(o % 3, o));
      vvv.push_back({{o, o + 1}, {}, {j}});
      vm.push_back({{name, o}, {"second", j}});
      mv[name] = {o / 2., o / 4.};
      mmm[o] = {{j, o / 2.f}, {j + 7, o / 8.f}};
      vset.push_back({o, j, 3});
      vp.push_back({o, name});
      vvs.push_back({name, "x"});
      vvb.push_back({true, false, o % 2 == 0});
      mp[o] = plain;
      mvp[name] = {plain, plain};
      vvp.push_back(std::vector<Plain>(o % 3, plain));
      lv.push_back({short(o), short(-o)});
      vbits.push_back(std::bitset<5>(o));
      mpair[{o, j}] = name;
   }
}

void Derived::fill(int k) {
   b = k; m = k / 2.f; o = k / 3.; list.assign(k % 3, k); extra = -k; v.assign(k % 2, k); plain.fill(k);
}
void Named::fill(int k) { i = k; SetName(TString('n', k)); SetTitle("title"); }
void Vector::fill(int k) { i = k; assign(k % 3, k); }
void Leaves::fill(int k) { x = k; n = k; p.fill(k); }

void Objects::clear() {
   for (auto one : vpp) delete one;
   for (auto one : vhp) delete one;
   vpp.clear(); vhp.clear();
   delete pointer;
   pointer = nullptr;
}
void Objects::fill(int k) {
   clear();
   vp.clear(); vh.clear(); vw.clear(); vd.clear(); lp.clear(); dh.clear(); sp.clear(); unsplit.clear();
   one.fill(k); hit.x = k; with.fill(k); derived.fill(k); whole.fill(-k); always->fill(k);
   for (int j = 0; j < 3; ++j) three[j].fill(k + j);
   for (int j = 0; j < 2; ++j) hits[j].n = k + j;
   if (k % 2) { pointer = new Plain; pointer->fill(k); }
   for (int j = 0; j < k % 3; ++j) {
      Plain plain; plain.fill(k + j);
      WithVectors w; w.fill(k + j);
      Derived d; d.fill(k + j);
      vp.push_back(plain); vh.push_back(Hit(k + j)); vw.push_back(w); vd.push_back(d);
      lp.push_back(plain); dh.push_back(Hit(j)); sp.insert(plain); unsplit.push_back(plain);
      vpp.push_back(new Plain(plain));
      vhp.push_back(new Hit(j));
   }
}

void Root::fill(int k) {
   clones.Clear(); pclones->Clear(); array.Delete();
   for (int j = 0; j < k % 3; ++j) {
      new (clones[j]) Hit(k + j);
      new ((*pclones)[j]) Hit(k - j);
      array.Add(new Hit(j));
      array.Add(new TObjString(TString('o', j)));
   }
   p4.SetPxPyPzE(k, k + 1, k + 2, k + 9);
   floats.Set(k % 4);
   for (int j = 0; j < k % 4; ++j) floats[j] = k + j / 2.f;
   named.SetNameTitle(TString('n', k), "t");
   delete text;
   text = k % 2 ? new TObjString("text") : nullptr;
   refs.Clear();
   ref = nullptr;
   if (pclones->GetEntriesFast()) { ref = pclones->At(0); refs.Add(pclones->At(0)); }
}

void Pointers::clear() {
   delete poly; delete any;
   for (auto one : vb) delete one;
   vb.clear();
}
void Pointers::fill(int k) {
   clear();
   poly = nullptr; any = nullptr;
   if (k % 3 == 1) { poly = new Base; poly->b = k; }
   if (k % 3 == 2) { auto d = new Derived; d->fill(k); poly = d; }
   again = poly;
   if (k % 2) any = new Hit(k); else if (k) any = new TObjString("any");
   for (int j = 0; j < k % 3; ++j) {
      Base *one;
      if (j % 2) { auto m = new Middle; m->m = k; one = m; } else one = new Base;
      one->b = j;
      vb.push_back(one);
   }
}

void Enums::fill(int k) {
   keys.clear(); values.clear(); narrow.clear(); lists.clear();
   one = k % 2 ? Narrow::b : Narrow::a;
   for (int j = 0; j < k % 3; ++j) {
      keys[j ? green : red] = k;
      values[j] = j ? Narrow::b : Narrow::a;
      narrow.push_back({Narrow::b, one});
      lists[std::string(j + 1, 'l')] = {red, green};
   }
}

void Owners::fill(int k) {
   plain.reset(k % 2 ? new Plain : nullptr);
   if (plain) plain->fill(k);
   named.reset(k % 3 ? new TNamed("name", "title") : nullptr);
   text.reset(k % 2 ? new std::string(k, 'u') : nullptr);
   for (int j = 0; j < 2; ++j) { lists[j].resize(k % 3 + j); for (auto &one : lists[j]) one.fill(k); }
}

void Histograms::fill(int k) {
   one.SetDirectory(nullptr);
   one.Fill(k % 3 + 0.5);
   delete two;
   two = k % 2 ? new TH2D("two", "", 2, 0, 2, 3, 0, 3) : nullptr;
   if (two) { two->SetDirectory(nullptr); two->Fill(1, k % 3); }
   graph.SetPoint(1, k, k);
   many.assign(k % 3, one);
}

Full::Full(int k) {
   v.assign(k % 3, k); plains.resize(k % 2); s = TString('s', k); names[1] = std::string(k, 'n');
   for (auto &one : plains) one.fill(k);
   for (auto &one : three) one.fill(k);
}

/// A container or another class as a branch of its own; `fill` gives its values.
template <typename T, typename F>
void top(const char *name, int split, T *value, F fill, int entries = 7) {
   TTree tree(name, name);
   tree.Branch("o", &value, 32000, split);
   for (int k = 0; k < entries; ++k) { fill(*value, k); tree.Fill(); }
   tree.Write();
   tree.ResetBranchAddresses();
   delete value;
}

template <typename T> void list_of(T &to, int k) {
   to.clear();
   for (int j = 0; j < k % 3; ++j) {
      typename T::value_type one{};
      one.fill(k + j);
      to.insert(to.end(), one);
   }
}

/// Trees of all classes, split so deep, containers streamed member by member or object by object.
void write_objects(const char *path, int split, bool member_wise) {
   TVirtualStreamerInfo::SetStreamMemberWise(member_wise);
   TFile file(path, "RECREATE");
   object<Numbers>("Numbers", split, 10);
   object<Texts>("Texts", split, 7);
   object<Counted>("Counted", split, 9);
   object<CountedObjects>("CountedObjects", split, 7);
   object<Stl>("Stl", split, 9);
   object<Deep>("Deep", split, 7);
   object<Derived>("Derived", split, 7);
   object<Named>("Named", split, 4);
   object<Vector>("Vector", split, 5);
   object<Leaves>("Leaves", split, 5);
   object<Objects>("Objects", split, 7);
   object<Root>("Root", split, 7);
   object<Pointers>("Pointers", split, 7);
   object<Evolving>("Evolving", split, 5);
   object<Enums>("Enums", split, 7);
   object<Owners>("Owners", split, 7);
   object<Histograms>("Histograms", split, 4);
   top("vector_Plain", split, new std::vector<Plain>, list_of<std::vector<Plain>>);
   top("vector_WithVectors", split, new std::vector<WithVectors>, list_of<std::vector<WithVectors>>);
   top("vector_Derived", split, new std::vector<Derived>, list_of<std::vector<Derived>>);
   top("list_Plain", split, new std::list<Plain>, list_of<std::list<Plain>>);
   top("vector_Hit", split, new std::vector<Hit>, [](auto &to, int k) {
      to.clear();
      for (int j = 0; j < k % 3; ++j) to.push_back(Hit(k + j));
   });
   top("vector_Plain_pointers", split, new std::vector<Plain *>, [](auto &to, int k) {
      for (auto one : to) delete one;
      to.clear();
      for (int j = 0; j < k % 3; ++j) { to.push_back(new Plain); to.back()->fill(k + j); }
   });
   top("map_Plain", split, new std::map<int, Plain>, [](auto &to, int k) {
      to.clear();
      for (int j = 0; j < k % 3; ++j) to[k + j].fill(j);
   });
   top("map_string", split, new std::map<std::string, double>, [](auto &to, int k) {
      to.clear();
      for (int j = 0; j < k % 3; ++j) to[std::string(j + 1, 'k')] = k;
   });
   top("vector_float", split, new std::vector<float>, [](auto &to, int k) { to.assign(k, k / 3.f); });
   top("vector_bool", split, new std::vector<bool>, [](auto &to, int k) { to.assign(k, k % 2); });
   top("vector_string", split, new std::vector<std::string>, [](auto &to, int k) { to.assign(k, std::string(k, 'v')); });
   top("vector_vector_float", split, new std::vector<std::vector<float>>, [](auto &to, int k) {
      to.clear();
      for (int j = 0; j < k; ++j) to.push_back(std::vector<float>(j, k));
   });
   top("set_int", split, new std::set<int>, [](auto &to, int k) { to.insert(k); });
   top("string", split, new std::string, [](auto &to, int k) { to.assign(k, 's'); });
   top("TString", split, new TString, [](auto &to, int k) { to = TString('s', k); });
   top("TLorentzVector", split, new TLorentzVector, [](auto &to, int k) { to.SetPxPyPzE(k, k + 1, k + 2, k + 9); });
   top("Hit", split, new Hit, [](auto &to, int k) { to = Hit(k); });
   auto hits = [](auto &to, int k) {
      to.Clear();
      for (int j = 0; j < k % 3; ++j) new (to[j]) Hit(k + j);
   };
   top("TClonesArray", split, new TClonesArray("Hit"), hits);
   auto whole = new TClonesArray("Hit");
   whole->BypassStreamer(false);
   top("TClonesArray_whole", split, whole, hits);
   auto full = [](auto &to, int k) {
      to.Delete();
      for (int j = 0; j < k % 3; ++j) new (to[j]) Full(k + j);
   };
   top("TClonesArray_full", split, new TClonesArray("Full"), full);
   auto vectors = new TClonesArray("TLorentzVector");
   top("TClonesArray_vectors", split, vectors, [](auto &to, int k) {
      to.Clear();
      for (int j = 0; j < k % 3; ++j) new (to[j]) TLorentzVector(k, j, 0, 9);
   });
}

/// Branches of leaves, without classes.
void write_leaves(const char *path) {
   TFile file(path, "RECREATE");
   // ROOT wants them without gaps.
   struct { double x; Long64_t l; float y[2]; int i; short s; char c; bool b; } list;
   struct { char name[12]; } text;
   int n; float a[10]; double m[10][3]; UChar_t u[10];
   struct { int n; float x[5]; } inside;
   Double32_t d, dr, da[3]; Float16_t f, fr; ULong64_t big; Long_t lng; ULong_t ulng;
   TTree tree("leaves", "leaves");
   tree.Branch("list", &list, "x/D:l/L:y[2]/F:i/I:s/S:c/B:b/O");
   tree.Branch("text", text.name, "text/C");
   tree.Branch("n", &n, "n/I");
   tree.Branch("a", a, "a[n]/F");
   tree.Branch("m", m, "m[n][3]/D");
   tree.Branch("u", u, "u[n]/b");
   tree.Branch("d", &d, "d/d");
   tree.Branch("dr", &dr, "dr/d[0,10,12]");
   tree.Branch("da", da, "da[3]/d[-1,1,9]");
   tree.Branch("f", &f, "f/f");
   tree.Branch("fr", &fr, "fr/f[0,10,14]");
   tree.Branch("big", &big, "big/l");
   tree.Branch("lng", &lng, "lng/G");
   tree.Branch("ulng", &ulng, "ulng/g");
   tree.Branch("inside", &inside, "n/I:x[n]/F");
   for (int k = 0; k < 12; ++k) {
      list = {k / 3., -(1LL << 40) * k, {k + 0.f, k + 1.f}, -k, short(k), char('a' + k), k % 2 == 0};
      std::strcpy(text.name, std::string(k % 10, 't').c_str());
      n = k % 5;
      inside.n = k % 4;
      for (int j = 0; j < 10; ++j) { a[j] = k + j; u[j] = 250 - j; for (int i = 0; i < 3; ++i) m[j][i] = k + j / 10. + i; }
      for (int j = 0; j < 5; ++j) inside.x[j] = k * j;
      d = k / 3.; dr = k / 2.; f = k / 3.f; fr = k / 2.f; big = ~0ULL - k; lng = -k; ulng = ~0UL - k;
      for (int j = 0; j < 3; ++j) da[j] = (k - j) / 12.;
      tree.Fill();
   }
   tree.Write();
   TNtuple floats("ntuple", "t", "x:y:z");
   TNtupleD doubles("ntupled", "t", "x:y");
   for (int k = 0; k < 5; ++k) { floats.Fill(k, k / 3.f, -k); doubles.Fill(k / 3., k); }
   floats.Write();
   doubles.Write();
   file.mkdir("deep/er", "", true)->cd();
   TTree other("tree", "in a directory");
   other.Branch("i", &n);
   for (n = 0; n < 3; ++n) other.Fill();
   other.Write();
}

/// Objects in many baskets, in none, in such that lie within the tree, with offset maps.
void write_baskets(const char *path) {
   TVirtualStreamerInfo::SetStreamMemberWise(true);
   TFile file(path, "RECREATE");
   for (int split : {0, 99}) {
      auto name = [&](const char *kind) { return std::string(kind) + std::to_string(split); };
      object<Objects>(name("many").c_str(), split, 200, 1000);
      object<Root>(name("roots").c_str(), split, 100, 1000);
      object<Objects>(name("none").c_str(), split, 0);
      for (bool map : {false, true}) {
         TTree tree(name(map ? "map" : "embedded").c_str(), "");
         ROOT::TIOFeatures features;
         if (map) { features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap); tree.SetIOFeatures(features); }
         auto value = new WithVectors;
         auto stl = new Stl;
         tree.Branch("o.", &value, map ? 1000 : 32000, split);
         tree.Branch("s.", &stl, map ? 1000 : 32000, split);
         for (int k = 0; k < 60; ++k) { value->fill(k); stl->fill(k % 9); tree.Fill(); }
         // Without flushing: the baskets are streamed with the tree.
         if (map) tree.Write(); else file.WriteTObject(&tree);
         tree.ResetBranchAddresses();
         delete value;
         delete stl;
      }
   }
}

/// A tree whose references say where the objects are.
void write_references(const char *path) {
   TFile file(path, "RECREATE");
   for (int split : {0, 99}) {
      TTree tree(split ? "split" : "whole", "");
      auto value = new Root;
      tree.Branch("o.", &value, 32000, split);
      tree.BranchRef();
      for (int k = 0; k < 7; ++k) { value->fill(k); tree.Fill(); }
      tree.Write();
      tree.ResetBranchAddresses();
      delete value;
   }
}

/// A file for trees of other versions of a class.
void write_first(const char *path, int split) {
   TFile file(path, "RECREATE");
   object<Evolving>("First", split, 5);
}

/// A copy of a tree with some branches only: it keeps others, without entries.
void write_copied(const char *path) {
   TFile file(path, "RECREATE");
   TTree tree("all", "");
   auto value = new Objects;
   tree.Branch("o", &value, 32000, 99);
   for (int k = 0; k < 7; ++k) { value->fill(k); tree.Fill(); }
   tree.SetBranchStatus("*", false);
   for (auto name : {"o", "vp.i", "hit", "with", "n"}) tree.SetBranchStatus(name, true);
   tree.CloneTree()->Write("some");
   tree.SetBranchStatus("*", true);
   tree.Write();
   tree.ResetBranchAddresses();
   delete value;
}

/// A small file without compression: a seed for fuzzing.
void write_seed(const char *path, int split) {
   TVirtualStreamerInfo::SetStreamMemberWise(split > 0);
   TFile file(path, "RECREATE", "", 0);
   object<WithVectors>("with", split, 4);
   top("clones", split, new TClonesArray("Hit"), [](auto &to, int k) { new (to[0]) Hit(k); }, 2);
   top("plains", split, new std::vector<Plain>, list_of<std::vector<Plain>>, 3);
   if (split) return;
   object<Derived>("derived", split, 2);
   object<Pointers>("pointers", split, 6);
   object<Counted>("counted", split, 3);
   object<Texts>("texts", split, 3);
   top("map", split, new std::map<std::string, double>, [](auto &to, int k) { to["k"] = k; }, 2);
}

#ifdef __ROOTCLING__
#pragma link C++ struct Plain+;
#pragma link C++ struct WithVectors+;
#pragma link C++ struct Empty+;
#pragma link C++ class Hit+;
#pragma link C++ class Numbers+;
#pragma link C++ class Texts+;
#pragma link C++ class Counted+;
#pragma link C++ class CountedObjects+;
#pragma link C++ class Stl+;
#pragma link C++ class Deep+;
#pragma link C++ class Base+;
#pragma link C++ class Other+;
#pragma link C++ class Middle+;
#pragma link C++ class Derived+;
#pragma link C++ class Named+;
#pragma link C++ class Vector+;
#pragma link C++ class Leaves+;
#pragma link C++ class Objects+;
#pragma link C++ class Root+;
#pragma link C++ class Pointers+;
#pragma link C++ class Evolving+;
#pragma link C++ class Enums+;
#pragma link C++ class Owners+;
#pragma link C++ class Histograms+;
#pragma link C++ class Full+;
#pragma link C++ class std::vector<Plain>+;
#pragma link C++ class std::vector<Plain*>+;
#pragma link C++ class std::vector<Hit>+;
#pragma link C++ class std::vector<Hit*>+;
#pragma link C++ class std::vector<WithVectors>+;
#pragma link C++ class std::vector<Derived>+;
#pragma link C++ class std::vector<Base*>+;
#pragma link C++ class std::list<Plain>+;
#pragma link C++ class std::deque<Hit>+;
#pragma link C++ class std::set<Plain>+;
#pragma link C++ class std::map<int,Plain>+;
#pragma link C++ class std::vector<std::vector<Plain> >+;
#endif
