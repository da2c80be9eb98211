// Writing: files, tables of objects, and fill contexts.

#ifndef NYSSA_WRITER_HPP
#define NYSSA_WRITER_HPP

#include <nyssa/streamed.hpp>

#include <atomic>
#include <memory>

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

// Counts the tables and fill contexts of a table, or of a file, with rows that are not handed over.
struct Waiting {
  std::atomic<int> count{0};
  std::shared_ptr<Waiting> file;

  void add(int change) {
    count += change;
    if (file)
      file->add(change);
  }
  // Refuses a commit without these rows.
  void check() const {
    if (count != 0)
      refuse("a table or a fill context has entries that are not committed, or lost entries by an error");
  }
};

// A handle, and rows for it, which are handed over to a function of `nyssa.h`.
template <class Opaque, class... Ts> class Filler {
public:
  using Function = nyssa_status (*)(const Opaque *, ArrowArray *, const ArrowSchema *, nyssa_error **);

  Filler(Function function, Handle<Opaque> &&handle, std::shared_ptr<Waiting> waiting)
      : function_(function), handle_(std::move(handle)), waiting_(std::move(waiting)) {}
  Filler(Filler &&) = delete;
  ~Filler() {
    try {
      hand_over();
    } catch (...) {
      // The rows stay counted, so that no commit goes without them.
    }
  }

  void fill(const Ts &...values) {
    begin();
    rows_.append(values...);
    is_sound_ = true;
    if (rows_.is_full())
      hand_over();
  }
  void hand_over() {
    if (!waits_)
      return;
    begin();
    ArrowArray array = rows_.take();
    call(function_, handle_.get(), &array, nullptr);
    is_sound_ = true;
    waits_ = false;
    waiting_->add(-1);
  }
  Handle<Opaque> &handle() { return handle_; }
  const std::shared_ptr<Waiting> &waiting() const { return waiting_; }

private:
  // Begins what may fail. After a failure columns may differ in length, or rows are lost.
  void begin() {
    if (!is_sound_)
      refuse("an entry could not be filled, so that the table is of no use");
    if (!waits_)
      waiting_->add(1);
    waits_ = true;
    is_sound_ = false;
  }

  Function function_;
  Handle<Opaque> handle_;
  std::shared_ptr<Waiting> waiting_;
  Rows<Ts...> rows_;
  bool waits_ = false;
  bool is_sound_ = true;
};

// A filler that moves.
template <class Opaque, class... Ts> class Filling {
public:
  template <class... Arguments>
  explicit Filling(Arguments &&...arguments)
      : filler_(std::make_unique<Filler<Opaque, Ts...>>(std::forward<Arguments>(arguments)...)) {}
  Filler<Opaque, Ts...> *operator->() const {
    if (!filler_)
      refuse("the table or fill context was moved away");
    return filler_.get();
  }
  void reset() { filler_.reset(); }

private:
  std::unique_ptr<Filler<Opaque, Ts...>> filler_;
};

} // namespace detail

// A field of a table: its name and its C++ type.
template <class T> struct NamedField {
  std::string name;
};

// Makes a field.
template <class T> NamedField<T> field(std::string name) { return {std::move(name)}; }

namespace detail {

// Defines the classes of a field, and returns its type.
template <class T> std::string define(Definitions &all, const NamedField<T> &) {
  Field<T>::define(all);
  return Field<T>::type();
}
inline std::string define(Definitions &all, const NamedField<Streamed> &field) {
  if (all.begin(field.class_name))
    all.add(field.class_name, "\":streamed\":" + Definitions::quoted(field.infos));
  return field.class_name;
}

// Returns fields and their classes, as `nyssa_writer_table` takes them.
template <class... Ts> std::string definitions(const NamedField<Ts> &...fields) {
  Definitions all;
  std::string named;
  ((named += (named.empty() ? "" : ",") + Definitions::quoted(fields.name) + ":" + Definitions::quoted(define(all, fields))), ...);
  return "{\"fields\":{" + named + "},\"classes\":{" + all.json() + "}}";
}

} // namespace detail

// The entries of one thread. Each thread has its own, and commits it.
template <class... Ts> class FillContext {
public:
  FillContext(const nyssa_table *table, std::shared_ptr<detail::Waiting> waiting)
      : filler_(nyssa_fill_context_fill, open(table), std::move(waiting)) {}

  // Appends an entry. If it fails, the table is of no use.
  void fill(const Ts &...values) { filler_->fill(values...); }
  // Ends the open cluster.
  void flush() {
    filler_->hand_over();
    detail::call(nyssa_fill_context_flush, filler_->handle().get());
  }
  // The seconds in which calls waited for other threads.
  double stalled() const {
    double seconds = 0;
    detail::call(nyssa_fill_context_stats, filler_->handle().get(), &seconds);
    return seconds;
  }
  // Commits the remaining entries. Without it, the table fails if entries are lost.
  void commit() {
    filler_->hand_over();
    detail::call(nyssa_fill_context_commit, filler_->handle().get());
  }

private:
  static detail::Handle<nyssa_fill_context> open(const nyssa_table *table) {
    detail::Handle<nyssa_fill_context> handle;
    detail::call(nyssa_table_fill_context, table, handle.place());
    return handle;
  }

  detail::Filling<nyssa_fill_context, Ts...> filler_;
};

// An RNTuple or a TTree that is being written, with a value for each field in each entry.
template <class... Ts> class Table {
public:
  Table(detail::Handle<nyssa_table> &&handle, std::shared_ptr<detail::Waiting> waiting)
      : filler_(nyssa_table_fill, std::move(handle), std::move(waiting)) {}

  // Appends an entry. If it fails, the table is of no use.
  void fill(const Ts &...values) { filler_->fill(values...); }
  // Ends the open cluster.
  void flush() {
    filler_->hand_over();
    detail::call(nyssa_table_flush, get());
  }
  // Makes the entries of a thread. From then on, only fill contexts give entries.
  FillContext<Ts...> context() {
    filler_->hand_over();
    return FillContext<Ts...>(get(), filler_->waiting());
  }
  // Adds fields. Later entries have them, and earlier entries have zeros. Use the table that is returned; this one is empty then.
  template <class... More> Table<Ts..., More...> with(const NamedField<More> &...fields) {
    filler_->hand_over();
    const std::string late = detail::definitions(fields...);
    detail::call(nyssa_table_add_fields, get(), nullptr, late.c_str(), nullptr);
    Table<Ts..., More...> wider(std::move(filler_->handle()), filler_->waiting());
    filler_.reset();
    return wider;
  }
  // The number of entries, and the seconds in which fills waited for other threads, until there are fill contexts.
  std::pair<uint64_t, double> stats() {
    filler_->hand_over();
    std::pair<uint64_t, double> stats;
    detail::call(nyssa_table_stats, get(), &stats.first, &stats.second);
    return stats;
  }
  // Commits the table, and returns its report as JSON. Its fill contexts and it come before the file.
  std::string commit() {
    filler_->hand_over();
    filler_->waiting()->check();
    return detail::text(nyssa_table_commit, get());
  }

  nyssa_table *get() const { return filler_->handle().get(); }

private:
  detail::Filling<nyssa_table, Ts...> filler_;
};

// A file that is being written. It appears when it is committed; without a commit there is none.
class Writer {
public:
  // Starts a new file; see `nyssa_create`.
  explicit Writer(const std::string &url, const std::string &options = "", const Context *context = nullptr) {
    detail::call(nyssa_create, url.c_str(), options.c_str(), context, handle_.place());
  }

  // Opens an existing file to add to it; see `nyssa_update`.
  static Writer update(const std::string &path, const std::string &options = "", const Context *context = nullptr) {
    Writer writer;
    detail::call(nyssa_update, path.c_str(), options.c_str(), context, writer.handle_.place());
    return writer;
  }

  // Starts an RNTuple. Without options it has the options of the file; with the option `format=ttree` it is a TTree.
  template <class... Ts> Table<Ts...> table(const std::string &path, const NamedField<Ts> &...fields) {
    return table_with(path, nullptr, fields...);
  }
  template <class... Ts> Table<Ts...> table_with(const std::string &path, const char *options, const NamedField<Ts> &...fields) {
    const std::string defined = detail::definitions(fields...);
    detail::Handle<nyssa_table> table;
    detail::call(nyssa_writer_table, handle_.get(), path.c_str(), nullptr, defined.c_str(), options, table.place());
    check_rows<Ts...>(table.get(), path);
    return Table<Ts...>(std::move(table), waiting());
  }

  // Goes on with an RNTuple or a TTree, whose fields have these types in order, with all members in the order of the file.
  template <class... Ts> Table<Ts...> append(const std::string &path) {
    detail::Handle<nyssa_table> table;
    detail::call(nyssa_writer_append, handle_.get(), path.c_str(), nullptr, table.place());
    check_rows<Ts...>(table.get(), path);
    return Table<Ts...>(std::move(table), waiting());
  }

  // Completes the file, and returns its size in bytes. Tables with entries are committed before.
  uint64_t commit() {
    if (!waiting_)
      detail::refuse("the writer was moved away");
    waiting_->check();
    uint64_t bytes = 0;
    detail::call(nyssa_writer_commit, handle_.get(), &bytes);
    return bytes;
  }

  nyssa_writer *get() const { return handle_.get(); }

private:
  Writer() = default;

  // Checks that the rows of a table are of these types.
  template <class... Ts> static void check_rows(const nyssa_table *table, const std::string &path) {
    detail::Arrow<ArrowSchema> schema;
    detail::call(nyssa_table_schema, table, schema.get());
    if (schema.get()->n_children != sizeof...(Ts))
      detail::refuse(path + " has " + std::to_string(schema.get()->n_children) + " fields, but " +
                     std::to_string(sizeof...(Ts)) + " types are given");
    detail::View rows(nullptr, schema.get());
    detail::TupleOf<Ts...>::bind(rows);
    rows.check_all();
  }

  // The rows of a table, which are also rows of the file.
  std::shared_ptr<detail::Waiting> waiting() const {
    auto table = std::make_shared<detail::Waiting>();
    table->file = waiting_;
    return table;
  }

  detail::Handle<nyssa_writer> handle_;
  std::shared_ptr<detail::Waiting> waiting_ = std::make_shared<detail::Waiting>();
};

} // namespace nyssa

#endif
