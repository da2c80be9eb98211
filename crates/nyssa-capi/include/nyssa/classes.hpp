// Classes that are described once.
//
//     NYSSA_CLASS(ns::Hit, x, y)                        a class and its members, in the order of the class
//     NYSSA_CLASS_WITH_BASES(ns::Jet, (Base), pt, hits) with its base classes
//     NYSSA_CLASS_VERSION(ns::Jet, 2)                   the version of its ClassDef
//     NYSSA_ENUM(ns::Color)                             an enum
//     NYSSA_COLLECTION(ns::Hits, ns::Hit)               a class that ROOT knows as a collection
//     NYSSA_READ_RULE(ns::Jet, pt, (float px, float py), std::hypot(px, py))
//                                                       makes a member of other members of an older file
//     NYSSA_READ_RULE_OF_BASE(ns::Jet, ns::Base, (float mass), ns::Base(mass))
//                                                       makes a base class that an older file lacks
//     NYSSA_READ_RULE_OF_VERSIONS(ns::Jet, 1, 2, pt, (float pt), pt / 1000)
//                                                       makes a member where the file has these versions of the class
//
// The macros are used outside of namespaces, with whole names, before the class is used. A class with private members has
// `friend struct nyssa::Described<Jet>;`. A class has at most 64 described members.

#ifndef NYSSA_CLASSES_HPP
#define NYSSA_CLASSES_HPP

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nyssa {

// The description of a class. A specialisation has `name`, `members()` (a tuple of `member`) and `bases` (a tuple of
// types).
template <class T> struct Described;

// The description of an enum: `name`.
template <class T> struct DescribedEnum;

// The description of a collection of the user: `name` and `item`. The class has `begin`, `end`, `clear` and `push_back`;
// a specialisation may have functions `clear` and `add` of its own instead.
template <class T> struct DescribedCollection;

// The version of the `ClassDef` of a class; 0 without.
template <class T> struct Version {
  static constexpr uint32_t value = 0;
};

namespace detail {

// `std::void_t`, which clang takes for one type in several specialisations.
template <class...> struct Exists {
  using type = void;
};

template <auto Pointer> struct Member;
template <class Class, class Type, Type Class::*Pointer> struct Member<Pointer> {
  const char *name;
  using class_ = Class;
  static constexpr Type Class::*pointer = Pointer;
  using type = Type;
};

} // namespace detail

// Describes a member.
template <auto Pointer> constexpr detail::Member<Pointer> member(const char *name) { return {name}; }

// The rule that makes a member where a file lacks it, or has it with another type: a function `make` of members that the
// file has, and their names as the text of its parameters, `sources`.
template <auto Pointer> struct ReadRule;

// The rule that makes a base class where a file lacks it.
template <class T, class Base> struct BaseRule;

// The rule that makes a member where a file has a version of the class from `First` up to `last`.
template <auto Pointer, uint32_t First> struct VersionRule;

namespace detail {

// Rules of versions begin below this version, so that they can be looked up.
constexpr uint32_t most_versions = 64;

// Says whether a class has rules of versions; the macro declares it for classes that have rules. Without rules, none is looked up.
template <class T> struct Of {};
template <class T> std::false_type has_version_rules(Of<T>);

} // namespace detail

} // namespace nyssa

#define NYSSA_CLASS(type, ...) NYSSA_DESCRIBE_(type, (), __VA_ARGS__)
#define NYSSA_CLASS_WITH_BASES(type, bases, ...) NYSSA_DESCRIBE_(type, bases, __VA_ARGS__)

#define NYSSA_CLASS_VERSION(type, number)                                                                                \
  template <> struct nyssa::Version<type> {                                                                              \
    static constexpr uint32_t value = number;                                                                            \
  };

#define NYSSA_ENUM(type)                                                                                                 \
  template <> struct nyssa::DescribedEnum<type> {                                                                        \
    static constexpr const char *name = #type;                                                                           \
  };

#define NYSSA_COLLECTION(type, items)                                                                                    \
  template <> struct nyssa::DescribedCollection<type> {                                                                  \
    static constexpr const char *name = #type;                                                                           \
    using item = items;                                                                                                  \
    static void clear(type &all) { all.clear(); }                                                                        \
    static void add(type &all, item &&one) { all.push_back(std::move(one)); }                                            \
  };

// After the sources comes the value, an expression of them.
#define NYSSA_READ_RULE(type, member, from, ...)                                                                         \
  template <> struct nyssa::ReadRule<&type::member> { NYSSA_RULE_(from, __VA_ARGS__) };
#define NYSSA_READ_RULE_OF_BASE(type, base, from, ...)                                                                   \
  template <> struct nyssa::BaseRule<type, base> { NYSSA_RULE_(from, __VA_ARGS__) };
#define NYSSA_READ_RULE_OF_VERSIONS(type, first, last_, member, from, ...)                                               \
  namespace nyssa::detail {                                                                                              \
  std::true_type has_version_rules(Of<type>);                                                                            \
  }                                                                                                                      \
  template <> struct nyssa::VersionRule<&type::member, first> {                                                          \
    static_assert(first <= last_ && first < nyssa::detail::most_versions, "rules begin at a version below 64");         \
    static constexpr uint32_t last = last_;                                                                              \
    NYSSA_RULE_(from, __VA_ARGS__)                                                                                       \
  };

// What follows belongs to the macros above.
#define NYSSA_RULE_(from, ...)                                                                                           \
  static constexpr const char *sources = #from;                                                                          \
  static auto make from { return __VA_ARGS__; }
#define NYSSA_INSIDE_(...) __VA_ARGS__
#define NYSSA_DESCRIBE_(type, with_bases, ...)                                                                           \
  template <> struct nyssa::Described<type> {                                                                            \
    using class_ = type;                                                                                                 \
    using bases = std::tuple<NYSSA_INSIDE_ with_bases>;                                                                  \
    static constexpr const char *name = #type;                                                                           \
    static constexpr auto members() { return std::make_tuple(NYSSA_MEMBERS_(__VA_ARGS__)); }                             \
  };
#define NYSSA_MEMBER_(one) nyssa::member<&class_::one>(#one)
#define NYSSA_EXPAND_(text) text
#define NYSSA_JOIN_(a, b) NYSSA_JOIN2_(a, b)
#define NYSSA_JOIN2_(a, b) a##b
#define NYSSA_MEMBERS_(...) NYSSA_EXPAND_(NYSSA_JOIN_(NYSSA_EACH_, NYSSA_COUNT_(__VA_ARGS__))(__VA_ARGS__))
#define NYSSA_COUNT_(...) NYSSA_EXPAND_(NYSSA_TAKE_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
#define NYSSA_TAKE_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, count, ...) count
#define NYSSA_EACH_1(one) NYSSA_MEMBER_(one)
#define NYSSA_EACH_2(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_1(__VA_ARGS__))
#define NYSSA_EACH_3(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_2(__VA_ARGS__))
#define NYSSA_EACH_4(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_3(__VA_ARGS__))
#define NYSSA_EACH_5(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_4(__VA_ARGS__))
#define NYSSA_EACH_6(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_5(__VA_ARGS__))
#define NYSSA_EACH_7(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_6(__VA_ARGS__))
#define NYSSA_EACH_8(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_7(__VA_ARGS__))
#define NYSSA_EACH_9(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_8(__VA_ARGS__))
#define NYSSA_EACH_10(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_9(__VA_ARGS__))
#define NYSSA_EACH_11(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_10(__VA_ARGS__))
#define NYSSA_EACH_12(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_11(__VA_ARGS__))
#define NYSSA_EACH_13(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_12(__VA_ARGS__))
#define NYSSA_EACH_14(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_13(__VA_ARGS__))
#define NYSSA_EACH_15(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_14(__VA_ARGS__))
#define NYSSA_EACH_16(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_15(__VA_ARGS__))
#define NYSSA_EACH_17(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_16(__VA_ARGS__))
#define NYSSA_EACH_18(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_17(__VA_ARGS__))
#define NYSSA_EACH_19(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_18(__VA_ARGS__))
#define NYSSA_EACH_20(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_19(__VA_ARGS__))
#define NYSSA_EACH_21(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_20(__VA_ARGS__))
#define NYSSA_EACH_22(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_21(__VA_ARGS__))
#define NYSSA_EACH_23(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_22(__VA_ARGS__))
#define NYSSA_EACH_24(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_23(__VA_ARGS__))
#define NYSSA_EACH_25(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_24(__VA_ARGS__))
#define NYSSA_EACH_26(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_25(__VA_ARGS__))
#define NYSSA_EACH_27(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_26(__VA_ARGS__))
#define NYSSA_EACH_28(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_27(__VA_ARGS__))
#define NYSSA_EACH_29(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_28(__VA_ARGS__))
#define NYSSA_EACH_30(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_29(__VA_ARGS__))
#define NYSSA_EACH_31(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_30(__VA_ARGS__))
#define NYSSA_EACH_32(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_31(__VA_ARGS__))
#define NYSSA_EACH_33(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_32(__VA_ARGS__))
#define NYSSA_EACH_34(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_33(__VA_ARGS__))
#define NYSSA_EACH_35(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_34(__VA_ARGS__))
#define NYSSA_EACH_36(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_35(__VA_ARGS__))
#define NYSSA_EACH_37(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_36(__VA_ARGS__))
#define NYSSA_EACH_38(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_37(__VA_ARGS__))
#define NYSSA_EACH_39(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_38(__VA_ARGS__))
#define NYSSA_EACH_40(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_39(__VA_ARGS__))
#define NYSSA_EACH_41(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_40(__VA_ARGS__))
#define NYSSA_EACH_42(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_41(__VA_ARGS__))
#define NYSSA_EACH_43(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_42(__VA_ARGS__))
#define NYSSA_EACH_44(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_43(__VA_ARGS__))
#define NYSSA_EACH_45(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_44(__VA_ARGS__))
#define NYSSA_EACH_46(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_45(__VA_ARGS__))
#define NYSSA_EACH_47(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_46(__VA_ARGS__))
#define NYSSA_EACH_48(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_47(__VA_ARGS__))
#define NYSSA_EACH_49(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_48(__VA_ARGS__))
#define NYSSA_EACH_50(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_49(__VA_ARGS__))
#define NYSSA_EACH_51(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_50(__VA_ARGS__))
#define NYSSA_EACH_52(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_51(__VA_ARGS__))
#define NYSSA_EACH_53(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_52(__VA_ARGS__))
#define NYSSA_EACH_54(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_53(__VA_ARGS__))
#define NYSSA_EACH_55(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_54(__VA_ARGS__))
#define NYSSA_EACH_56(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_55(__VA_ARGS__))
#define NYSSA_EACH_57(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_56(__VA_ARGS__))
#define NYSSA_EACH_58(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_57(__VA_ARGS__))
#define NYSSA_EACH_59(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_58(__VA_ARGS__))
#define NYSSA_EACH_60(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_59(__VA_ARGS__))
#define NYSSA_EACH_61(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_60(__VA_ARGS__))
#define NYSSA_EACH_62(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_61(__VA_ARGS__))
#define NYSSA_EACH_63(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_62(__VA_ARGS__))
#define NYSSA_EACH_64(one, ...) NYSSA_MEMBER_(one), NYSSA_EXPAND_(NYSSA_EACH_63(__VA_ARGS__))

#endif
