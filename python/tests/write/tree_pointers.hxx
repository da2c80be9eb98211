// The classes of test_tree_pointers.py. Copies own what they point to.
#pragma once
#include <bitset>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

namespace treepointers {

template <class T> T *copied(const T *object) { return object ? new T(*object) : nullptr; }

struct Deep { int d; float e; };
struct Hit { int id; std::vector<float> q; };
struct Owner {
   Deep *p = nullptr;
   std::unique_ptr<Deep> u;
   Hit *h = nullptr;
   std::unique_ptr<Hit> uh;
   const Deep *c = nullptr;
   Deep *ap[2] = {};
   std::vector<Deep *> vp;
   std::list<Hit *> lh;
   std::map<int, Deep *> mp;
   int after = 0;
   Owner() = default;
   Owner(Owner &&) = default;
   Owner &operator=(Owner &&) = default;
   Owner(const Owner &o) : p(copied(o.p)), u(copied(o.u.get())), h(copied(o.h)), uh(copied(o.uh.get())), c(copied(o.c)), after(o.after) {
      for (int i : {0, 1}) ap[i] = copied(o.ap[i]);
      for (auto one : o.vp) vp.push_back(copied(one));
      for (auto one : o.lh) lh.push_back(copied(one));
      for (auto &one : o.mp) mp[one.first] = copied(one.second);
   }
};
struct Sole { std::vector<std::unique_ptr<Hit>> vu; int after = 0; };

enum class U8 : std::uint8_t { kNone };
enum class S8 : std::int8_t { kNone };
enum class U16 : std::uint16_t { kNone };
enum class S16 : std::int16_t { kNone };
enum class U32 : std::uint32_t { kNone };
enum Plain { kNone };
struct Kinds {
   U8 u8{};
   S8 s8{};
   U16 u16{};
   S16 s16{};
   U32 u32{};
   Plain plain{};
   std::bitset<8> b8;
   std::bitset<70> b70;
   std::vector<std::bitset<3>> vb;
   int after = 0;
};
struct Nest { Owner o; std::vector<Owner> vo; Kinds k; std::vector<Kinds> vk; };

} // namespace treepointers
