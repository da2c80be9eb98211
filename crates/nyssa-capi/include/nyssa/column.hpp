// Columns in memory: those that are built of objects, and views of those that were read.

#ifndef NYSSA_COLUMN_HPP
#define NYSSA_COLUMN_HPP

#include <nyssa/error.hpp>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nyssa {

// A view of values that lie one after the other. It lives as long as its batch.
template <class T> class Span {
public:
  using value_type = std::remove_cv_t<T>;
  using iterator = T *;
  constexpr Span() = default;
  constexpr Span(T *data, std::size_t size) : data_(data), size_(size) {}
  constexpr T *data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T *begin() const { return data_; }
  constexpr T *end() const { return data_ + size_; }
  constexpr T &operator[](std::size_t index) const { return data_[index]; }

private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

// An array of numbers that can grow. Large arrays grow without a copy.
template <class T> class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  const T *data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T &back() { return data_[size_ - 1]; }
  // Adds `count` numbers, and returns their place, where they are to be written.
  T *extend(std::size_t count) {
    if (count > capacity_ - size_)
      grow(count);
    T *place = data_ + size_;
    size_ += count;
    return place;
  }
  void push_back(T one) { *extend(1) = one; }
  void reserve(std::size_t count) {
    if (count > capacity_)
      resize(count);
  }
  void swap(Buffer &other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

private:
  static_assert(std::is_trivially_copyable_v<T>);

  void grow(std::size_t count) {
    const std::size_t needed = size_ + count;
    resize(needed > 2 * capacity_ ? needed : 2 * capacity_);
  }
  void resize(std::size_t capacity) {
    auto *data = static_cast<T *>(std::realloc(data_, capacity * sizeof(T)));
    if (!data)
      throw std::bad_alloc();
    data_ = data;
    capacity_ = capacity;
  }

  T *data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// A column that is built. It becomes an array of the Arrow C data interface without a copy.
struct Column {
  enum class Kind { values, bits, bytes, list, fixed, record, variant, none };

  Kind kind = Kind::values;
  int64_t length = 0;
  int64_t nulls = 0;
  bool nullable = false;
  Buffer<uint8_t> valid;   // a bit for each value, if it is nullable
  Buffer<char> data;       // values, bits, characters, tags of variants
  Buffer<int64_t> offsets; // ends of lists and texts, with a 0 first
  Buffer<int32_t> places;  // places of the values of variants
  std::vector<Column> children;

  // Adds a bit to a buffer that has `count` bits.
  template <class Byte> static void bit(Buffer<Byte> &bits, int64_t count, bool value) {
    if (count % 8 == 0)
      bits.push_back(0);
    if (value)
      bits.back() = static_cast<Byte>(bits.back() | (1 << (count % 8)));
  }

  // Says before a value is added whether there is one.
  void validity(bool value) {
    bit(valid, length, value);
    nulls += !value;
  }

  // Adds values, which `next` returns one after the other.
  template <class T, class Next> void values(std::size_t count, Next next) {
    char *place = data.extend(count * sizeof(T));
    for (std::size_t index = 0; index < count; ++index, place += sizeof(T)) {
      const T one = next();
      std::memcpy(place, &one, sizeof(T));
    }
    length += static_cast<int64_t>(count);
  }
  template <class T> void value(T one) {
    std::memcpy(data.extend(sizeof(T)), &one, sizeof(T));
    ++length;
  }

  // Ends a list or a text.
  void end(std::size_t count) {
    if (offsets.empty())
      offsets.push_back(0);
    offsets.push_back(offsets.back() + static_cast<int64_t>(count));
    ++length;
  }

  std::size_t bytes() const {
    std::size_t all = data.size() + 8 * offsets.size() + 4 * places.size() + valid.size();
    for (const Column &child : children)
      all += child.bytes();
    return all;
  }

  // Gives the values to an array, and is empty then.
  ArrowArray take();
};

// What an array holds until it is released.
struct Owned {
  Column column;
  std::vector<const void *> buffers;
  std::vector<ArrowArray> arrays;
  std::vector<ArrowArray *> children;

  static void release(ArrowArray *array) {
    auto *owned = static_cast<Owned *>(array->private_data);
    for (ArrowArray &child : owned->arrays)
      if (child.release)
        child.release(&child);
    array->release = nullptr;
    delete owned;
  }
};

inline ArrowArray Column::take() {
  auto owned = std::make_unique<Owned>();
  Column &column = owned->column;
  // What is left has the form of the column, and no values.
  column.kind = kind;
  column.nullable = nullable;
  for (Column &child : children) {
    owned->arrays.push_back(child.take());
  }
  std::swap(column.length, length);
  std::swap(column.nulls, nulls);
  // The next batch has about as many values.
  auto give = [](auto &given, auto &next) {
    given.swap(next);
    next.reserve(given.size() + given.size() / 8);
  };
  give(column.valid, valid);
  give(column.data, data);
  give(column.offsets, offsets);
  give(column.places, places);
  // Empty buffers may have no memory, and the interface wants buffers.
  static const int64_t zero[2] = {0, 0};
  auto buffer = [](const auto &values) -> const void * { return values.empty() ? zero : static_cast<const void *>(values.data()); };
  const void *validity = nullable && column.nulls ? static_cast<const void *>(column.valid.data()) : nullptr;
  switch (kind) {
  case Kind::values:
  case Kind::bits:
    owned->buffers = {validity, buffer(column.data)};
    break;
  case Kind::bytes:
    owned->buffers = {validity, buffer(column.offsets), buffer(column.data)};
    break;
  case Kind::list:
    owned->buffers = {validity, buffer(column.offsets)};
    break;
  case Kind::fixed:
  case Kind::record:
    owned->buffers = {validity};
    break;
  case Kind::variant:
    owned->buffers = {buffer(column.data), buffer(column.places)};
    break;
  case Kind::none:
    break;
  }
  for (ArrowArray &child : owned->arrays)
    owned->children.push_back(&child);
  ArrowArray array{};
  array.length = column.length;
  array.null_count = kind == Kind::none ? column.length : column.nulls;
  array.n_buffers = static_cast<int64_t>(owned->buffers.size());
  array.n_children = static_cast<int64_t>(owned->children.size());
  array.buffers = owned->buffers.data();
  array.children = owned->children.data();
  array.release = &Owned::release;
  array.private_data = owned.release();
  return array;
}

// The type that a format of the Arrow C data interface says, for people.
inline std::string type_of_format(std::string_view format) {
  constexpr std::pair<std::string_view, const char *> types[] = {
      {"b", "bool"},   {"c", "int8"},    {"C", "uint8"},   {"s", "int16"},   {"S", "uint16"}, {"i", "int32"},  {"I", "uint32"},
      {"l", "int64"},  {"L", "uint64"},  {"e", "float16"}, {"f", "float32"}, {"g", "float64"}, {"u", "texts"}, {"U", "texts"},
      {"z", "bytes"},  {"Z", "bytes"},   {"+l", "lists"},  {"+L", "lists"},  {"+w", "arrays"}, {"+s", "records"},
      {"+u", "variants"}};
  for (const auto &[start, type] : types)
    if (format.substr(0, start[0] == '+' ? 2 : format.size()) == start)
      return type;
  return "Arrow's " + std::string(format);
}

// A view of an array that was read. Its children are in the order in which objects read them. For rows that are to be
// written, there is only a schema.
struct View {
  const ArrowArray *array = nullptr;
  const ArrowSchema *schema = nullptr;
  std::string path;
  std::vector<View> children;
  // Whether objects read from it may be missing.
  bool maybe = false;
  // Which rule makes the value, of a view without a schema: the first version of a rule of versions and 1, or 0.
  uint32_t rule = 0;

  View() = default;
  View(const ArrowArray *array, const ArrowSchema *schema)
      : array(array), schema(schema), path(schema->name ? schema->name : "") {}

  std::string_view format() const { return schema->format; }

  [[noreturn]] void refuse(const std::string &type) const {
    throw Error(NYSSA_INVALID_ARGUMENT, "column " + path + " holds " + type_of_format(format()) + ", and not " + type);
  }

  template <class T> const T *buffer(int index) const {
    return static_cast<const T *>(array->buffers[index]) + array->offset;
  }

  bool bit(int index, int64_t at) const {
    const auto *bits = static_cast<const uint8_t *>(array->buffers[index]);
    at += array->offset;
    return bits[at / 8] >> (at % 8) & 1;
  }

  bool is_valid(int64_t at) const { return !array->n_buffers || !array->buffers[0] || bit(0, at); }
  View child(int64_t index) const {
    View child(array ? array->children[index] : nullptr, schema->children[index]);
    // Items have the path of their list, as in the names of columns.
    if (format().substr(0, 2) == "+L" || format().substr(0, 2) == "+w")
      child.path = path;
    else if (!path.empty())
      child.path = path + "." + child.path;
    return child;
  }

  // The text of a key of the metadata; empty if there is none.
  std::string_view metadata(std::string_view wanted) const {
    const char *next = schema->metadata;
    if (!next)
      return {};
    auto number = [&next] {
      int32_t value = 0;
      std::memcpy(&value, next, sizeof(value));
      next += sizeof(value);
      return value;
    };
    auto text = [&next, &number] {
      const auto size = static_cast<std::size_t>(number());
      const std::string_view text(next, size);
      next += size;
      return text;
    };
    for (int32_t count = number(); count > 0; --count) {
      const std::string_view key = text(), value = text();
      if (key == wanted)
        return value;
    }
    return {};
  }

  // The version of the class of an object; the largest number if it is not known.
  uint32_t class_version() const {
    uint32_t version = 0;
    const std::string_view text = metadata("nyssa:version");
    for (const char digit : text)
      version = 10 * version + static_cast<uint32_t>(digit - '0');
    return text.empty() ? UINT32_MAX : version;
  }

  // The child of a name; `schema` is null if there is none.
  View find(std::string_view wanted) const {
    for (int64_t index = 0; index < schema->n_children; ++index)
      if (schema->children[index]->name == wanted)
        return child(index);
    return View();
  }

  // Refuses a bound view with missing values, of which objects would be made as if they were there. Members and array items
  // of what is `missing` are missing with it.
  void check_present(bool missing = false) const {
    const bool has_missing = array && array->null_count != 0;
    if (has_missing && !maybe && !missing)
      throw Error(NYSSA_INVALID_ARGUMENT, "column " + path + " has missing values: std::optional takes them");
    for (const View &child : children)
      child.check_present(has_missing && format() != "+L");
  }

  // Refuses a bound view that has not all members in the order of the schema, as rows must have. Variants have one more
  // child, of those without a value.
  void check_all() const {
    const std::size_t first = format().substr(0, 4) == "+ud:" ? 1 : 0;
    const auto count = static_cast<std::size_t>(schema->n_children);
    bool same = children.size() + first == count;
    for (std::size_t index = first; same && index < count; ++index)
      same = children[index - first].schema == schema->children[index];
    if (!same)
      throw Error(NYSSA_INVALID_ARGUMENT, "column " + path + " has other members, or the same in another order");
    for (const View &child : children)
      child.check_all();
  }
};

} // namespace detail

} // namespace nyssa

#endif
