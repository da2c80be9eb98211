// The types of the standard library that are more than numbers, texts and vectors, and collections of the user.

#ifndef NYSSA_STANDARD_TYPES_HPP
#define NYSSA_STANDARD_TYPES_HPP

#include <nyssa/types.hpp>

#include <array>
#include <atomic>
#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>

namespace nyssa {

namespace detail {

template <class T, std::size_t N> struct FixedOf {
  static void define(Definitions &all) { Field<T>::define(all); }
  static void shape(Column &column) {
    column.kind = Kind::fixed;
    Field<T>::shape(column.children.emplace_back());
  }
  template <class Array> static void append(Column &column, const Array &array) {
    append_each<T>(column.children[0], array, N, [](const T &item) -> const T & { return item; });
    ++column.length;
  }
  static void none(Column &column) {
    for (std::size_t index = 0; index < N; ++index)
      Field<T>::none(column.children[0]);
    ++column.length;
  }
  static void bind(View &view, const std::string &type) {
    if (view.format() != "+w:" + std::to_string(N))
      view.refuse(type);
    view.children = {view.child(0)};
    Field<T>::bind(view.children[0]);
  }
  template <class Array> static void read(const View &view, int64_t at, Array &array) {
    int64_t next = (at + view.array->offset) * static_cast<int64_t>(N);
    for (auto &one : array)
      Field<T>::read(view.children[0], next++, one);
  }
};

// Values that may be missing.
template <class T> struct MaybeOf {
  // Arrow has no null inside a null, and variants are never null: these are lists of at most one.
  template <class U> struct Nested : std::false_type {};
  template <class U> struct Nested<std::optional<U>> : std::true_type {};
  template <class U> struct Nested<std::unique_ptr<U>> : std::true_type {};
  template <class... U> struct Nested<std::variant<U...>> : std::true_type {};
  static constexpr bool in_list = Nested<T>::value;

  static void define(Definitions &all) { Field<T>::define(all); }
  static void shape(Column &column) {
    if constexpr (in_list) {
      column.kind = Kind::list;
      Field<T>::shape(column.children.emplace_back());
    } else {
      Field<T>::shape(column);
      column.nullable = true;
    }
  }
  template <class Maybe> static void append(Column &column, const Maybe &maybe) {
    if (!maybe)
      return none(column);
    if constexpr (in_list) {
      Field<T>::append(column.children[0], *maybe);
      column.end(1);
    } else {
      column.validity(true);
      Field<T>::append(column, *maybe);
    }
  }
  static void none(Column &column) {
    if constexpr (in_list) {
      column.end(0);
    } else {
      column.validity(false);
      Field<T>::none(column);
    }
  }
  static void bind(View &view, const std::string &type) {
    if constexpr (in_list) {
      ListOf<T>::bind(view, type);
    } else {
      Field<T>::bind(view);
      view.maybe = true;
    }
  }
  // Returns the place of the value, or -1.
  static int64_t find(const View &view, int64_t at) {
    if constexpr (in_list) {
      auto [start, stop] = ListOf<T>::range(view, at);
      return stop > start ? start : -1;
    } else {
      return view.is_valid(at) ? at : -1;
    }
  }
  static void read(const View &view, int64_t at, T &out) {
    if constexpr (in_list) {
      Field<T>::read(view.children[0], at, out);
    } else {
      Field<T>::read(view, at, out);
    }
  }
};

// Pairs and tuples, whose members are `_0`, `_1`, ...
template <class... Ts> struct TupleOf {
  using Index = std::index_sequence_for<Ts...>;

  static std::string names() {
    std::string all;
    ((all += (all.empty() ? "" : ",") + Field<std::remove_const_t<Ts>>::type()), ...);
    return all;
  }
  static void define(Definitions &all) { (Field<std::remove_const_t<Ts>>::define(all), ...); }
  static void shape(Column &column) {
    column.kind = Kind::record;
    (Field<std::remove_const_t<Ts>>::shape(column.children.emplace_back()), ...);
  }
  template <class Tuple> static void append(Column &column, const Tuple &tuple) { append(column, tuple, Index()); }
  template <class Tuple, std::size_t... I>
  static void append(Column &column, const Tuple &tuple, std::index_sequence<I...>) {
    (Field<std::remove_const_t<Ts>>::append(column.children[I], std::get<I>(tuple)), ...);
    ++column.length;
  }
  static void none(Column &column) {
    std::size_t next = 0;
    (Field<std::remove_const_t<Ts>>::none(column.children[next++]), ...);
    ++column.length;
  }
  static void bind(View &view) {
    if (view.format() != "+s" || view.schema->n_children != sizeof...(Ts))
      view.refuse("tuple of " + names());
    for (std::size_t index = 0; index < sizeof...(Ts); ++index)
      view.children.push_back(view.child(static_cast<int64_t>(index)));
    std::size_t next = 0;
    (Field<std::remove_const_t<Ts>>::bind(view.children[next++]), ...);
  }
  template <class Out> static void read(const View &view, int64_t at, Out &out) { read(view, at, out, Index()); }
  template <class Out, std::size_t... I>
  static void read(const View &view, int64_t at, Out &out, std::index_sequence<I...>) {
    at += view.array->offset;
    (Field<std::remove_const_t<Ts>>::read(view.children[I], at, std::get<I>(out)), ...);
  }
};

} // namespace detail

// Sets and maps.
#define NYSSA_SET_(container)                                                                                            \
  template <class T, class... Rest> struct Field<std::container<T, Rest...>> : detail::ListOf<T> {                       \
    static std::string type() { return "std::" #container "<" + Field<T>::type() + ">"; }                                \
    static void bind(detail::View &view) { detail::ListOf<T>::bind(view, type()); }                                      \
    static void read(const detail::View &view, int64_t at, std::container<T, Rest...> &out) {                            \
      out.clear();                                                                                                       \
      auto [start, stop] = detail::ListOf<T>::range(view, at);                                                           \
      for (; start < stop; ++start) {                                                                                    \
        T one{};                                                                                                         \
        Field<T>::read(view.children[0], start, one);                                                                    \
        out.insert(std::move(one));                                                                                      \
      }                                                                                                                  \
    }                                                                                                                    \
  };
#define NYSSA_MAP_(container)                                                                                            \
  template <class K, class V, class... Rest>                                                                             \
  struct Field<std::container<K, V, Rest...>> : detail::ListOf<std::pair<const K, V>> {                                  \
    static std::string type() { return "std::" #container "<" + Field<K>::type() + "," + Field<V>::type() + ">"; }       \
    static void bind(detail::View &view) {                                                                               \
      detail::ListOf<std::pair<const K, V>>::bind(view, type());                                                         \
    }                                                                                                                    \
    static void read(const detail::View &view, int64_t at, std::container<K, V, Rest...> &out) {                         \
      out.clear();                                                                                                       \
      auto [start, stop] = detail::ListOf<std::pair<const K, V>>::range(view, at);                                       \
      for (; start < stop; ++start) {                                                                                    \
        std::pair<K, V> one{};                                                                                           \
        Field<std::pair<K, V>>::read(view.children[0], start, one);                                                      \
        out.insert(std::move(one));                                                                                      \
      }                                                                                                                  \
    }                                                                                                                    \
  };
NYSSA_SET_(set)
NYSSA_SET_(multiset)
NYSSA_SET_(unordered_set)
NYSSA_SET_(unordered_multiset)
NYSSA_MAP_(map)
NYSSA_MAP_(multimap)
NYSSA_MAP_(unordered_map)
NYSSA_MAP_(unordered_multimap)
#undef NYSSA_SET_
#undef NYSSA_MAP_

template <class T> struct Field<T, typename detail::Exists<typename DescribedCollection<T>::item>::type> {
  using Item = typename DescribedCollection<T>::item;
  using List = detail::ListOf<Item>;

  static std::string type() { return DescribedCollection<T>::name; }
  static void define(Definitions &all) {
    if (!all.begin(type()))
      return;
    List::define(all);
    all.add(type(), "\":items\":" + Definitions::quoted(Field<Item>::type()));
  }
  static void shape(detail::Column &column) { List::shape(column); }
  static void append(detail::Column &column, const T &list) { List::append(column, list); }
  static void none(detail::Column &column) { column.end(0); }
  static void bind(detail::View &view) { List::bind(view, type()); }
  static void read(const detail::View &view, int64_t at, T &out) {
    DescribedCollection<T>::clear(out);
    auto [start, stop] = List::range(view, at);
    for (; start < stop; ++start) {
      Item one{};
      Field<Item>::read(view.children[0], start, one);
      DescribedCollection<T>::add(out, std::move(one));
    }
  }
};

template <class T, std::size_t N> struct Field<std::array<T, N>> : detail::FixedOf<T, N> {
  static std::string type() { return "std::array<" + Field<T>::type() + "," + std::to_string(N) + ">"; }
  static void bind(detail::View &view) { detail::FixedOf<T, N>::bind(view, type()); }
};

template <class T, std::size_t N> struct Field<T[N]> : detail::FixedOf<T, N> {
  // The sizes of `float[2][3]` are in the order of C.
  static std::string type() {
    std::string inner = Field<T>::type();
    std::size_t sizes = std::is_array_v<T> ? inner.find('[') : inner.size();
    return inner.insert(sizes, "[" + std::to_string(N) + "]");
  }
  static void bind(detail::View &view) { detail::FixedOf<T, N>::bind(view, type()); }
};

template <std::size_t N> struct Field<std::bitset<N>> : detail::Base<std::bitset<N>> {
  static std::string type() { return "std::bitset<" + std::to_string(N) + ">"; }
  static void shape(detail::Column &column) { detail::FixedOf<bool, N>::shape(column); }
  static void append(detail::Column &column, const std::bitset<N> &bits) {
    for (std::size_t index = 0; index < N; ++index)
      Field<bool>::append(column.children[0], bits[index]);
    ++column.length;
  }
  static void none(detail::Column &column) { append(column, {}); }
  static void bind(detail::View &view) { detail::FixedOf<bool, N>::bind(view, type()); }
  static void read(const detail::View &view, int64_t at, std::bitset<N> &out) {
    const int64_t first = (at + view.array->offset) * static_cast<int64_t>(N);
    for (std::size_t index = 0; index < N; ++index)
      out[index] = view.children[0].bit(1, first + static_cast<int64_t>(index));
  }
};

template <class T> struct Field<std::optional<T>> : detail::MaybeOf<T> {
  static std::string type() { return "std::optional<" + Field<T>::type() + ">"; }
  static void bind(detail::View &view) { detail::MaybeOf<T>::bind(view, type()); }
  static void read(const detail::View &view, int64_t at, std::optional<T> &out) {
    const int64_t found = detail::MaybeOf<T>::find(view, at);
    if (found < 0)
      return out.reset();
    detail::MaybeOf<T>::read(view, found, out.emplace());
  }
};

template <class T> struct Field<std::unique_ptr<T>> : detail::MaybeOf<T> {
  static std::string type() { return "std::unique_ptr<" + Field<T>::type() + ">"; }
  static void bind(detail::View &view) { detail::MaybeOf<T>::bind(view, type()); }
  static void read(const detail::View &view, int64_t at, std::unique_ptr<T> &out) {
    const int64_t found = detail::MaybeOf<T>::find(view, at);
    if (found < 0)
      return out.reset();
    out = std::make_unique<T>();
    detail::MaybeOf<T>::read(view, found, *out);
  }
};

template <class T> struct Field<std::atomic<T>> {
  static std::string type() { return "std::atomic<" + Field<T>::type() + ">"; }
  static void define(Definitions &all) { Field<T>::define(all); }
  static void shape(detail::Column &column) { Field<T>::shape(column); }
  static void append(detail::Column &column, const std::atomic<T> &value) { Field<T>::append(column, value.load()); }
  static void none(detail::Column &column) { Field<T>::none(column); }
  static void bind(detail::View &view) { Field<T>::bind(view); }
  static void read(const detail::View &view, int64_t at, std::atomic<T> &out) {
    T value{};
    Field<T>::read(view, at, value);
    out.store(value);
  }
};

template <class A, class B> struct Field<std::pair<A, B>> : detail::TupleOf<A, B> {
  static std::string type() { return "std::pair<" + detail::TupleOf<A, B>::names() + ">"; }
};

template <class... Ts> struct Field<std::tuple<Ts...>> : detail::TupleOf<Ts...> {
  static std::string type() { return "std::tuple<" + detail::TupleOf<Ts...>::names() + ">"; }
};

template <class... Ts> struct Field<std::variant<Ts...>> {
  static std::string type() { return "std::variant<" + detail::TupleOf<Ts...>::names() + ">"; }
  static void define(Definitions &all) { (Field<Ts>::define(all), ...); }
  static void shape(detail::Column &column) {
    column.kind = detail::Kind::variant;
    column.children.emplace_back().kind = detail::Kind::none;
    (Field<Ts>::shape(column.children.emplace_back()), ...);
  }
  static void append(detail::Column &column, const std::variant<Ts...> &variant) {
    if (variant.valueless_by_exception())
      return none(column);
    detail::Column &child = column.children[variant.index() + 1];
    column.places.push_back(static_cast<int32_t>(child.length));
    column.value(static_cast<int8_t>(variant.index() + 1));
    std::visit([&child](const auto &value) { Field<std::decay_t<decltype(value)>>::append(child, value); }, variant);
  }
  static void none(detail::Column &column) {
    column.places.push_back(static_cast<int32_t>(column.children[0].length++));
    column.value(int8_t{0});
  }
  static void bind(detail::View &view) {
    if (view.format().substr(0, 4) != "+ud:" || view.schema->n_children != sizeof...(Ts) + 1)
      view.refuse(type());
    for (std::size_t index = 1; index <= sizeof...(Ts); ++index)
      view.children.push_back(view.child(static_cast<int64_t>(index)));
    std::size_t next = 0;
    (Field<Ts>::bind(view.children[next++]), ...);
  }
  // A variant without a value reads as the first alternative.
  static void read(const detail::View &view, int64_t at, std::variant<Ts...> &out) {
    const auto tag = view.buffer<int8_t>(0)[at];
    const auto place = view.buffer<int32_t>(1)[at];
    int8_t next = 0;
    ((++next == tag ? alternative(view.children[static_cast<std::size_t>(next - 1)], place, out.template emplace<Ts>())
                    : void()),
     ...);
  }
  template <class T> static void alternative(const detail::View &view, int64_t at, T &out) { Field<T>::read(view, at, out); }
};

} // namespace nyssa

#endif
