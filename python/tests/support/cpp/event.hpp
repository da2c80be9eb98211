// Classes with members of many types, and their values by number. Both nyssa and ROOT compile it.

#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace event {

enum class Color : std::int16_t { red, green };
enum Shape { round, square };

struct Hit {
  float x = 0;
  std::uint32_t id = 0;
  std::array<float, 3> q{};
  float c[2][3] = {};
  bool operator==(const Hit &other) const { return x == other.x && id == other.id && q == other.q && c[1][2] == other.c[1][2]; }
};

struct Base {
  double mass = 0;
  bool operator==(const Base &other) const { return mass == other.mass; }
};

struct Other {
  std::int64_t o = 0;
};

struct Jet : Base, Other {
  float pt = 0;
  double eta = 0;
  bool ok = false;
  char letter = 0;
  std::int8_t i8 = 0;
  std::uint8_t u8 = 0;
  short s = 0;
  long l = 0;
  unsigned long long ull = 0;
  std::byte byte{};
  Color color = Color::red;
  Shape shape = round;
  std::string name;
  std::vector<Hit> hits;
  std::vector<bool> bits;
  std::vector<std::vector<int>> nested;
  std::vector<std::string> names;
  std::vector<Color> colors;
  // ROOT 6.40 looks for the tag where the largest alternative ends, whatever the alignment of the others is.
  std::variant<int, std::string, Base> any;
  std::map<std::string, float> map;
  std::map<int, std::vector<float>> map_of_lists;
  std::multimap<int, int> multimap;
  std::unordered_map<int, double> unordered_map;
  std::set<int> set;
  std::set<std::pair<int, float>> set_of_pairs;
  std::unordered_set<int> unordered_set;
  std::multiset<int> multiset;
  std::unordered_multiset<int> unordered_multiset;
  std::unordered_multimap<int, std::string> unordered_multimap;
  std::bitset<10> few;
  std::bitset<70> many;
  std::unique_ptr<float> number;
  std::unique_ptr<Hit> hit;
  std::pair<int, float> pair;
  std::tuple<int, float, std::string> tuple;
  std::atomic<int> atomic{0};
  std::array<Hit, 2> two{};
  std::array<std::array<int, 2>, 3> table{};
  Hit old[2];
};

inline Hit hit(int i) {
  Hit hit;
  hit.x = static_cast<float>(i);
  hit.id = static_cast<std::uint32_t>(2 * i);
  hit.q = {hit.x, 2, 3};
  hit.c[1][2] = hit.x;
  return hit;
}

inline void fill(Jet &jet, int i) {
  const auto real = static_cast<float>(i);
  jet.mass = i;
  jet.o = -i;
  jet.pt = real * 1.5f;
  jet.eta = -i;
  jet.ok = i % 2;
  jet.letter = 'c';
  jet.i8 = -3;
  jet.u8 = 200;
  jet.s = -5;
  jet.l = -i;
  jet.ull = static_cast<unsigned long long>(i);
  jet.byte = std::byte(9);
  jet.color = i % 2 ? Color::green : Color::red;
  jet.shape = square;
  jet.name = std::string(static_cast<std::size_t>(i % 5), 'x') + "\xff";
  for (int k = 0; k < i % 4; ++k)
    jet.hits.push_back(hit(k));
  jet.bits = {true, false, i % 2 == 0};
  jet.nested = {{1, 2}, {}, {i}};
  jet.names = {"a", "bc"};
  jet.colors = {Color::green, Color::red};
  if (i % 3 == 0)
    jet.any = i;
  else if (i % 3 == 1)
    jet.any = "text";
  else
    jet.any = Base{jet.eta};
  jet.map = {{"k", real}, {"l", 2.f}};
  jet.map_of_lists = {{i, {1, 2}}};
  jet.multimap = {{1, 2}, {1, 3}};
  jet.unordered_map = {{i, 2.5}};
  jet.set = {3, i};
  jet.set_of_pairs = {{1, real}};
  jet.unordered_set = {i};
  jet.multiset = {i, 1, 1};
  jet.unordered_multiset = {i, i};
  jet.unordered_multimap = {{i, "m"}};
  jet.few = static_cast<unsigned long>(i);
  jet.many.set(69);
  if (i % 2)
    jet.number = std::make_unique<float>(real);
  if (i % 3)
    jet.hit = std::make_unique<Hit>(hit(i));
  jet.pair = {i, real};
  jet.tuple = {i, real, "t"};
  jet.atomic = i;
  jet.two = {hit(1), hit(i)};
  jet.table[2][1] = i;
  jet.old[1] = hit(i);
}

template <class T> bool same(const T &a, const T &b) { return a == b; }
template <class T> bool same(const std::unique_ptr<T> &a, const std::unique_ptr<T> &b) { return a && b ? *a == *b : !a && !b; }

// Calls a macro for each member of a jet whose type may be the type of a field.
#define EVENT_FIELDS(F) \
  F(pt) F(eta) F(ok) F(letter) F(i8) F(u8) F(s) F(l) F(ull) F(byte) F(color) F(shape) F(name) F(hits) F(bits) F(nested) \
  F(names) F(colors) F(any) F(map) F(map_of_lists) F(multimap) F(unordered_map) F(set) F(set_of_pairs) F(unordered_set) \
  F(multiset) F(unordered_multiset) F(unordered_multimap) F(few) F(many) F(number) F(hit) F(pair) F(tuple) F(atomic) F(two) \
  F(table)

// Returns the first member that differs, or an empty text.
inline std::string difference(const Jet &a, const Jet &b) {
#define COMPARE(member) \
  if (!same(a.member, b.member)) \
    return #member;
  COMPARE(mass)
  COMPARE(o)
  EVENT_FIELDS(COMPARE)
#undef COMPARE
  return a.old[1] == b.old[1] ? "" : "old";
}

// Gives a jet whose members are read as fields the values of its other members.
inline void fill_others(Jet &jet, const Jet &expected) {
  jet.mass = expected.mass;
  jet.o = expected.o;
  jet.old[1] = expected.old[1];
}

// ROOT 6.40 has optional values as fields, and not as members.
inline std::optional<Hit> maybe(int i) { return i % 3 ? std::optional(hit(i)) : std::nullopt; }

// What a framework streams itself.
struct Product {
  int number = 0;
  std::string name;
  std::vector<Hit> hits;
  std::map<std::string, float> tags;
  bool operator==(const Product &other) const {
    return number == other.number && name == other.name && hits == other.hits && tags == other.tags;
  }
};

inline Product product(int i) {
  return {i, std::string(static_cast<std::size_t>(i % 4), 'p'), std::vector<Hit>(static_cast<std::size_t>(i % 3), hit(i)), {{"t", 0.5f}}};
}

constexpr int entries = 50;

// The number of jets in the list of an entry.
inline int count(int entry) { return entry % 3; }

} // namespace event
