// Writes the RNTuples of streamer fields in this folder, and beside each what ROOT reads back, as
// JSON. With ROOT 6.40:
//
//     root -l -b -q objects.cxx+ -e 'write_objects(".")'

#include <TArrayD.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TLorentzVector.h>
#include <TList.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TRef.h>
#include <TH1F.h>
#include <array>
#include <bitset>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "write_one.hxx"

enum Colour { red, green = 5 };
enum class Small : unsigned char { a, b };

struct Plain { int i = 0; double d = 0; };                   // no ClassDef: foreign
class Hit : public TObject { public: float x = 0; short n = 0; ClassDef(Hit, 3) };
class Base { public: int b = 0; virtual ~Base() {} ClassDef(Base, 2) };
class Derived : public Base { public: double extra = 0; std::vector<int> v; ClassDef(Derived, 4) };

class Numbers {
public:
  bool t = false; char c = 0; signed char sc = 0; unsigned char uc = 0; short s = 0; unsigned short us = 0; int i = 0; unsigned u = 0;
  long l = 0; unsigned long ul = 0; long long ll = 0; unsigned long long ull = 0; float f = 0; double d = 0;
  Long64_t l64 = 0; ULong64_t ul64 = 0; std::int8_t i8 = 0; std::uint64_t u64 = 0; 
  Double32_t d32 = 0; Double32_t ranged = 0; //[0,10,16]
  Float16_t f16 = 0;
  Float16_t f16r = 0; //[-1,1,10]
  Double32_t bits = 0; //[0,0,10]
  float a[3] = {}; int m[2][3] = {}; Double32_t da[2] = {}; //[0,1,8]
  Colour e = red; Small es = Small::a;
  int transient = 7; //!
  ClassDef(Numbers, 1)
};

class Pointers {
public:
  int n = 0; float *values = nullptr; //[n]
  Double32_t *packed = nullptr; //[n] 
  Hit *hit = nullptr; Base *poly = nullptr; Base *again = nullptr; TObject *any = nullptr;
  Plain *plain = nullptr; std::vector<float> *vec = nullptr; std::string *str = nullptr;
  char *text = nullptr;
  Hit *hits[2] = {nullptr, nullptr};
  std::unique_ptr<Hit> unique;
  Pointers() {}
  ~Pointers() {}
  ClassDef(Pointers, 1)
};

class Stl {
public:
  std::vector<float> vf; std::vector<bool> vb; std::vector<std::string> vs; std::vector<std::vector<int>> vvi; std::vector<Plain> vp; std::vector<Hit> vh;
  std::vector<Derived> vd; std::list<double> l; std::deque<int> dq; std::set<int> si; std::set<std::string> ss; std::multiset<short> ms;
  std::map<std::string, int> msi; std::map<int, std::vector<float>> miv; std::map<int, Plain> mip; std::multimap<int, double> mm;
  std::unordered_map<std::string, double> um; std::pair<int, std::string> p; std::pair<float, float> pf; std::vector<std::pair<int, float>> vpair;
  std::array<int, 4> ar; std::bitset<10> bits; std::vector<Hit *> vhp; std::vector<Base *> vbp; std::vector<TString> vts; std::map<int, std::map<int, float>> mmm;
  std::vector<Double32_t> vd32; std::vector<std::vector<Plain>> vvp; std::string s; std::vector<float> av[2]; std::vector<Colour> vc; std::vector<unsigned char> vuc;
  ClassDef(Stl, 1)
};

class Root : public TNamed {
public:
  TString ts; TObjString os; TLorentzVector p4; TObjArray oa; TList list; TClonesArray *ca; TObjArray *nil = nullptr; TRef ref; Hit hit; Plain plain; Hit ah[2]; Derived derived; TVector3 v3;
  Root() : ca(new TClonesArray("Hit", 10)) {}
  ~Root() {}
  ClassDef(Root, 2)
};

// Counters in a base class, arrays of pointers, a class in itself, containers of containers.
class Count { public: int n = 0; ClassDef(Count, 1) };
class Node { public: int i = 0; Node *next = nullptr; std::vector<Node *> below; ClassDef(Node, 1) };
class Deep { public: std::vector<Hit> hits; std::map<int, std::vector<Plain>> plains; std::string s; Base *p = nullptr; short a[2] = {}; std::vector<float> vs[2]; TString t; Hit h; ClassDef(Deep, 1) };
// ROOT writes no streamer info of a class without version that only occurs like this.
class Missing { public: int i = 0; std::map<int, std::vector<Plain>> plains; ClassDef(Missing, 1) };
class Nested : public Count, public Base {
public:
  Plain plain;
  float *values = nullptr; //[n]
  int *pair[2] = {}; //[n]
  Node first;
  std::vector<Deep> deep; std::map<std::string, Deep> named; std::vector<std::map<int, std::string>> maps; std::set<std::pair<int, int>> pairs;
  std::vector<TObject *> objects; std::vector<std::vector<std::string>> words; std::vector<std::bitset<3>> bits; std::deque<Derived> queue; TH1F *hist = nullptr;
  std::vector<unsigned long> ul; std::list<std::vector<Hit>> lvh; TDatime date{20240102, 30405}; TArrayD array;
  ~Nested() {}
  ClassDef(Nested, 5)
};

void fill(Numbers &x, int k) {
  x.t = k % 2; x.c = 'a' + k; x.sc = -k; x.uc = 200 + k; x.s = -1000 * k; x.us = 60000 + k; x.i = -100000 * k; x.u = 4000000000u + k;
  x.l = -(1L << 40) * k; x.ul = (1UL << 63) + k; x.ll = -k; x.ull = k; x.f = 0.5f * k; x.d = 1. / (k + 1); x.l64 = k * 10000000000LL; x.ul64 = k; x.i8 = -k; x.u64 = ~0ull - k;
  x.d32 = k / 3.; x.ranged = k * 1.1; x.f16 = k / 7.; x.f16r = k * 0.1; x.bits = k * 3.3;
  for (int j = 0; j < 3; j++) x.a[j] = k + j * 0.25f;
  for (int j = 0; j < 6; j++) x.m[j / 3][j % 3] = 10 * k + j;
  x.da[0] = 0.1 * k; x.da[1] = 0.2 * k; x.e = k % 2 ? green : red; x.es = k % 2 ? Small::b : Small::a;
}
void fill(Hit &h, int k) { h.x = k * 0.5f; h.n = k; h.SetUniqueID(k); }
void fill(Derived &d, int k) { d.b = k; d.extra = k * 2.5; d.v.assign(k, k); }

void fill(Pointers &x, int k) {
  x.n = k; x.values = k ? new float[k] : nullptr; x.packed = k ? new Double32_t[k] : nullptr;
  for (int j = 0; j < k; j++) { x.values[j] = j * 1.5f; x.packed[j] = j * 0.25; }
  x.hit = nullptr; x.poly = nullptr; x.again = nullptr; x.any = nullptr; x.plain = nullptr; x.vec = nullptr; x.str = nullptr; x.text = nullptr; x.hits[0] = x.hits[1] = nullptr; x.unique.reset();
  if (k == 0) return;
  x.hit = new Hit; fill(*x.hit, k);
  if (k % 2) { auto d = new Derived; fill(*d, k); x.poly = d; } else { x.poly = new Base; x.poly->b = k; }
  x.again = x.poly;
  if (k == 2) x.any = new TNamed("name", "title"); if (k == 3) { auto h = new Hit; fill(*h, 33); x.any = h; }
  x.plain = new Plain{k, k * 0.1}; x.vec = new std::vector<float>(k, 1.5f); x.str = new std::string(k, 'x');
  x.text = new char[10]; snprintf(x.text, 10, "t%d", k);
  x.hits[1] = new Hit; fill(*x.hits[1], 7); x.unique.reset(new Hit); fill(*x.unique, 9);
}

void fill(Stl &x, int k) {
  x = Stl();
  for (int j = 0; j < k; j++) {
    std::string s = "k" + std::to_string(j);
    x.vf.push_back(j * 0.5f); x.vb.push_back(j % 2); x.vs.push_back(s); x.vvi.push_back(std::vector<int>(j, j)); x.vp.push_back({j, j * 0.5}); Hit h; fill(h, j); x.vh.push_back(h);
    Derived d; fill(d, j); x.vd.push_back(d); x.l.push_back(j); x.dq.push_back(-j); x.si.insert(j * 3); x.ss.insert(s); x.ms.insert(j / 2);
    x.msi[s] = j; x.miv[j] = std::vector<float>(j, 0.25f); x.mip[j] = {j, 1.}; x.mm.insert({j / 2, j}); x.um[s] = j * 0.5; x.vpair.push_back({j, j * 0.5f});
    x.vhp.push_back(j % 2 ? new Hit(h) : nullptr); x.vbp.push_back(j % 2 ? (Base *)new Derived(d) : new Base); x.vts.push_back(s.c_str()); x.mmm[j][j + 1] = j;
    x.vd32.push_back(j / 3.); x.vvp.push_back(std::vector<Plain>(j, Plain{j, 0.5})); x.av[j % 2].push_back(j); x.vc.push_back(j % 2 ? green : red); x.vuc.push_back(250 + j);
  }
  x.p = {k, std::string(k, 'p')}; x.pf = {k * 0.5f, 2.f}; x.ar = {k, 1, 2, 3}; x.bits = std::bitset<10>(k * 5); x.s = std::string(k * 100, 's');
}

void fill(Root &x, int k) {
  x.SetName(("n" + std::to_string(k)).c_str()); x.SetTitle(std::string(k * 120, 't').c_str()); x.ts = TString('s', k); x.os.SetString("os"); x.p4.SetPxPyPzE(k, 2 * k, 3, 4);
  x.oa.Clear(); x.list.Clear(); x.ca->Clear();
  for (int j = 0; j < k; j++) {
    auto h = new Hit; fill(*h, j); x.oa.Add(h); x.list.Add(new TNamed("l", std::to_string(j).c_str())); auto c = (Hit *)x.ca->ConstructedAt(j); fill(*c, j);
  }
  if (k == 3) x.ref = x.oa.At(0);
  fill(x.hit, k); x.plain = {k, 0.5}; fill(x.ah[1], k); fill(x.derived, k); x.v3.SetXYZ(k, 1, 2);
}

void fill(Deep &x, int k) {
  x = Deep();
  for (int j = 0; j < k; j++) { Hit h; fill(h, j); x.hits.push_back(h); x.plains[j].assign(j, Plain{j, 0.5}); x.vs[1].push_back(j); }
  x.s = std::string(k, 'd'); x.a[1] = k; x.t = TString('t', k); fill(x.h, k);
  if (k % 2) { auto d = new Derived; fill(*d, k); x.p = d; }
}

void fill(Nested &x, int k) {
  x.n = k; x.b = -k; x.values = new float[k + 1]; x.pair[0] = new int[k + 1]; x.pair[1] = new int[k + 1];
  for (int j = 0; j < k; j++) { x.values[j] = j; x.pair[0][j] = j; x.pair[1][j] = -j; }
  x.first.i = k; x.first.next = nullptr; x.first.below.clear();
  x.deep.clear(); x.named.clear(); x.maps.clear(); x.pairs.clear(); x.objects.clear(); x.words.clear(); x.bits.clear(); x.queue.clear(); x.ul.clear(); x.lvh.clear();
  for (int j = 0; j < k; j++) {
    Deep d; fill(d, j); x.deep.push_back(d); fill(d, j + 1); x.named["n" + std::to_string(j)] = d; x.maps.push_back({{j, "a"}, {j + 1, "b"}}); x.pairs.insert({j, -j});
    if (j % 2) x.objects.push_back(new TNamed("name", "title")); else { auto h = new Hit; fill(*h, j); x.objects.push_back(h); }
    x.words.push_back(std::vector<std::string>(j, "w")); x.bits.push_back(j); Derived e; fill(e, j); x.queue.push_back(e); x.ul.push_back(j); x.lvh.push_back(std::vector<Hit>(j));
  }
  if (k == 2) x.objects.push_back(nullptr);
  x.hist = nullptr;
  if (k > 2) { x.hist = new TH1F("h", "a histogram", 3, 0, 3); x.hist->SetDirectory(nullptr); x.hist->Fill(1.5, k); x.hist->GetXaxis()->SetBinLabel(1, "label"); }
  x.array.Set(k); for (int j = 0; j < k; j++) x.array[j] = j * 0.5;
}

void fill(Missing &x, int k) { x.i = k; x.plains[k].assign(k, Plain{k, 0.5}); }


void write_objects(const char *folder) {
  write_one<Numbers>(folder, "Numbers", 5);
  write_one<Pointers>(folder, "Pointers", 5);
  write_one<Stl>(folder, "Stl", 5);
  write_one<Root>(folder, "Root", 5);
  write_one<Nested>(folder, "Nested", 5);
  write_one<Missing>(folder, "Missing", 2);
}
#ifdef __ROOTCLING__
#pragma link C++ enum Colour;
#pragma link C++ enum Small;
#pragma link C++ class Plain+;
#pragma link C++ class Hit+;
#pragma link C++ class Base+;
#pragma link C++ class Derived+;
#pragma link C++ class Numbers+;
#pragma link C++ class Pointers+;
#pragma link C++ class Stl+;
#pragma link C++ class Root+;
#pragma link C++ class Count+;
#pragma link C++ class Node+;
#pragma link C++ class Deep+;
#pragma link C++ class Nested+;
#pragma link C++ class Missing+;
#pragma link C++ class std::vector<Deep>+;
#pragma link C++ class std::map<std::string,Deep>+;
#pragma link C++ class std::map<int,std::vector<Plain>>+;
#pragma link C++ class std::vector<std::map<int,std::string>>+;
#pragma link C++ class std::set<std::pair<int,int>>+;
#pragma link C++ class std::vector<TObject*>+;
#pragma link C++ class std::vector<Node*>+;
#pragma link C++ class std::vector<std::vector<std::string>>+;
#pragma link C++ class std::vector<std::bitset<3>>+;
#pragma link C++ class std::deque<Derived>+;
#pragma link C++ class std::list<std::vector<Hit>>+;
#pragma link C++ class std::vector<Plain>+;
#pragma link C++ class std::vector<Hit>+;
#pragma link C++ class std::vector<Derived>+;
#pragma link C++ class std::vector<Hit*>+;
#pragma link C++ class std::vector<Base*>+;
#pragma link C++ class std::vector<std::vector<Plain>>+;
#pragma link C++ class std::map<int,Plain>+;
#pragma link C++ class std::map<int,std::map<int,float>>+;
#pragma link C++ class std::map<int,std::vector<float>>+;
#pragma link C++ class std::vector<TString>+;
#pragma link C++ class std::unordered_map<std::string,double>+;
#pragma link C++ class std::multimap<int,double>+;
#pragma link C++ class std::vector<std::pair<int,float>>+;
#pragma link C++ class std::pair<int,std::string>+;
#pragma link C++ class std::vector<Colour>+;
#pragma link C++ class std::multiset<short>+;
#pragma link C++ function write_objects;
#endif
