// Writing: files, tables of objects, and fill contexts.

#ifndef NYSSA_WRITER_HPP
#define NYSSA_WRITER_HPP

#include <nyssa/types.hpp>

namespace nyssa {

namespace detail {

// The bytes of rows that are handed over at once.
constexpr std::size_t batch_bytes = 1 << 20;
// The number of rows that are handed over at once.
constexpr int64_t batch_rows = 4096;
// The rows between two looks at the bytes.
constexpr int64_t look = 64;

// Rows that are gathered until there are enough of them.
template <class... Ts> class Rows {
public:
  Rows() {
    columns_.kind = Kind::record;
    (Field<Ts>::shape(columns_.children.emplace_back()), ...);
  }
  void append(const Ts &...values) {
    std::size_t next = 0;
    (Field<Ts>::append(columns_.children[next++], values), ...);
    ++columns_.length;
  }
  bool is_full() const {
    const int64_t rows = columns_.length;
    return rows >= batch_rows || (rows % look == 0 && columns_.bytes() >= batch_bytes);
  }
  bool is_empty() const { return columns_.length == 0; }
  ArrowArray take() { return columns_.take(); }

private:
  Column columns_;
};

// Hands rows over to a function of `nyssa.h`.
template <class Opaque, class... Ts> class Filler {
public:
  using Function = nyssa_status (*)(const Opaque *, ArrowArray *, const ArrowSchema *, nyssa_error **);

  void fill(Function function, const Opaque *handle, const Ts &...values) {
    rows_.append(values...);
    if (rows_.is_full())
      hand_over(function, handle);
  }
  void hand_over(Function function, const Opaque *handle) {
    if (rows_.is_empty())
      return;
    ArrowArray array = rows_.take();
    call(function, handle, &array, nullptr);
  }

private:
  Rows<Ts...> rows_;
};

} // namespace detail

// A field of a table: its name and its C++ type.
template <class T> struct NamedField {
  std::string name;
};

// Makes a field.
template <class T> NamedField<T> field(std::string name) { return {std::move(name)}; }

namespace detail {

// Returns fields and their classes, as `nyssa_writer_table` takes them.
template <class... Ts> std::string definitions(const NamedField<Ts> &...fields) {
  Definitions all;
  (Field<Ts>::define(all), ...);
  std::string named;
  ((named += (named.empty() ? "" : ",") + Definitions::quoted(fields.name) + ":" + Definitions::quoted(Field<Ts>::type())), ...);
  return "{\"fields\":{" + named + "},\"classes\":{" + all.json() + "}}";
}

} // namespace detail

// The entries of one thread. Each thread has its own, and commits it.
template <class... Ts> class FillContext {
public:
  explicit FillContext(const nyssa_table *table) { detail::call(nyssa_table_fill_context, table, handle_.place()); }

  // Appends an entry.
  void fill(const Ts &...values) { filler_.fill(nyssa_fill_context_fill, handle_.get(), values...); }
  // Ends the open cluster.
  void flush() {
    filler_.hand_over(nyssa_fill_context_fill, handle_.get());
    detail::call(nyssa_fill_context_flush, handle_.get());
  }
  // The seconds in which calls waited for other threads.
  double stalled() const {
    double seconds = 0;
    detail::call(nyssa_fill_context_stats, handle_.get(), &seconds);
    return seconds;
  }
  // Commits what is left. Without it, the table fails if entries are lost.
  void commit() {
    filler_.hand_over(nyssa_fill_context_fill, handle_.get());
    detail::call(nyssa_fill_context_commit, handle_.get());
  }

private:
  detail::Filler<nyssa_fill_context, Ts...> filler_;
  detail::Handle<nyssa_fill_context> handle_;
};

// An RNTuple that is being written, with a value for each field in each entry.
template <class... Ts> class Table {
public:
  explicit Table(nyssa_table *table) : handle_(table) {}

  // Appends an entry.
  void fill(const Ts &...values) { filler_.fill(nyssa_table_fill, handle_.get(), values...); }
  // Ends the open cluster.
  void flush() {
    filler_.hand_over(nyssa_table_fill, handle_.get());
    detail::call(nyssa_table_flush, handle_.get());
  }
  // Makes the entries of a thread. From then on, only fill contexts give entries.
  FillContext<Ts...> context() {
    filler_.hand_over(nyssa_table_fill, handle_.get());
    return FillContext<Ts...>(handle_.get());
  }
  // Adds fields. Later entries have them, and earlier ones zeros. This table is of no use then.
  template <class... More> Table<Ts..., More...> with(const NamedField<More> &...fields) {
    filler_.hand_over(nyssa_table_fill, handle_.get());
    const std::string late = detail::definitions(fields...);
    detail::call(nyssa_table_add_fields, handle_.get(), nullptr, late.c_str(), nullptr);
    Table<Ts..., More...> wider(nullptr);
    wider.take(handle_);
    return wider;
  }
  // The number of entries, and the seconds in which calls waited for other threads.
  std::pair<uint64_t, double> stats() {
    filler_.hand_over(nyssa_table_fill, handle_.get());
    std::pair<uint64_t, double> stats;
    detail::call(nyssa_table_stats, handle_.get(), &stats.first, &stats.second);
    return stats;
  }
  // Commits the table, and returns its report as JSON. It has to come before the commit of the file.
  std::string commit() {
    filler_.hand_over(nyssa_table_fill, handle_.get());
    return detail::text(nyssa_table_commit, handle_.get());
  }

  nyssa_table *get() const { return handle_.get(); }
  void take(detail::Handle<nyssa_table> &handle) { handle_ = std::move(handle); }

private:
  detail::Filler<nyssa_table, Ts...> filler_;
  detail::Handle<nyssa_table> handle_;
};

// A file that is being written. It appears when it is committed; without a commit there is none.
class Writer {
public:
  // Starts a new file; see `nyssa_create`.
  explicit Writer(const std::string &url, const std::string &options = "", const Context *context = nullptr) {
    detail::call(nyssa_create, url.c_str(), options.c_str(), detail::get(context), handle_.place());
  }

  // Opens an existing file to add to it; see `nyssa_update`.
  static Writer update(const std::string &path, const std::string &options = "", const Context *context = nullptr) {
    Writer writer;
    detail::call(nyssa_update, path.c_str(), options.c_str(), detail::get(context), writer.handle_.place());
    return writer;
  }

  // Starts an RNTuple. Without options it has those of the file.
  template <class... Ts> Table<Ts...> table(const std::string &path, const NamedField<Ts> &...fields) {
    return table_with(path, nullptr, fields...);
  }
  template <class... Ts> Table<Ts...> table_with(const std::string &path, const char *options, const NamedField<Ts> &...fields) {
    const std::string defined = detail::definitions(fields...);
    nyssa_table *table = nullptr;
    detail::call(nyssa_writer_table, handle_.get(), path.c_str(), nullptr, defined.c_str(), options, &table);
    return Table<Ts...>(table);
  }

  // Goes on with an RNTuple, whose fields have these types in order.
  template <class... Ts> Table<Ts...> append(const std::string &path) {
    nyssa_table *table = nullptr;
    detail::call(nyssa_writer_append, handle_.get(), path.c_str(), nullptr, &table);
    return Table<Ts...>(table);
  }

  // Completes the file, and returns its size in bytes. Tables are committed before.
  uint64_t commit() {
    uint64_t bytes = 0;
    detail::call(nyssa_writer_commit, handle_.get(), &bytes);
    return bytes;
  }

  nyssa_writer *get() const { return handle_.get(); }

private:
  Writer() = default;

  detail::Handle<nyssa_writer> handle_;
};

} // namespace nyssa

#endif
