// Classes with members of every kind that a branch can have; `fill(i)` gives the values of entry `i`.

#ifndef NYSSA_KINDS
#define NYSSA_KINDS

#include "object.hxx"

#include <TArrayF.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TGraph.h>
#include <TH2D.h>
#include <TLorentzVector.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TString.h>
#include <array>
#include <bitset>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

enum Colour { red, green = 5 };
enum class Small : unsigned char { a, b };
enum class Narrow : short { a, b = -300 };

class Hit : public TObject {
public:
   float x = 0;
   short n = 0;
   Hit() {}
   Hit(int k) : x(k / 2.f), n(k) {}
   ClassDef(Hit, 3)
};

struct WithVectors {
   std::vector<float> v;
   int n = 0;
   std::string name;
   std::vector<Plain> plains;
   void fill(int k) {
      n = k;
      v.assign(k % 3, k / 4.f);
      name = std::string(k % 5, 'a' + k % 26);
      plains.resize(k % 2);
      for (auto &p : plains) p.fill(k + 1);
   }
};

struct Empty {};

class Numbers {
public:
   bool t = false; char c = 0; signed char sc = 0; unsigned char uc = 0; short s = 0;
   unsigned short us = 0; int i = 0; unsigned u = 0; long l = 0; unsigned long ul = 0;
   long long ll = 0; unsigned long long ull = 0; float f = 0; double d = 0; Long64_t l64 = 0;
   ULong64_t ul64 = 0; std::int8_t i8 = 0; std::uint64_t u64 = 0;
   Double32_t d32 = 0;
   Double32_t ranged = 0;     //[0,10,16]
   Float16_t f16 = 0;
   Float16_t f16r = 0;        //[-1,1,10]
   Double32_t bits = 0;       //[0,0,10]
   Double32_t angle = 0;      //[-pi,pi,12]
   float a[3] = {}; int m[2][3] = {}; short cube[2][2][2] = {}; bool flags[3] = {};
   Double32_t da[2] = {};     //[0,1,8]
   Float16_t fa[2][2] = {};
   Colour e = red; Small es = Small::a;
   int transient = 7;         //!
   char text[8] = {};
   void fill(int k);
   ClassDef(Numbers, 1)
};

class Texts {
public:
   TString ts; std::string ss; char *cs = nullptr; TString tsa[2]; std::string ssa[2];
   ~Texts() { delete[] cs; }
   void fill(int k);
   ClassDef(Texts, 1)
};

class Counted {
public:
   int n = 0; double *x = nullptr;  //[n]
   Double32_t *packed = nullptr;    //[n] 
   Float16_t *half = nullptr;       //[n][0,100,12]
   bool *flags = nullptr;           //[n]
   short k = 0; int after = 0;
   UChar_t *bytes = nullptr;        //[n]
   float *two[2] = {};              //[n]
   ~Counted() { clear(); }
   void clear();
   void fill(int k);
   ClassDef(Counted, 1)
};

class CountedObjects {
public:
   int n = 0; Plain *plains = nullptr;  //[n]
   TString *names = nullptr;            //[n]
   ~CountedObjects() { delete[] plains; delete[] names; }
   void fill(int k);
   ClassDef(CountedObjects, 1)
};

class Stl {
public:
   std::vector<bool> vb; std::vector<char> vc; std::vector<unsigned char> vuc;
   std::vector<short> vs; std::vector<int> vi; std::vector<unsigned> vu; std::vector<long> vl;
   std::vector<unsigned long> vul; std::vector<float> vf; std::vector<double> vd;
   std::list<Double32_t> ld32; std::vector<std::string> vstr; std::vector<TString> vts;
   std::vector<Colour> ve;
   std::list<int> li; std::deque<double> dd; std::set<int> si; std::multiset<short> ms;
   std::unordered_set<int> us; std::set<std::string> sstr;
   std::map<int, float> mif; std::map<std::string, int> msi; std::multimap<int, double> mm;
   std::unordered_map<int, int> um; std::pair<int, double> p; std::pair<std::string, std::vector<int>> pv;
   std::bitset<10> bits; std::array<int, 3> ar; std::vector<float> arr[2];
   std::vector<int> *pvi = nullptr;
   ~Stl() { delete pvi; }
   void fill(int k);
   ClassDef(Stl, 1)
};

class Deep {
public:
   std::vector<std::vector<float>> vv; std::vector<std::vector<std::vector<int>>> vvv;
   std::vector<std::map<std::string, int>> vm; std::map<std::string, std::vector<double>> mv;
   std::map<int, std::map<int, float>> mmm; std::vector<std::set<int>> vset;
   std::vector<std::pair<int, std::string>> vp; std::vector<std::vector<std::string>> vvs;
   std::vector<std::vector<bool>> vvb; std::map<int, Plain> mp;
   std::map<std::string, std::vector<Plain>> mvp; std::vector<std::vector<Plain>> vvp;
   std::list<std::vector<short>> lv; std::vector<std::bitset<5>> vbits;
   std::map<std::pair<int, int>, std::string> mpair;
   void fill(int k);
   ClassDef(Deep, 1)
};

class Base { public: int b = 0; virtual ~Base() {} ClassDef(Base, 2) };
class Other { public: double o = 0; std::vector<short> list; ClassDef(Other, 1) };
class Middle : public Base { public: float m = 0; ClassDef(Middle, 1) };
class Derived : public Middle, public Other, public Empty {
public:
   double extra = 0; std::vector<int> v; Plain plain;
   void fill(int k);
   ClassDef(Derived, 4)
};
class Named : public TNamed { public: int i = 0; Named() {} void fill(int k); ClassDef(Named, 1) };
class Vector : public std::vector<float> { public: int i = 0; void fill(int k); ClassDef(Vector, 1) };
class Leaves : public Hit { public: Plain p; Empty e; void fill(int k); ClassDef(Leaves, 1) };

class Objects {
public:
   Plain one; Plain three[3]; Hit hit; Hit hits[2]; WithVectors with; Derived derived;
   std::vector<Plain> vp; std::vector<Hit> vh; std::vector<WithVectors> vw; std::vector<Derived> vd;
   std::list<Plain> lp; std::deque<Hit> dh; std::set<Plain> sp; std::vector<Plain *> vpp;
   std::vector<Hit *> vhp;
   std::vector<Plain> unsplit; //||
   Plain whole;                //||
   Plain *pointer = nullptr; Plain *null = nullptr; Plain *always = new Plain; //->
   ~Objects() { clear(); delete always; }
   void clear();
   void fill(int k);
   ClassDef(Objects, 1)
};

class Root {
public:
   TClonesArray clones{"Hit"}; TClonesArray *pclones = new TClonesArray("Hit");
   TObjArray array; TLorentzVector p4; TArrayF floats; TDatime date{2024, 1, 2, 3, 4, 5};
   TNamed named; TObjString *text = nullptr; TRef ref; TRefArray refs;
   Root() { array.SetOwner(); }
   ~Root() { delete pclones; delete text; }
   void fill(int k);
   ClassDef(Root, 1)
};

class Pointers {
public:
   Base *poly = nullptr; Base *again = nullptr; TObject *any = nullptr; std::vector<Base *> vb;
   ~Pointers() { clear(); }
   void clear();
   void fill(int k);
   ClassDef(Pointers, 1)
};

class Enums {
public:
   std::map<Colour, int> keys; std::map<int, Narrow> values; std::vector<std::vector<Narrow>> narrow;
   std::map<std::string, std::vector<Colour>> lists; Narrow one = Narrow::a;
   void fill(int k);
   ClassDef(Enums, 1)
};

class Owners {
public:
   std::unique_ptr<Plain> plain; std::unique_ptr<TNamed> named; std::unique_ptr<std::string> text;
   std::vector<Plain> lists[2];
   void fill(int k);
   ClassDef(Owners, 1)
};

class Histograms {
public:
   TH1F one{"one", "", 3, 0, 3}; TH2D *two = nullptr; TGraph graph{3}; std::vector<TH1F> many;
   ~Histograms() { delete two; }
   void fill(int k);
   ClassDef(Histograms, 1)
};

/// An item of a `TClonesArray` with containers, which have headers there even if there are no items.
class Full : public TObject {
public:
   std::vector<int> v; std::vector<Plain> plains; Plain three[3]; TString s; std::string names[2];
   Full() {}
   Full(int k);
   ClassDef(Full, 2)
};

class Evolving {
public:
   int first = 0; std::vector<double> v; Plain plain; float gone = 0;
   void fill(int k) { first = k; v.assign(k, k); gone = k / 2.f; plain.fill(k); }
   ClassDef(Evolving, 1)
};

#endif
