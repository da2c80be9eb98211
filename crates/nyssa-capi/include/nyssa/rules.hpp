// How read rules are bound to the columns of a file, and used.

#ifndef NYSSA_RULES_HPP
#define NYSSA_RULES_HPP

#include <nyssa/classes.hpp>
#include <nyssa/column.hpp>

#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>

namespace nyssa {

template <class T, class = void> struct Field;

namespace detail {

// Says whether a rule is defined.
template <class Rule, class = void> struct IsRule : std::false_type {};
template <class Rule> struct IsRule<Rule, typename Exists<decltype(Rule::sources)>::type> : std::true_type {};

// Gives the array that is made to the member.
template <class T, std::size_t N, class Made> void give_array(T (&out)[N], Made &&made) {
  if (std::size(made) != N)
    refuse("a read rule makes " + std::to_string(std::size(made)) + " values for an array of " + std::to_string(N));
  std::size_t next = 0;
  for (auto &&one : made) {
    if constexpr (std::is_array_v<T>)
      give_array(out[next++], one);
    else
      out[next++] = one;
  }
}

// Returns the names in the parameters of a function: `px` and `py` of "(float px, float py)".
inline std::vector<std::string> parameter_names(std::string_view text) {
  std::vector<std::string> names;
  std::string last;
  bool ended = false;
  int depth = 0;
  for (const char letter : text.substr(1)) {
    depth += (letter == '<' || letter == '(' || letter == '{') - (letter == '>' || letter == ')' || letter == '}');
    if (depth < 0 || (depth == 0 && letter == ',')) {
      if (!last.empty())
        names.push_back(std::exchange(last, {}));
    } else if (std::isalnum(static_cast<unsigned char>(letter)) || letter == '_') {
      if (std::exchange(ended, false))
        last.clear();
      last += letter;
    } else {
      ended = true;
    }
  }
  return names;
}

// The sources of a rule, in the columns of a file.
template <class Rule, class Make = decltype(&Rule::make)> struct Sources;
template <class Rule, class Result, class... Ts> struct Sources<Rule, Result (*)(Ts...)> {
  using Index = std::index_sequence_for<Ts...>;

  // Returns a view whose children are the sources among the members of a class. It has no schema of its own.
  static View bind(const View &members, const std::string &made) {
    View rule;
    for (const std::string &name : parameter_names(Rule::sources)) {
      rule.children.push_back(members.find(name));
      if (!rule.children.back().schema)
        throw Error(NYSSA_NOT_FOUND, "column " + members.path + " has neither " + made + " nor " + name +
                                         ", from which a read rule makes " + made);
    }
    [[maybe_unused]] std::size_t next = 0;
    (Field<std::decay_t<Ts>>::bind(rule.children[next++]), ...);
    return rule;
  }

  template <class To> static void read(const View &rule, int64_t at, To &out) { read(rule, at, out, Index()); }

private:
  template <class To, std::size_t... I>
  static void read([[maybe_unused]] const View &rule, [[maybe_unused]] int64_t at, To &out, std::index_sequence<I...>) {
    std::tuple<std::decay_t<Ts>...> values;
    (Field<std::decay_t<Ts>>::read(rule.children[I], at, std::get<I>(values)), ...);
    // Numbers are converted, as ROOT's rules do.
    if constexpr (std::is_array_v<To>)
      give_array(out, Rule::make(std::get<I>(std::move(values))...));
    else if constexpr (std::is_arithmetic_v<To> && std::is_arithmetic_v<Result>)
      out = static_cast<To>(Rule::make(std::get<I>(std::move(values))...));
    else
      out = Rule::make(std::get<I>(std::move(values))...);
  }
};

// The rules of a member: for versions of the class, and for files that lack it.
template <auto Pointer> class RulesOf {
public:
  // Returns the sources of the rule for this version of the class; nothing if there is none.
  static std::optional<View> for_version(const View &members, uint32_t version, const char *made) {
    return for_version(members, version, made, Versions());
  }
  // Returns the sources of the rule for a file that lacks the member.
  static View for_lack(const View &members, const char *made) { return Sources<ReadRule<Pointer>>::bind(members, made); }
  static constexpr bool has_for_lack = IsRule<ReadRule<Pointer>>::value;

  // Makes the member by the rule whose sources are given.
  template <class To> static void read(const View &rule, int64_t at, To &out) { read(rule, at, out, Versions()); }

private:
  using Class = typename Member<Pointer>::class_;
  static constexpr bool has_versions = decltype(has_version_rules(Of<Class>()))::value;
  using Versions = std::make_integer_sequence<uint32_t, has_versions ? most_versions : 0>;

  template <uint32_t... First>
  static std::optional<View> for_version([[maybe_unused]] const View &members, [[maybe_unused]] uint32_t version,
                                         [[maybe_unused]] const char *made, std::integer_sequence<uint32_t, First...>) {
    std::optional<View> found;
    (
        [&] {
          using Rule = VersionRule<Pointer, First>;
          if constexpr (IsRule<Rule>::value)
            if (!found && version >= First && version <= Rule::last) {
              found = Sources<Rule>::bind(members, made);
              found->rule = First + 1;
            }
        }(),
        ...);
    return found;
  }
  template <class To, uint32_t... First>
  static void read(const View &rule, int64_t at, To &out, std::integer_sequence<uint32_t, First...>) {
    if constexpr (has_for_lack)
      if (rule.rule == 0)
        return Sources<ReadRule<Pointer>>::read(rule, at, out);
    (
        [&] {
          using Rule = VersionRule<Pointer, First>;
          if constexpr (IsRule<Rule>::value)
            if (rule.rule == First + 1)
              Sources<Rule>::read(rule, at, out);
        }(),
        ...);
  }
};

// Returns whether there is a column, with values of a type.
template <class T> bool fits(View column) {
  if (!column.schema)
    return false;
  try {
    Field<T>::bind(column);
  } catch (const Error &) {
    return false;
  }
  return true;
}

} // namespace detail

} // namespace nyssa

#endif
