// More of what objects.cxx writes: ROOT's own classes, counted arrays of objects, containers of pointers.
// With ROOT 6.40:
//
//     root -l -b -q kinds.cxx+ -e 'write_kinds(".")'

#include <TArrayD.h>
#include <TArrayF.h>
#include <TBits.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TLorentzVector.h>
#include <TList.h>
#include <THashList.h>
#include <TMap.h>
#include <TMatrixD.h>
#include <TMatrixDSym.h>
#include <TMatrixF.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TParameter.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TVector2.h>
#include <TVector3.h>
#include <TVectorD.h>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "write_one.hxx"

struct Cell { int i = 0; double d = 0; };
class Part : public TObject { public: float x = 0; std::vector<int> v; ClassDef(Part, 2) };
class Animal { public: int legs = 0; virtual ~Animal() {} ClassDef(Animal, 2) };
class Bird : public Animal { public: double wing = 0; ClassDef(Bird, 3) };
class Fish : public Animal { public: std::string name; ClassDef(Fish, 1) };
struct Branching { int i = 0; std::vector<Branching> below; };

class Kinds {
public:
  TMap map; TRefArray refs; TBits bits; TVector2 v2; TVector3 v3; TLorentzVector p4;
  TMatrixD m; TMatrixDSym sym; TMatrixF mf; TVectorD vec; TArrayF af; TArrayD *ad = nullptr; TObjString os; TObjString *pos = nullptr; TString *ps = nullptr;
  TNamed named; THashList hash; TDatime date{20240102, 30405}; TRef ref; TParameter<int> par; 
  Kinds() {}
  ~Kinds() {}
  ClassDef(Kinds, 1)
};
class Loops {
public:
  int n = 0; Cell *cells = nullptr; //[n]
  Part **parts = nullptr; //[n]
  Cell *two[2] = {nullptr, nullptr}; //[n]
  Animal **zoo = nullptr; //[n]
  TString *names = nullptr; //[n]
  ~Loops() {}
  ClassDef(Loops, 1)
};
class Stl2 {
public:
  std::vector<std::array<int, 3>> va; std::array<Cell, 2> ac = {}; std::array<std::array<float, 2>, 3> aa = {}; std::vector<std::unique_ptr<Part>> vu; std::unique_ptr<Cell> uc; std::unique_ptr<Animal> ua;
  std::map<std::string, Animal *> ma; std::map<std::string, std::unique_ptr<Cell>> mu; std::vector<TString *> vts; std::vector<std::string *> vsp; std::set<Animal *> sa;
  std::map<std::pair<int, int>, Cell> mp; std::vector<std::vector<Cell>> vvc; std::vector<std::pair<std::string, Cell>> vpc; std::pair<Cell, std::vector<Cell>> pc;
  std::vector<std::map<std::string, std::vector<float>>> vm; std::multimap<std::string, Cell> mm; Branching tree; std::vector<Double32_t> vd; std::vector<TObject *> vo; std::vector<TLorentzVector> vp4;
  std::vector<bool> *pb = nullptr; std::vector<Cell> *pvc = nullptr; std::map<int, int> *pm = nullptr; std::string strs[2]; std::vector<Cell> avc[2];
  Float16_t f16 = 0; //[0,0,8]
  Double32_t dr = 0; //[-pi,pi,20]
  Double32_t d0 = 0; //[0,0,12]
  Double32_t arr[3] = {}; //[0,100]
  std::vector<Animal> vban; std::vector<Bird> vb; 
  ~Stl2() {}
  ClassDef(Stl2, 1)
};
void fill(Kinds &x, int k) {
  x.map.Clear(); x.refs.Clear(); x.hash.Clear();
  for (int j = 0; j < k; j++) { x.map.Add(new TObjString(Form("k%d", j)), j == 1 ? nullptr : new TNamed("n", Form("v%d", j))); x.hash.Add(new TNamed(Form("h%d", j), "t")); x.bits.SetBitNumber(3 * j); auto p = new Part; p->x = j; x.refs.Add(p); }
  x.v2.Set(k, 0.5 * k); x.v3.SetXYZ(k, 1, 2); x.p4.SetPxPyPzE(k, 2, 3, 4 * k);
  x.m.ResizeTo(k, k + 1); for (int i = 0; i < k; i++) for (int j = 0; j <= k; j++) x.m(i, j) = 10 * i + j;
  x.sym.ResizeTo(k, k); for (int i = 0; i < k; i++) for (int j = 0; j < k; j++) x.sym(i, j) = 10 * std::min(i, j) + std::max(i, j);
  x.mf.ResizeTo(2, 2); x.mf(0, 1) = k; x.vec.ResizeTo(k); for (int i = 0; i < k; i++) x.vec(i) = i * 0.5;
  x.af.Set(k); for (int i = 0; i < k; i++) x.af[i] = i; x.ad = k ? new TArrayD(k) : nullptr; x.os.SetString("os"); x.pos = k % 2 ? new TObjString("pos") : nullptr; x.ps = k % 2 ? new TString("ps") : nullptr;
  x.named.SetNameTitle("name", "title"); x.par = TParameter<int>("p", k);
}
Animal *animal(int k) { if (k % 3 == 0) { auto b = new Bird; b->legs = 2; b->wing = k; return b; } if (k % 3 == 1) { auto f = new Fish; f->name = "fish"; return f; } auto a = new Animal; a->legs = k; return a; }
void fill(Loops &x, int k) {
  x.n = k; x.cells = new Cell[k]; x.parts = new Part *[k]; x.two[0] = new Cell[k]; x.two[1] = new Cell[k]; x.zoo = new Animal *[k]; x.names = new TString[k];
  for (int j = 0; j < k; j++) { x.cells[j] = {j, j * 0.5}; x.parts[j] = j % 2 ? nullptr : new Part; if (x.parts[j]) x.parts[j]->x = j; x.two[1][j].i = j; x.zoo[j] = animal(j); x.names[j] = Form("n%d", j); }
}
void fill(Stl2 &x, int k) {
  x.va.clear(); x.vu.clear(); x.ma.clear(); x.mu.clear(); x.vts.clear(); x.vsp.clear(); x.sa.clear(); x.mp.clear(); x.vvc.clear(); x.vpc.clear(); x.vm.clear(); x.mm.clear(); x.vd.clear(); x.vo.clear(); x.vp4.clear(); x.vb.clear(); x.vban.clear(); x.avc[1].clear(); x.tree.below.clear();
  for (int j = 0; j < k; j++) {
    x.va.push_back({j, 1, 2}); x.vu.emplace_back(j % 2 ? nullptr : new Part); x.ma[Form("%d", j)] = animal(j); x.mu[Form("%d", j)].reset(new Cell{j, 1}); x.vts.push_back(new TString("ts")); x.vsp.push_back(new std::string("s")); 
    x.mp[{j, -j}] = {j, 2}; x.vvc.push_back(std::vector<Cell>(j)); x.vpc.push_back({"p", {j, 3}}); x.vm.push_back({{"a", std::vector<float>(j, 1)}}); x.mm.insert({"m", {j, 4}}); x.vd.push_back(j / 3.); x.vo.push_back(j % 2 ? (TObject *)new Part : new TNamed("o", "t")); x.vp4.emplace_back(j, 1, 2, 3);
    x.avc[1].push_back({j, 5}); x.tree.below.push_back({j, std::vector<Branching>(j)}); Bird b; b.wing = j; x.vb.push_back(b); x.vban.emplace_back();
  }
  x.sa.insert(animal(k)); x.ac[1].i = k; x.aa[1][1] = k; x.uc.reset(k ? new Cell{k, 1} : nullptr); x.ua.reset(animal(k)); x.pc = {{k, 1}, std::vector<Cell>(k)}; x.tree.i = k;
  x.pb = new std::vector<bool>(k, true); x.pvc = new std::vector<Cell>(k); x.pm = new std::map<int, int>{{k, k}}; x.strs[1] = "s"; x.f16 = k / 7.; x.dr = k / 3.; x.d0 = k / 3.; x.arr[1] = k;
}
void write_kinds(const char *folder) {
  write_one<Kinds>(folder, "Kinds", 4);
  write_one<Loops>(folder, "Loops", 4);
  write_one<Stl2>(folder, "Stl2", 4);
}
#ifdef __ROOTCLING__
#pragma link C++ class Cell+;
#pragma link C++ class Part+;
#pragma link C++ class Animal+;
#pragma link C++ class Bird+;
#pragma link C++ class Fish+;
#pragma link C++ class Branching+;
#pragma link C++ class std::vector<Branching>+;
#pragma link C++ class Kinds+;
#pragma link C++ class Loops+;
#pragma link C++ class Stl2+;
#pragma link C++ class std::vector<std::array<int,3>>+;
#pragma link C++ class std::vector<std::unique_ptr<Part>>+;
#pragma link C++ class std::map<std::string,Animal*>+;
#pragma link C++ class std::map<std::string,std::unique_ptr<Cell>>+;
#pragma link C++ class std::vector<TString*>+;
#pragma link C++ class std::vector<std::string*>+;
#pragma link C++ class std::set<Animal*>+;
#pragma link C++ class std::map<std::pair<int,int>,Cell>+;
#pragma link C++ class std::vector<std::vector<Cell>>+;
#pragma link C++ class std::vector<Cell>+;
#pragma link C++ class std::vector<std::pair<std::string,Cell>>+;
#pragma link C++ class std::pair<Cell,std::vector<Cell>>+;
#pragma link C++ class std::vector<std::map<std::string,std::vector<float>>>+;
#pragma link C++ class std::multimap<std::string,Cell>+;
#pragma link C++ class std::vector<TObject*>+;
#pragma link C++ class std::vector<TLorentzVector>+;
#pragma link C++ class std::vector<Animal>+;
#pragma link C++ class std::vector<Bird>+;
#pragma link C++ function write_kinds;
#endif
