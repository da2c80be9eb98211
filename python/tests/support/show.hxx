// The entries of a field of an RNTuple as JSON, read by ROOT through a view of its C++ type:
//
// Optional values and pointers are the value or null. Maps are lists of pairs, pairs and tuples are
// lists, bitsets are lists of booleans with the first bit first, a variant is {"variant":[INDEX,VALUE]}.
// A class that has a function `members(f)`, which calls `f(name, member)` for each member, is a record.

#ifndef NYSSA_SHOW
#define NYSSA_SHOW

#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleTypes.hxx>
#include <ROOT/RNTupleView.hxx>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace nyssa_test {

template <typename T> void show(std::ostream &out, const T &value);

struct NoMembers { template <typename T> void operator()(const char *, const T &) {} };
template <typename T, typename = void> struct HasMembers : std::false_type {};
template <typename T>
struct HasMembers<T, std::void_t<decltype(std::declval<const T &>().members(NoMembers()))>> : std::true_type {};

/// What is not a number, a string, a class with `members` or a collection has a specialization.
template <typename T> struct Shown {
   static void show(std::ostream &out, const T &value) {
      if constexpr (std::is_same_v<T, std::byte>) out << int(value);
      else if constexpr (std::is_same_v<T, bool>) out << (value ? "true" : "false");
      else if constexpr (std::is_enum_v<T>) out << +std::underlying_type_t<T>(value);
      else if constexpr (std::is_same_v<T, std::string>) out << '"' << value << '"';
      else if constexpr (std::is_arithmetic_v<T>) out << +value;
      else if constexpr (HasMembers<T>::value) {
         out << '{';
         bool first = true;
         value.members([&](const char *name, const auto &member) {
            out << (first ? "" : ",") << '"' << name << "\":";
            first = false;
            nyssa_test::show(out, member);
         });
         out << '}';
      } else {
         out << '[';
         bool first = true;
         for (const auto &item : value) {
            if (!first) out << ',';
            first = false;
            nyssa_test::show<std::remove_const_t<typename T::value_type>>(out, item);
         }
         out << ']';
      }
   }
};
template <typename T, std::size_t N> struct Shown<T[N]> {
   static void show(std::ostream &out, const T (&items)[N]) {
      for (std::size_t i = 0; i < N; ++i) { out << (i ? "," : "["); nyssa_test::show(out, items[i]); }
      out << ']';
   }
};
template <std::size_t N> struct Shown<std::bitset<N>> {
   static void show(std::ostream &out, const std::bitset<N> &bits) {
      for (std::size_t i = 0; i < N; ++i) out << (i ? "," : "[") << (bits[i] ? "true" : "false");
      out << ']';
   }
};
template <typename T> struct Shown<std::atomic<T>> {
   static void show(std::ostream &out, const std::atomic<T> &value) { nyssa_test::show(out, value.load()); }
};
template <typename T> struct Shown<ROOT::RNTupleCardinality<T>> {
   static void show(std::ostream &out, const ROOT::RNTupleCardinality<T> &value) { out << T(value); }
};
template <typename T> struct Pointed {
   static void show(std::ostream &out, const T &value) {
      if (value) nyssa_test::show(out, *value); else out << "null";
   }
};
template <typename T> struct Shown<std::optional<T>> : Pointed<std::optional<T>> {};
template <typename T> struct Shown<std::unique_ptr<T>> : Pointed<std::unique_ptr<T>> {};
template <typename A, typename B> struct Shown<std::pair<A, B>> {
   static void show(std::ostream &out, const std::pair<A, B> &pair) {
      out << '[';
      nyssa_test::show<std::remove_const_t<A>>(out, pair.first);
      out << ',';
      nyssa_test::show(out, pair.second);
      out << ']';
   }
};
template <typename... Ts> struct Shown<std::tuple<Ts...>> {
   static void show(std::ostream &out, const std::tuple<Ts...> &tuple) {
      const char *before = "[";
      std::apply([&](const auto &...item) { ((out << before, nyssa_test::show(out, item), before = ","), ...); }, tuple);
      out << ']';
   }
};
template <typename... Ts> struct Shown<std::variant<Ts...>> {
   static void show(std::ostream &out, const std::variant<Ts...> &variant) {
      // ROOT sets the index of variants that hold nothing to one that is none.
      bool chosen = variant.index() < sizeof...(Ts);
      out << "{\"variant\":[" << (chosen ? int(variant.index()) : -1) << ',';
      if (!chosen) out << "null";
      else std::visit([&](const auto &value) { nyssa_test::show(out, value); }, variant);
      out << "]}";
   }
};

template <typename T> void show(std::ostream &out, const T &value) { Shown<T>::show(out, value); }

template <typename T>
std::vector<std::string> views(const char *name, const char *path, const char *field) {
   std::vector<std::string> all;
   auto reader = ROOT::RNTupleReader::Open(name, path);
   auto view = reader->GetView<T>(field);
   for (auto entry : *reader) {
      std::ostringstream out;
      out.precision(17);
      show<T>(out, view(entry));
      all.push_back(out.str());
   }
   return all;
}

} // namespace nyssa_test

#endif
