// The classes of test_tree_classes.py, and a function that writes their objects as ROOT splits them.
#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace treeclasses {

struct Deep { int d; float e; };
struct Grand { int g; };
struct Inner : Grand { short z; Deep q; };
struct Point : Inner { float x; double y; Deep deep; };
struct Hit { int id; std::vector<float> q; };
struct Base { short b; std::vector<Hit> bh; Point bp; };
struct Other { float o; };
struct Jet : Base, Other {
   Jet() : arr{}, mat{}, c('a'), l(0), ll(0), u64(0), us(0), i8(0), uc(0), ok(false), pt(0), eta(0), m(0) {}
   float arr[3];
   int mat[2][3];
   char c;
   long l;
   long long ll;
   unsigned long u64;
   unsigned short us;
   signed char i8;
   unsigned char uc;
   bool ok;
   float pt;
   double eta;
   Double32_t m;
   std::vector<float> v;
   std::string s;
   Point p;
   std::vector<Hit> hits;
   std::array<float, 2> sa;
   std::map<int, float> mp;
   std::set<int> si;
   std::vector<std::string> vs;
   std::vector<std::vector<int>> vv;
   std::vector<bool> vb;
   std::pair<int, float> pr;
   Point ps[2];
   std::vector<std::vector<Hit>> vvh;
   std::vector<std::map<int, float>> vm;
   std::vector<std::vector<std::pair<int, float>>> vvp;
};

} // namespace treeclasses
