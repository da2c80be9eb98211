// How read rules are bound to the columns of a file, and used.

#ifndef NYSSA_RULES_HPP
#define NYSSA_RULES_HPP

#include <nyssa/classes.hpp>
#include <nyssa/column.hpp>

#include <cctype>
#include <string>
#include <type_traits>

namespace nyssa {

template <class T, class = void> struct Field;

namespace detail {

template <auto Pointer, class = void> struct HasRule : std::false_type {};
template <auto Pointer> struct HasRule<Pointer, typename Exists<decltype(ReadRule<Pointer>::sources)>::type> : std::true_type {};

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
    if constexpr (std::is_arithmetic_v<To> && std::is_arithmetic_v<Result>)
      out = static_cast<To>(Rule::make(std::get<I>(std::move(values))...));
    else
      out = Rule::make(std::get<I>(std::move(values))...);
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
