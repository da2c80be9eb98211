// Reading: datasets, batches of entries, and views of their columns.

#ifndef NYSSA_DATASET_HPP
#define NYSSA_DATASET_HPP

#include <nyssa/standard_types.hpp>

namespace nyssa {

namespace detail {

// Types whose values columns hold so that there are views of them.
template <class T> constexpr bool is_viewed = is_plain<T> || std::is_same_v<T, bool>;

// The schema and the array of a batch.
struct Batch {
  Arrow<ArrowSchema> schema;
  Arrow<ArrowArray> array;
};

// Returns options for opening, which ask for strings as bytes if they do not say how strings are shown.
inline std::string with_bytes(const std::string &options) {
  const std::size_t first = options.find_first_not_of(" \t\r\n");
  if (options.find("strings") != std::string::npos)
    return options;
  if (first == std::string::npos || options[first] != '{')
    return "strings=bytes;" + options;
  const std::string rest = options.substr(first + 1);
  const std::size_t next = rest.find_first_not_of(" \t\r\n");
  const bool is_empty = next != std::string::npos && rest[next] == '}';
  return std::string("{\"strings\":\"bytes\"") + (is_empty ? "" : ",") + rest;
}

// Pointers to texts, as C takes them.
class Names {
public:
  explicit Names(const std::vector<std::string> &names) {
    for (const std::string &name : names)
      pointers_.push_back(name.c_str());
  }
  const char *const *data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

private:
  std::vector<const char *> pointers_;
};

} // namespace detail

template <class T> class Lists;

// A view of `bool`, which are bits.
class Bits {
public:
  Bits(const uint8_t *bits, std::size_t first, std::size_t size) : bits_(bits), first_(first), size_(size) {}
  std::size_t size() const { return size_; }
  bool operator[](std::size_t index) const { return bits_[(first_ + index) / 8] >> ((first_ + index) % 8) & 1; }

private:
  friend class Lists<bool>;

  const uint8_t *bits_;
  std::size_t first_;
  std::size_t size_;
};

// A view of numbers, of enums or of `bool`.
template <class T> using Values = std::conditional_t<std::is_same_v<T, bool>, Bits, Span<const T>>;

// A column of lists of them.
template <class T> class Lists {
public:
  Lists(const int64_t *offsets, Values<T> items, std::size_t size) : offsets_(offsets), items_(items), size_(size) {}
  std::size_t size() const { return size_; }
  Values<T> operator[](std::size_t index) const { return part(offsets_[index], offsets_[index + 1]); }
  // All items, one list after the other.
  Values<T> items() const { return part(offsets_[0], offsets_[size_]); }

private:
  Values<T> part(int64_t start, int64_t stop) const {
    const auto first = static_cast<std::size_t>(start), count = static_cast<std::size_t>(stop - start);
    if constexpr (std::is_same_v<T, bool>)
      return {items_.bits_, items_.first_ + first, count};
    else
      return {items_.data() + first, count};
  }

  const int64_t *offsets_;
  Values<T> items_;
  std::size_t size_;
};

// A column of objects. Each is made when it is used.
template <class T> class Objects {
public:
  Objects(std::shared_ptr<const detail::Batch> batch, detail::View view, std::size_t size)
      : batch_(std::move(batch)), view_(std::move(view)), size_(size) {}
  std::size_t size() const { return size_; }
  T operator[](std::size_t index) const {
    T object{};
    read(index, object);
    return object;
  }
  // Reads into an object, whose memory is used again.
  void read(std::size_t index, T &object) const { Field<T>::read(view_, static_cast<int64_t>(index), object); }

  // An iterator with one object, which changes from entry to entry.
  class iterator {
  public:
    iterator(const Objects *all, std::size_t index) : all_(all), index_(index) {}
    T &operator*() {
      if (read_ != index_ + 1) {
        all_->read(index_, object_);
        read_ = index_ + 1;
      }
      return object_;
    }
    iterator &operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const iterator &other) const { return index_ != other.index_; }

  private:
    const Objects *all_;
    std::size_t index_;
    std::size_t read_ = 0;
    T object_{};
  };
  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, size_}; }

private:
  std::shared_ptr<const detail::Batch> batch_;
  detail::View view_;
  std::size_t size_;
};

// Columns of some entries. Views of it live as long as it does, or a copy of it.
class Batch {
public:
  explicit Batch(detail::Batch &&read) : held_(std::make_shared<detail::Batch>(std::move(read))) {}

  // The number of entries.
  std::size_t size() const { return static_cast<std::size_t>(held_->array.get()->length); }
  // The Arrow data, which stay here.
  const ArrowSchema *schema() const { return held_->schema.get(); }
  const ArrowArray *array() const { return held_->array.get(); }

  // Returns the values of a column of numbers.
  template <class T> Values<T> values(const std::string &name) const {
    detail::View column = find(name);
    Field<T>::bind(column);
    return all<T>(column, name);
  }

  // Returns a column of lists of numbers.
  template <class T> Lists<T> lists(const std::string &name) const {
    detail::View column = find(name);
    detail::ListOf<T>::bind(column, "list");
    check(column, name);
    return {column.buffer<int64_t>(1), all<T>(column.children[0], name), size()};
  }

  // Returns a column of any type.
  template <class T> Objects<T> objects(const std::string &name) const {
    detail::View column = find(name);
    Field<T>::bind(column);
    column.check_present();
    return {held_, std::move(column), size()};
  }

private:
  static void check(const detail::View &column, const std::string &name) {
    if (column.array->null_count != 0)
      detail::refuse("column " + name + " has missing values: use objects");
  }

  template <class T> static Values<T> all(const detail::View &column, const std::string &name) {
    static_assert(detail::is_viewed<T>, "views are of numbers, enums or bool; use objects for other types");
    check(column, name);
    const auto size = static_cast<std::size_t>(column.array->length);
    if constexpr (std::is_same_v<T, bool>)
      return {static_cast<const uint8_t *>(column.array->buffers[1]), static_cast<std::size_t>(column.array->offset), size};
    else
      return {column.buffer<T>(1), size};
  }

  detail::View find(const std::string &name) const {
    detail::View column = detail::View(array(), schema()).find(name);
    if (!column.schema)
      throw Error(NYSSA_NOT_FOUND, "the batch has no column " + name + ": name it when you begin to read");
    return column;
  }

  std::shared_ptr<detail::Batch> held_;
};

// Batches of a dataset, one after the other. The next one is read while the caller works on the one before.
class Batches {
public:
  explicit Batches(detail::Arrow<ArrowArrayStream> &&stream, std::shared_ptr<detail::Callback> callback = nullptr)
      : stream_(std::move(stream)), callback_(std::move(callback)) {}

  // Returns the next batch; nothing after the last one.
  std::optional<Batch> next() {
    detail::Batch read;
    ArrowArrayStream *stream = stream_.get();
    check(stream->get_schema(stream, read.schema.get()));
    check(stream->get_next(stream, read.array.get()));
    if (!read.array.get()->release)
      return std::nullopt;
    return Batch(std::move(read));
  }

  class iterator {
  public:
    explicit iterator(Batches *all) : all_(all) { ++*this; }
    Batch &operator*() { return *batch_; }
    iterator &operator++() {
      if (all_)
        batch_ = all_->next();
      if (!batch_)
        all_ = nullptr;
      return *this;
    }
    bool operator!=(const iterator &other) const { return all_ != other.all_; }

  private:
    Batches *all_;
    std::optional<Batch> batch_;
  };
  iterator begin() { return iterator(this); }
  iterator end() { return iterator(nullptr); }

private:
  void check(int code) {
    if (callback_)
      callback_->rethrow();
    if (code != 0)
      detail::call(nyssa_stream_error, stream_.get());
  }

  detail::Arrow<ArrowArrayStream> stream_;
  // The callback of the context of the stream, which may end before it.
  std::shared_ptr<detail::Callback> callback_;
};

// An open RNTuple or TTree.
class Dataset {
public:
  // Opens `file.root:dir/Events`, or the only dataset of a file. Strings are bytes, which `std::string` takes; the option
  // `strings=utf8` shows them as text to other users of Arrow.
  explicit Dataset(const std::string &url, const std::string &options = "", const Context *context = nullptr) {
    const std::string all = detail::with_bytes(options);
    detail::call(nyssa_open, url.c_str(), all.c_str(), context, handle_.place());
  }

  // Opens several datasets as one, one after the other.
  static Dataset chain(const std::vector<std::string> &urls, const std::string &options = "",
                       const Context *context = nullptr) {
    detail::Names all(urls);
    const std::string given = detail::with_bytes(options);
    Dataset chained;
    detail::call(nyssa_chain, all.data(), all.size(), given.c_str(), context, chained.handle_.place());
    return chained;
  }

  // Returns the entries that pass a cut, such as `nMuon >= 2`.
  Dataset select(const std::string &cut, const Context *context = nullptr) const {
    Dataset selected;
    detail::call(nyssa_dataset_select, handle_.get(), cut.c_str(), context, selected.handle_.place());
    return selected;
  }

  // Opens an attribute set.
  Dataset attribute_set(const std::string &name) const {
    Dataset set;
    detail::call(nyssa_dataset_attribute_set, handle_.get(), name.c_str(), set.handle_.place());
    return set;
  }

  uint64_t entries() const {
    uint64_t count = 0;
    detail::call(nyssa_dataset_entries, handle_.get(), &count);
    return count;
  }

  // Describes the dataset as JSON; see `nyssa_dataset_describe`.
  std::string describe() const { return detail::text(nyssa_dataset_describe, handle_.get()); }
  // Tells what was opened and read, as JSON.
  std::string io_stats() const { return detail::text(nyssa_io_stats, handle_.get()); }

  // Reads columns (all without names) of the entries from `start` up to `stop`.
  Batch read(const std::vector<std::string> &columns, uint64_t start, uint64_t stop, const Context *context = nullptr) const {
    detail::Names names(columns);
    detail::Batch read;
    detail::call(nyssa_dataset_read, handle_.get(), names.data(), names.size(), start, stop, context,
                 read.schema.get(), read.array.get());
    return Batch(std::move(read));
  }

  // Reads columns of all entries.
  Batch read(const std::vector<std::string> &columns) const { return read(columns, 0, entries()); }

  // Reads columns of entries in any order.
  Batch take(const std::vector<std::string> &columns, const std::vector<uint64_t> &indices, const Context *context = nullptr) const {
    detail::Names names(columns);
    detail::Batch read;
    detail::call(nyssa_dataset_take, handle_.get(), names.data(), names.size(), indices.data(), indices.size(),
                 context, read.schema.get(), read.array.get());
    return Batch(std::move(read));
  }

  // Returns batches of all entries; the options are the options of `nyssa_dataset_stream`.
  Batches batches(const std::vector<std::string> &columns, const std::string &options = "", const Context *context = nullptr) const {
    detail::Names names(columns);
    detail::Arrow<ArrowArrayStream> stream;
    detail::call(nyssa_dataset_stream, handle_.get(), names.data(), names.size(), uint64_t{0}, entries(), options.c_str(),
                 context, stream.get());
    return Batches(std::move(stream), context ? context->callback_ : nullptr);
  }

  const nyssa_dataset *get() const { return handle_.get(); }

private:
  Dataset() = default;

  detail::Handle<nyssa_dataset> handle_;
};

} // namespace nyssa

#endif
