// The C++ types of fields: their names, and how objects become columns and columns objects.
//
// | type | as in ROOT |
// |---|---|
// | numbers, `bool`, `char`, `std::byte`, enums of `NYSSA_ENUM` | the same |
// | `std::string`, `std::vector`, `std::array`, `T[N]` | the same |
// | `std::optional`, `std::unique_ptr`, `std::atomic`, `std::variant`, `std::pair`, `std::tuple`, `std::bitset` | the same |
// | `std::set`, `std::map` and their `unordered_` and `multi` forms | the same |
// | classes of `NYSSA_CLASS`, collections of `NYSSA_COLLECTION` | a class of the user |
//
// A type of your own is a specialisation of `Field` with these functions.

#ifndef NYSSA_TYPES_HPP
#define NYSSA_TYPES_HPP

#include <nyssa/rules.hpp>

#include <cstddef>
#include <set>
#include <tuple>
#include <type_traits>

namespace nyssa {

// The classes that types use, as `nyssa_writer_table` takes them.
class Definitions {
public:
  // Begins a class; false if it is known.
  bool begin(const std::string &name) { return known_.insert(name).second; }
  void add(const std::string &name, const std::string &entries) {
    json_ += (json_.empty() ? "" : ",") + quoted(name) + ":{" + entries + "}";
  }
  const std::string &json() const { return json_; }
  // Returns a text of JSON.
  static std::string quoted(const std::string &text) {
    std::string json = "\"";
    for (const char one : text) {
      const auto code = static_cast<unsigned char>(one);
      if (code < 0x20) {
        json += "\\u00";
        json += "0123456789abcdef"[code >> 4];
        json += "0123456789abcdef"[code & 15];
        continue;
      }
      if (one == '"' || one == '\\')
        json += '\\';
      json += one;
    }
    return json + "\"";
  }

private:
  std::set<std::string> known_;
  std::string json_;
};

// A type of fields: `type()` is its C++ name, `define` adds its classes, `shape` makes an empty column, `append` adds a value
// and `none` a place without one, `bind` checks a column by its schema, and `read` reads a value of it.
template <class T, class> struct Field {
  static_assert(sizeof(T) == 0, "describe the class by NYSSA_CLASS, the enum by NYSSA_ENUM, or specialise nyssa::Field");
};

namespace detail {

using Kind = Column::Kind;

template <class T, class = void> struct Number {
  static constexpr const char *name = nullptr;
};
#define NYSSA_NUMBER_(type, letter)                                                                                      \
  template <> struct Number<type> {                                                                                      \
    static constexpr const char *name = #type;                                                                           \
    static constexpr char format = letter;                                                                               \
  };
NYSSA_NUMBER_(char, 'c')
NYSSA_NUMBER_(signed char, 'c')
NYSSA_NUMBER_(unsigned char, 'C')
NYSSA_NUMBER_(std::byte, 'C')
NYSSA_NUMBER_(short, 's')
NYSSA_NUMBER_(unsigned short, 'S')
NYSSA_NUMBER_(int, 'i')
NYSSA_NUMBER_(unsigned int, 'I')
NYSSA_NUMBER_(long, sizeof(long) == 8 ? 'l' : 'i')
NYSSA_NUMBER_(unsigned long, sizeof(long) == 8 ? 'L' : 'I')
NYSSA_NUMBER_(long long, 'l')
NYSSA_NUMBER_(unsigned long long, 'L')
NYSSA_NUMBER_(float, 'f')
NYSSA_NUMBER_(double, 'g')
#undef NYSSA_NUMBER_

template <class T> constexpr bool is_number = Number<T>::name != nullptr;

// Types whose values lie in a column as in memory.
template <class T> constexpr bool is_plain = is_number<T> || std::is_enum_v<T>;

template <class T> struct Base {
  static void define(Definitions &) {}
};

template <class T, class = void> constexpr bool is_described = false;
template <class T> constexpr bool is_described<T, std::void_t<decltype(Described<T>::members())>> = true;

// Appends a value of each item of a list with `count` items: what `get` returns for the item. Values of one column come
// together, also of members of classes.
template <class T, class List, class Get>
void append_each(Column &column, const List &list, std::size_t count, const Get &get) {
  if constexpr (is_plain<T>) {
    auto item = std::begin(list);
    column.values<T>(count, [&] { return get(*item++); });
  } else if constexpr (is_described<T>) {
    Field<T>::append_each(column, list, count, get);
  } else {
    for (const auto &item : list)
      Field<T>::append(column, get(item));
  }
}

// Lists of one item type: vectors, sets, maps, collections of the user.
template <class Item> struct ListOf {
  static void define(Definitions &all) { Field<Item>::define(all); }
  static void shape(Column &column) {
    column.kind = Kind::list;
    Field<Item>::shape(column.children.emplace_back());
  }
  template <class List> static void append(Column &column, const List &list) {
    std::size_t count = 0;
    for (const auto &one : list) {
      Field<Item>::append(column.children[0], one);
      ++count;
    }
    column.end(count);
  }
  static void none(Column &column) { column.end(0); }
  static void bind(View &view, const std::string &type) {
    if (view.format() != "+L")
      view.refuse(type);
    view.children = {view.child(0)};
    Field<Item>::bind(view.children[0]);
  }
  static std::pair<int64_t, int64_t> range(const View &view, int64_t at) {
    const auto *offsets = view.buffer<int64_t>(1);
    return {offsets[at], offsets[at + 1]};
  }
};

} // namespace detail

template <class T> struct Field<T, std::enable_if_t<detail::is_number<T>>> : detail::Base<T> {
  static std::string type() { return detail::Number<T>::name; }
  static void shape(detail::Column &) {}
  static void append(detail::Column &column, T value) { column.value(value); }
  static void none(detail::Column &column) { column.value(T{}); }
  static void bind(detail::View &view) {
    if (view.format() != std::string_view(&detail::Number<T>::format, 1))
      view.refuse(type());
  }
  static void read(const detail::View &view, int64_t at, T &out) { out = view.buffer<T>(1)[at]; }
};

template <> struct Field<bool> : detail::Base<bool> {
  static std::string type() { return "bool"; }
  static void shape(detail::Column &column) { column.kind = detail::Kind::bits; }
  static void append(detail::Column &column, bool value) { column.bit(column.data, column.length++, value); }
  static void none(detail::Column &column) { append(column, false); }
  static void bind(detail::View &view) {
    if (view.format() != "b")
      view.refuse(type());
  }
  static void read(const detail::View &view, int64_t at, bool &out) { out = view.bit(1, at); }
};

template <class T> struct Field<T, std::enable_if_t<std::is_enum_v<T> && !detail::is_number<T>>> {
  using Under = std::underlying_type_t<T>;

  static std::string type() { return DescribedEnum<T>::name; }
  static void define(Definitions &all) {
    if (all.begin(type()))
      all.add(type(), "\":enum\":" + Definitions::quoted(Field<Under>::type()));
  }
  static void shape(detail::Column &) {}
  static void append(detail::Column &column, T value) { column.value(value); }
  static void none(detail::Column &column) { column.value(T{}); }
  static void bind(detail::View &view) { Field<Under>::bind(view); }
  static void read(const detail::View &view, int64_t at, T &out) { out = view.buffer<T>(1)[at]; }
};

template <> struct Field<std::string> : detail::Base<std::string> {
  static std::string type() { return "std::string"; }
  static void shape(detail::Column &column) { column.kind = detail::Kind::bytes; }
  static void append(detail::Column &column, std::string_view text) {
    if (!text.empty())
      std::memcpy(column.data.extend(text.size()), text.data(), text.size());
    column.end(text.size());
  }
  static void none(detail::Column &column) { column.end(0); }
  static void bind(detail::View &view) {
    if (view.format() != "Z" && view.format() != "U")
      view.refuse(type());
  }
  static void read(const detail::View &view, int64_t at, std::string &out) {
    const auto *offsets = view.buffer<int64_t>(1);
    const auto *text = static_cast<const char *>(view.array->buffers[2]);
    out.assign(text + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at]));
  }
};

template <class T> struct Field<std::vector<T>> : detail::ListOf<T> {
  using List = detail::ListOf<T>;

  static std::string type() { return "std::vector<" + Field<T>::type() + ">"; }
  static void append(detail::Column &column, const std::vector<T> &list) {
    if constexpr (std::is_same_v<T, bool>) {
      List::append(column, list);
    } else {
      detail::append_each<T>(column.children[0], list, list.size(), [](const T &item) -> const T & { return item; });
      column.end(list.size());
    }
  }
  static void bind(detail::View &view) { List::bind(view, type()); }
  static void read(const detail::View &view, int64_t at, std::vector<T> &out) {
    auto [start, stop] = List::range(view, at);
    const auto count = static_cast<std::size_t>(stop - start);
    if constexpr (detail::is_plain<T>) {
      const auto *items = view.children[0].template buffer<T>(1) + start;
      out.assign(items, items + count);
    } else if constexpr (std::is_same_v<T, bool>) {
      out.resize(count);
      for (std::size_t index = 0; index < count; ++index)
        out[index] = view.children[0].bit(1, start + static_cast<int64_t>(index));
    } else {
      // Objects that cannot move, because they have a `std::atomic`, are made in their place.
      if constexpr (std::is_move_constructible_v<T>)
        out.resize(count);
      else
        out = std::vector<T>(count);
      for (T &one : out)
        Field<T>::read(view.children[0], start++, one);
    }
  }
};

template <class T> struct Field<T, typename detail::Exists<decltype(Described<T>::members())>::type> {
  using Bases = typename Described<T>::bases;

  static std::string type() { return Described<T>::name; }
  static void define(Definitions &all) {
    if (!all.begin(type()))
      return;
    std::string entries, bases;
    each_base([&](auto *base) {
      using Base = std::remove_pointer_t<decltype(base)>;
      Field<Base>::define(all);
      bases += (bases.empty() ? "" : ",") + Definitions::quoted(Field<Base>::type());
    });
    if (!bases.empty())
      entries += "\":bases\":[" + bases + "]";
    if (Version<T>::value)
      entries += (entries.empty() ? "" : ",") + ("\":version\":" + std::to_string(Version<T>::value));
    each_member([&](const auto &member) {
      using Type = typename std::decay_t<decltype(member)>::type;
      Field<Type>::define(all);
      entries += (entries.empty() ? "" : ",") + Definitions::quoted(member.name) + ":" + Definitions::quoted(Field<Type>::type());
    });
    all.add(type(), entries);
  }
  static void shape(detail::Column &column) {
    column.kind = detail::Kind::record;
    each_base([&](auto *base) { Field<std::remove_pointer_t<decltype(base)>>::shape(column.children.emplace_back()); });
    each_member([&](const auto &member) {
      Field<typename std::decay_t<decltype(member)>::type>::shape(column.children.emplace_back());
    });
  }
  static void append(detail::Column &column, const T &object) {
    std::size_t next = 0;
    each_base([&](auto *base) {
      using Base = std::remove_pointer_t<decltype(base)>;
      Field<Base>::append(column.children[next++], static_cast<const Base &>(object));
    });
    each_member([&](const auto &member) {
      Field<typename std::decay_t<decltype(member)>::type>::append(column.children[next++], object.*member.pointer);
    });
    ++column.length;
  }
  template <class List, class Get>
  static void append_each(detail::Column &column, const List &list, std::size_t count, const Get &get) {
    std::size_t next = 0;
    each_base([&](auto *base) {
      using Base = std::remove_pointer_t<decltype(base)>;
      auto part = [&get](const auto &item) -> const Base & { return get(item); };
      detail::append_each<Base>(column.children[next++], list, count, part);
    });
    each_member([&](const auto &member) {
      using Type = typename std::decay_t<decltype(member)>::type;
      const auto pointer = member.pointer;
      auto part = [&get, pointer](const auto &item) -> const Type & { return get(item).*pointer; };
      detail::append_each<Type>(column.children[next++], list, count, part);
    });
    column.length += static_cast<int64_t>(count);
  }
  static void none(detail::Column &column) {
    std::size_t next = 0;
    each_base([&](auto *base) { Field<std::remove_pointer_t<decltype(base)>>::none(column.children[next++]); });
    each_member([&](const auto &member) {
      Field<typename std::decay_t<decltype(member)>::type>::none(column.children[next++]);
    });
    ++column.length;
  }
  // Members are found by their names, so that a class may have fewer than the file. Read rules make the others.
  static void bind(detail::View &view) {
    if (view.format() != "+s")
      view.refuse(type());
    std::size_t number = 0;
    auto find = [&view](const std::string &name) {
      detail::View found = view.find(name);
      if (!found.schema)
        throw Error(NYSSA_NOT_FOUND, "column " + view.path + " has no member " + name + " of class " + type() +
                                         ": describe the class without it, or make it by NYSSA_READ_RULE");
      return found;
    };
    each_base([&](auto *base) {
      using Base = std::remove_pointer_t<decltype(base)>;
      detail::View found = find_base(view, Field<Base>::type(), number++);
      if constexpr (detail::IsRule<BaseRule<T, Base>>::value) {
        if (!detail::fits<Base>(found)) {
          view.children.push_back(detail::Sources<BaseRule<T, Base>>::bind(view, "base class " + Field<Base>::type()));
          return;
        }
      }
      if (!found.schema)
        throw Error(NYSSA_NOT_FOUND, "column " + view.path + " has no base class " + Field<Base>::type() + " of class " +
                                         type() + ": describe the class without it, or make it by NYSSA_READ_RULE_OF_BASE");
      view.children.push_back(std::move(found));
      Field<Base>::bind(view.children.back());
    });
    const uint32_t version = view.class_version();
    each_member([&](const auto &member) {
      using Member = std::decay_t<decltype(member)>;
      using Rules = detail::RulesOf<Member::pointer>;
      if (auto sources = Rules::for_version(view, version, member.name)) {
        view.children.push_back(std::move(*sources));
        return;
      }
      if constexpr (Rules::has_for_lack) {
        if (!detail::fits<typename Member::type>(view.find(member.name))) {
          view.children.push_back(Rules::for_lack(view, member.name));
          return;
        }
      }
      view.children.push_back(find(member.name));
      Field<typename Member::type>::bind(view.children.back());
    });
  }
  static void read(const detail::View &view, int64_t at, T &out) {
    at += view.array->offset;
    std::size_t next = 0;
    each_base([&](auto *base) {
      using Base = std::remove_pointer_t<decltype(base)>;
      const detail::View &column = view.children[next++];
      if constexpr (detail::IsRule<BaseRule<T, Base>>::value) {
        if (!column.schema)
          return detail::Sources<BaseRule<T, Base>>::read(column, at, static_cast<Base &>(out));
      }
      Field<Base>::read(column, at, static_cast<Base &>(out));
    });
    each_member([&](const auto &member) {
      using Member = std::decay_t<decltype(member)>;
      const detail::View &column = view.children[next++];
      if (!column.schema)
        return detail::RulesOf<Member::pointer>::read(column, at, out.*Member::pointer);
      Field<typename Member::type>::read(column, at, out.*Member::pointer);
    });
  }

private:
  // Returns the base class of a name, or else of a number: a file may have it under another name, but not as its own.
  static detail::View find_base(const detail::View &view, const std::string &name, std::size_t number) {
    const std::string place = ":_" + std::to_string(number);
    detail::View there;
    for (int64_t index = 0; index < view.schema->n_children; ++index) {
      detail::View base = view.child(index);
      const std::string_view given = view.schema->children[index]->name;
      if (given.substr(0, 2) != ":_")
        continue;
      if (base.metadata("nyssa:class") == name)
        return base;
      if (given == place)
        there = std::move(base);
    }
    return there;
  }
  template <class Function> static void each_base(Function function) { bases(function, static_cast<Bases *>(nullptr)); }
  template <class Function, class... Types> static void bases(Function &function, std::tuple<Types...> *) {
    (function(static_cast<Types *>(nullptr)), ...);
  }
  template <class Function> static void each_member(Function function) {
    std::apply([&function](const auto &...members) { (function(members), ...); }, Described<T>::members());
  }
};

} // namespace nyssa

#endif
