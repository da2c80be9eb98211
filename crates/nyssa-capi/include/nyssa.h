// The C interface of nyssa, which reads and writes RNTuples and TTrees of ROOT files without ROOT.
//
// Errors: every function that can fail returns a `nyssa_status`. If its last argument is not null, it also gives an error
// object there (null if there is none), which belongs to the caller. No exception and no panic leaves a function.
//
// Handles: contexts, datasets, writers, tables and fill contexts are handles, which `nyssa_close` closes. A handle that is
// null, closed or of another type is an error, `NYSSA_INVALID_ARGUMENT`. A handle belongs to the process that opened it, not
// to its forks.
//
// Ownership: texts at a `char **` belong to the caller, who frees them by `nyssa_text_free`; Arrow structs that functions
// give are released by their own `release`. What the caller gives is only used during the call, other than arrays to fill,
// which nyssa takes and releases. Texts are UTF-8 and end with a zero.
//
// Threads: any thread may call any function. Calls that use one table or one fill context run one after the other; all
// others run at the same time.
//
// Options: a text `name=value; name=value`, or an object of JSON; null means none. The names are the names of the command line, such
// as `cluster_size=50MB`. An unknown name is an error.
//
// This file is made of the Rust sources by cbindgen. Do not change it.


#ifndef NYSSA_H
#define NYSSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The Arrow C data and stream interfaces, as their specification prints them.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif

#ifdef __cplusplus
}
#endif


// The version of the interface: of the functions and their meaning. A program that was built with the number N in its
// header works with each library of the number N. See `nyssa_abi_version`.
#define NYSSA_ABI_VERSION 0

// What became of a call. `NYSSA_OK` is 0, all other values are errors. New values may be added.
typedef enum {
  // The call did what it should.
  NYSSA_OK = 0,
  // A file, dataset, column or field does not exist.
  NYSSA_NOT_FOUND = 1,
  // The caller requested something impossible: a null pointer, a closed handle, a wrong option, data that do not fit.
  NYSSA_INVALID_ARGUMENT = 2,
  // The output exists and must not be replaced.
  NYSSA_ALREADY_EXISTS = 3,
  // The file breaks its format's specification.
  NYSSA_OUT_OF_SPECIFICATION = 4,
  // The file is correct, but nyssa cannot read or write this.
  NYSSA_UNSUPPORTED = 5,
  // A stored checksum does not match the bytes.
  NYSSA_CHECKSUM = 6,
  // A memory budget or a safety limit was exceeded.
  NYSSA_LIMIT_EXCEEDED = 7,
  // The operating system or the network failed.
  NYSSA_IO = 8,
  // The work was cancelled by its context.
  NYSSA_CANCELLED = 9,
  // A bug in nyssa. Please report it.
  NYSSA_INTERNAL = 10,
} nyssa_status;

// The threads on which work is done, with its progress and its end. Where a function takes a context, null means all
// cores, no progress and no cancellation. Several calls may use one context at the same time.
typedef struct nyssa_context nyssa_context;

// An open RNTuple or TTree. Several threads may read it at the same time. It is closed by `nyssa_close`; what was read
// stays.
typedef struct nyssa_dataset nyssa_dataset;

// An error: whose fault it is, where, and what to do. It belongs to the caller: `nyssa_error_free`.
typedef struct nyssa_error nyssa_error;

// A part of the entries of a table, which one thread fills. Each thread has its own. It is of no use after its table is
// committed, or its writer is committed or closed.
typedef struct nyssa_fill_context nyssa_fill_context;

// An RNTuple or a TTree of a writer, which is filled from one thread at a time, or by fill contexts. It is of no use after
// its writer is committed or closed.
typedef struct nyssa_table nyssa_table;

// A file that is being written. It appears when it is committed. Several threads may use it at the same time.
typedef struct nyssa_writer nyssa_writer;

// A callback that gets what is done and the total, in bytes or entries, and `user` of the context. Threads of nyssa call
// it, never two at the same time. Of the functions that can fail it may call `nyssa_context_cancel` only; all others return
// `NYSSA_INVALID_ARGUMENT` in it. If it returns another number than 0, the context is cancelled as by
// `nyssa_context_cancel`.
typedef int32_t (*nyssa_progress)(void *user, uint64_t done, uint64_t total);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, such as `0.1.0`. The text is never freed.
const char *nyssa_version(void);

// Returns the `NYSSA_ABI_VERSION` of the library.
uint32_t nyssa_abi_version(void);

// Frees a text that a function has returned through a `char **`. Null is allowed.
//
// # Safety
// `text` is null, or such a text that is not freed.
void nyssa_text_free(char *text);

// Returns the kind of an error; `NYSSA_OK` for null.
//
// # Safety
// `error` is null, or an error that is not freed.
nyssa_status nyssa_error_status(const nyssa_error *error);

// Returns the message of an error, in UTF-8; an empty text for null. It lives as long as the error.
//
// # Safety
// `error` is null, or an error that is not freed.
const char *nyssa_error_message(const nyssa_error *error);

// Returns more about an error as JSON: `place` (file, object, field, column, cluster, page, basket, entry, offset; null
// where it is not known) and `suggestions` (the nearest names). It lives as long as the error.
//
// # Safety
// `error` is null, or an error that is not freed.
const char *nyssa_error_details(const nyssa_error *error);

// Frees an error. Null is allowed.
//
// # Safety
// `error` is null, or an error that is not freed.
void nyssa_error_free(nyssa_error *error);

// Closes a handle of any type: of a context, a dataset, a writer, a table or a fill context. Null and a handle that is
// closed already are allowed. A writer that is not committed leaves no file, and a fill context that is not committed
// makes its table fail if it has entries that are in no cluster. Calls that use the object in other threads end as if it
// were open. In a fork of the process that opened it, a handle stays, so that its unfinished file does.
void nyssa_close(const void *handle);

// Makes a context with so many threads; 0 means the value of the environment variable `NYSSA_NUM_THREADS`, else all cores.
//
// Errors: `NYSSA_INVALID_ARGUMENT` for more than 1024 threads.
//
// # Safety
// `progress` is null, or a function that any thread may call with `user` until `nyssa_close` of the context has returned,
// which waits for a callback that runs. `context` and `error` are null, or places for pointers.
nyssa_status nyssa_context_new(uint32_t threads,
                               nyssa_progress progress,
                               void *user,
                               nyssa_context **context,
                               nyssa_error **error);

// Cancels the work of a context: running calls end soon with `NYSSA_CANCELLED`, and later calls at once. With `cancelled`
// false, later calls work again. Any thread may call it, also a signal handler's thread.
//
// # Safety
// `error` is null, or a place for a pointer.
nyssa_status nyssa_context_cancel(const nyssa_context *context,
                                  bool cancelled,
                                  nyssa_error **error);

// Lists the RNTuples and TTrees of a file as JSON: an array of objects with `name` and `format`.
//
// `url` is a path, or a URL of `file`, `http`, `https`, `root` or `s3`. Options: the options of `nyssa_open`.
// Errors: `NYSSA_NOT_FOUND`, `NYSSA_IO`, and `NYSSA_OUT_OF_SPECIFICATION` for a file that is no ROOT file.
//
// # Safety
// `url` and `options` are texts (`options` may be null); `json` and `error` are null, or places for pointers. The text at
// `json` belongs to the caller.
nyssa_status nyssa_list(const char *url,
                        const char *options,
                        const nyssa_context *context,
                        char **json,
                        nyssa_error **error);

// Opens the dataset at `file.root:dir/Events`, or the only dataset of a file.
//
// `url` is a path, or a URL of `file`, `http`, `https`, `root` or `s3`. Options: `strings` (`utf8`: strings are Arrow's
// large_utf8 and text that is not UTF-8 is an error; `bytes`: they are large_binary), `cache` (a folder, or `none`),
// `cache_size`, `cache_as`, `cache_max_age`, `allow_other_files`.
// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_INVALID_ARGUMENT` if the object is no dataset, or if no object
// is named and the file has several datasets; `NYSSA_UNSUPPORTED`, `NYSSA_OUT_OF_SPECIFICATION` and `NYSSA_CHECKSUM` for
// what cannot be read; `NYSSA_IO`.
//
// # Safety
// `url` and `options` are texts (`options` may be null); `dataset` and `error` are null, or places for pointers.
nyssa_status nyssa_open(const char *url,
                        const char *options,
                        const nyssa_context *context,
                        nyssa_dataset **dataset,
                        nyssa_error **error);

// Opens `count` datasets as one, one after the other. RNTuples and TTrees can be mixed.
//
// Options: the options of `nyssa_open`, and `schema` (`first`: the columns of the first file, the default; `union`: all columns
// of all files; `intersection`: the columns that all files have; or columns with C++ types, `schema=pt=double`, which can be
// repeated), `missing` (what a column is where a file lacks it: `error`, `default` for zero or empty, or `null`; the default is
// `null` for a union and for columns with types, and otherwise `error`), `narrowing` (whether types may become narrower:
// integers are checked, doubles are rounded), `aliases=NEW=OLD` (an old name of a column or member; can be repeated).
// Errors: the errors of `nyssa_open`, and `NYSSA_INVALID_ARGUMENT` for options, and for columns that differ.
//
// # Safety
// `urls` has `count` texts; `options` is null or a text; `dataset` and `error` are null, or places for pointers.
nyssa_status nyssa_chain(const char *const *urls,
                         uintptr_t count,
                         const char *options,
                         const nyssa_context *context,
                         nyssa_dataset **dataset,
                         nyssa_error **error);

// Makes the dataset of the entries that pass a cut, such as `nMuon >= 2 && any(Muon_pt > 20)`. It may use the aliases of a
// TTree. The columns of the cut are read at once. The old dataset stays open, and may be closed.
//
// Errors: `NYSSA_INVALID_ARGUMENT` with the place where the cut is wrong; `NYSSA_NOT_FOUND` for a column that is missing;
// the errors of `nyssa_dataset_read`.
//
// # Safety
// `cut` is a text; `selected` and `error` are null, or places for pointers.
nyssa_status nyssa_dataset_select(const nyssa_dataset *dataset,
                                  const char *cut,
                                  const nyssa_context *context,
                                  nyssa_dataset **selected,
                                  nyssa_error **error);

// Opens an attribute set of an RNTuple as a dataset, with the columns `_rangeStart`, `_rangeLen` and `_userData`.
//
// Errors: `NYSSA_NOT_FOUND` if the dataset has no such set.
//
// # Safety
// `name` is a text; `attributes` and `error` are null, or places for pointers.
nyssa_status nyssa_dataset_attribute_set(const nyssa_dataset *dataset,
                                         const char *name,
                                         nyssa_dataset **attributes,
                                         nyssa_error **error);

// Gives the number of entries of a dataset.
//
// # Safety
// `entries` is null, or a place for a number; `error` is null, or a place for a pointer.
nyssa_status nyssa_dataset_entries(const nyssa_dataset *dataset,
                                   uint64_t *entries,
                                   nyssa_error **error);

// Describes a dataset as JSON: `name`, `format`, `file`, `entries`, `description`, `clusters` (pairs of the first entry
// and the end), `attribute_sets` (names), and `columns`: `name`, `type` (of C++), `title`, `arrow` (the Arrow type, or
// null) and `reason` (why it cannot be read, or null).
//
// # Safety
// `json` and `error` are null, or places for pointers. The text at `json` belongs to the caller.
nyssa_status nyssa_dataset_describe(const nyssa_dataset *dataset,
                                    char **json,
                                    nyssa_error **error);

// Gives the Arrow schema of `count` columns, or of all if `count` is 0: a struct whose children are the columns. A column is
// a name, a path such as `jets.pt`, a glob such as `Muon_*`, which stands for all columns that it matches, or an expression
// such as `Muon_pt * 2`, which may use the aliases of a TTree. The metadata `nyssa:type` of a field is its C++ type where the
// Arrow type does not say it; `nyssa:class` and `nyssa:version` are the class of its objects and the version in the file.
//
// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_INVALID_ARGUMENT` with the place where an expression is wrong; `NYSSA_UNSUPPORTED` for a column that cannot be read.
//
// # Safety
// `columns` has `count` texts. `schema` is null, or a place for a schema, which belongs to the caller; `error` is null, or
// a place for a pointer.
nyssa_status nyssa_dataset_schema(const nyssa_dataset *dataset,
                                  const char *const *columns,
                                  uintptr_t count,
                                  struct ArrowSchema *schema,
                                  nyssa_error **error);

// Reads `count` columns, as `nyssa_dataset_schema` takes them, or all if `count` is 0, of the entries from `start` up to
// `stop`, which is not included. The array is a struct whose children are the columns. Its buffers are those into which the
// file was decoded; they live until the array is released.
//
// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_INVALID_ARGUMENT` for a range beyond the entries, and for
// strings that are not UTF-8; `NYSSA_UNSUPPORTED`; `NYSSA_CHECKSUM`, `NYSSA_IO` and `NYSSA_OUT_OF_SPECIFICATION` with the
// place in the file; `NYSSA_CANCELLED`.
//
// # Safety
// `columns` has `count` texts. `array` is null, or a place for an array; `schema` is null, or a place for its schema. Both
// belong to the caller then. `error` is null, or a place for a pointer.
nyssa_status nyssa_dataset_read(const nyssa_dataset *dataset,
                                const char *const *columns,
                                uintptr_t count,
                                uint64_t start,
                                uint64_t stop,
                                const nyssa_context *context,
                                struct ArrowSchema *schema,
                                struct ArrowArray *array,
                                nyssa_error **error);

// Reads columns as `nyssa_dataset_read` does, for `indices_count` entries in any order, which can be repeated. Only the
// pages that hold them are read.
//
// Errors: the errors of `nyssa_dataset_read`.
//
// # Safety
// `columns` has `count` texts, and `indices` has `indices_count` numbers. `array` is null, or a place for an array; `schema`
// is null, or a place for its schema. Both belong to the caller then. `error` is null, or a place for a pointer.
nyssa_status nyssa_dataset_take(const nyssa_dataset *dataset,
                                const char *const *columns,
                                uintptr_t count,
                                const uint64_t *indices,
                                uintptr_t indices_count,
                                const nyssa_context *context,
                                struct ArrowSchema *schema,
                                struct ArrowArray *array,
                                nyssa_error **error);

// Reads columns as `nyssa_dataset_read` does, in batches. Threads read the next batch while the caller works on the one
// before. The dataset may be closed meanwhile.
//
// Options: `entries` (of a batch) or `memory` (of the batches and what reads them, such as `100MB`); without them, a batch
// is a cluster.
// Errors: the errors of `nyssa_dataset_schema`; `NYSSA_INVALID_ARGUMENT` for options. `nyssa_stream_error` gives the errors
// of the stream.
//
// # Safety
// `columns` has `count` texts; `options` is null, or a text. `stream` is null, or a place for a stream, which belongs to
// the caller: one thread at a time may use it. `error` is null, or a place for a pointer.
nyssa_status nyssa_dataset_stream(const nyssa_dataset *dataset,
                                  const char *const *columns,
                                  uintptr_t count,
                                  uint64_t start,
                                  uint64_t stop,
                                  const char *options,
                                  const nyssa_context *context,
                                  struct ArrowArrayStream *stream,
                                  nyssa_error **error);

// Gives as JSON what was opened and read: for a dataset, or, if it is null, by the process. Times are in seconds, sizes in
// bytes.
//
// # Safety
// `json` and `error` are null, or places for pointers. The text at `json` belongs to the caller.
nyssa_status nyssa_io_stats(const nyssa_dataset *dataset,
                            char **json,
                            nyssa_error **error);

// Gives the error of the last call of a stream of `nyssa_dataset_stream`, and returns its kind; `NYSSA_OK` if the call
// did not fail. The thread that uses the stream calls it. The functions of the stream return the number of `errno.h` that is
// nearest to the kind, and the message at `get_last_error`.
//
// Errors: the errors of `nyssa_dataset_read`; `NYSSA_INVALID_ARGUMENT` for another stream, and for one that is released.
//
// # Safety
// `stream` is null, or a stream; `error` is null, or a place for a pointer.
nyssa_status nyssa_stream_error(struct ArrowArrayStream *stream,
                                nyssa_error **error);

// Starts a new file at a path or URL. It appears under its name when `nyssa_writer_commit` returns.
//
// Options: `force` (replace an existing file then), and the defaults of its tables: `compression`, `effort`, `encoding`,
// `profile`, `field_options`, `cluster_size`, `max_unzipped_cluster_size`, `page_size`, `initial_page_size`,
// `page_buffer_budget`, `buffered`, `checksums`, `same_page_merging`, `memory`, `fill_contexts`, `fill_order`,
// `description`. Sizes are in bytes, or have a unit: `50MB`.
// Errors: `NYSSA_ALREADY_EXISTS` without `force`; `NYSSA_UNSUPPORTED` for the scheme of a URL; `NYSSA_INVALID_ARGUMENT` for
// options; `NYSSA_IO`.
//
// # Safety
// `url` and `options` are texts (`options` may be null); `out` and `error` are null, or places for pointers.
nyssa_status nyssa_create(const char *url,
                          const char *options,
                          const nyssa_context *context,
                          nyssa_writer **out,
                          nyssa_error **error);

// Opens a local file to add RNTuples, TTrees and entries to it. Other programs see the old file until the writer is committed; a
// crash leaves the old file.
//
// Options: the options of `nyssa_create`, without `force`.
// Errors: `NYSSA_IO` when the file cannot be written, or when another program writes to it; the errors of a damaged file.
//
// # Safety
// `path` and `options` are texts (`options` may be null); `out` and `error` are null, or places for pointers.
nyssa_status nyssa_update(const char *path,
                          const char *options,
                          const nyssa_context *context,
                          nyssa_writer **out,
                          nyssa_error **error);

// Starts an RNTuple, or with the option `format=ttree` a TTree, at a path in the file. Its fields come from an Arrow schema,
// from `definitions`, or from both.
//
// `definitions` is an object of JSON. `fields` has names and C++ types in order: `{"pt": "std::vector<float>", "jet":
// "Jet"}`. `classes` has the classes that the types use: `{"Jet": {":bases": ["Base"], ":version": 2, "pt": "float"},
// "Color": {":enum": "short"}, "Hits": {":items": "Hit"}, "Track": {":streamed": "file.root"}}`; a file has the streamer
// infos of classes whose objects are bytes. A field of the schema is of a class if its metadata `nyssa:type` names it.
// Options of an RNTuple: the options of `nyssa_create` without `force`; without options, the options of the writer. Options
// of a TTree: `title`, `basket_size` (bytes), `auto_flush` (entries, or a size such as `30MB`), `optimize_baskets`,
// `branch_options`, `counters=GLOB:NAME`, `leaf_lists=GLOB`, `vectors=GLOB`, `split_level`, `aliases=NAME=FORMULA`,
// `user_info=NAME=TEXT`, which can be repeated or be arrays in JSON, and `compression`, `effort`, `fill_contexts` and
// `fill_order`, which are otherwise the options of the writer.
// Errors: `NYSSA_INVALID_ARGUMENT` for names, types or options, and when the file has that path; `NYSSA_UNSUPPORTED` with
// the field that the format cannot store; `NYSSA_LIMIT_EXCEEDED` if the memory is too small for the columns.
//
// # Safety
// `path`, `definitions` and `options` are texts (the last two may be null). `schema` is null, or a schema, which stays with
// the caller. `table` and `error` are null, or places for pointers.
nyssa_status nyssa_writer_table(const nyssa_writer *writer,
                                const char *path,
                                const struct ArrowSchema *schema,
                                const char *definitions,
                                const char *options,
                                nyssa_table **table,
                                nyssa_error **error);

// Goes on with the RNTuple or the TTree at a path of an existing file, in its encodings. Options: the options of
// `nyssa_writer_table`. An index of a TTree (`TTree::BuildIndex`) is left out of the new file, as
// `notes` of the report of `nyssa_table_commit` say.
//
// Errors: `NYSSA_NOT_FOUND`; `NYSSA_INVALID_ARGUMENT` if the writer is not of `nyssa_update`; `NYSSA_UNSUPPORTED` for
// columns of unknown types, and for a TTree to which no baskets can be added. After an error, the table can be appended
// again.
//
// # Safety
// `path` and `options` are texts (`options` may be null); `table` and `error` are null, or places for pointers.
nyssa_status nyssa_writer_append(const nyssa_writer *writer,
                                 const char *path,
                                 const char *options,
                                 nyssa_table **table,
                                 nyssa_error **error);

// Commits all tables that are not committed, and completes the file, which then appears under its name. Gives its size in
// bytes, if `bytes` is not null.
//
// Errors: the errors of filling; `NYSSA_ALREADY_EXISTS`; `NYSSA_IO`. After an error there is no file, or the old one.
//
// # Safety
// `bytes` is null, or a place for a number; `error` is null, or a place for a pointer.
nyssa_status nyssa_writer_commit(const nyssa_writer *writer,
                                 uint64_t *bytes,
                                 nyssa_error **error);

// Gives the Arrow schema of the rows of a table: what `nyssa_table_fill` takes without a schema.
//
// Errors: `NYSSA_UNSUPPORTED` for a field of an RNTuple of `nyssa_writer_append` that has no Arrow type.
//
// # Safety
// `schema` is null, or a place for a schema, which belongs to the caller; `error` is null, or a place for a pointer.
nyssa_status nyssa_table_schema(const nyssa_table *table,
                                struct ArrowSchema *schema,
                                nyssa_error **error);

// Appends entries: a struct array whose children are the fields. With its schema, fields are found by name, and types that
// hold the same values are taken, too (32-bit offsets, utf8). Without, the array is as `nyssa_table_schema` says. The array
// is released by nyssa, even after an error. Other threads encode, compress and write the entries; the call waits if they
// have no memory for more.
//
// Errors: `NYSSA_INVALID_ARGUMENT` for an array that does not fit, of which no entry is written then, and once the table
// has fill contexts; `NYSSA_CANCELLED`; `NYSSA_IO`, which may come from earlier entries.
//
// # Safety
// `array` is an array of the Arrow C data interface with the buffers that its schema says; `schema` is null, or that
// schema, which stays with the caller. `error` is null, or a place for a pointer.
nyssa_status nyssa_table_fill(const nyssa_table *table,
                              struct ArrowArray *array,
                              const struct ArrowSchema *schema,
                              nyssa_error **error);

// Ends the open cluster of a table that has no fill contexts.
//
// Errors: the errors of filling.
//
// # Safety
// `error` is null, or a place for a pointer.
nyssa_status nyssa_table_flush(const nyssa_table *table, nyssa_error **error);

// Adds fields, as `nyssa_writer_table` takes them. Earlier entries have zeros and empty collections there, or, for a table
// of `nyssa_writer_append` without new entries, the values of `array` (one for each entry), if it is not null. It is as the
// schema says, or, without a schema, as the definitions say, and is released by nyssa. Fill contexts see the fields from
// their first rows on that have them; rows before may leave them out. A TTree that has entries needs their values, and takes no fields once it has fill
// contexts.
//
// Errors: the errors of `nyssa_writer_table` and of filling; `NYSSA_INVALID_ARGUMENT` for another number of values than
// entries.
//
// # Safety
// `schema` is null, or a schema, which stays with the caller; `definitions` is null, or a text; `array` is null, or an array
// of the Arrow C data interface with the buffers that the schema or the definitions say. `error` is null, or a place for a
// pointer.
nyssa_status nyssa_table_add_fields(const nyssa_table *table,
                                    const struct ArrowSchema *schema,
                                    const char *definitions,
                                    struct ArrowArray *array,
                                    nyssa_error **error);

// Begins an attribute set of an RNTuple, before it has fill contexts. Its rows have the fields of an Arrow schema.
//
// Errors: `NYSSA_INVALID_ARGUMENT` for a name or a schema that cannot be written, and for a TTree.
//
// # Safety
// `set` is a text; `schema` is a schema, which stays with the caller; `error` is null, or a place for a pointer.
nyssa_status nyssa_table_attribute_set(const nyssa_table *table,
                                       const char *set,
                                       const struct ArrowSchema *schema,
                                       nyssa_error **error);

// Appends `count` attributes: ranges of entries by their first entries and numbers of entries, and a row for each.
//
// Errors: `NYSSA_NOT_FOUND` for a set that is not begun; the errors of filling.
//
// # Safety
// `set` is a text; `starts` and `lengths` have `count` numbers. `array` is an array of the Arrow C data interface with the
// buffers that `schema` says, and has the columns of the set in their order. The schema stays with the caller. `error` is
// null, or a place for a pointer.
nyssa_status nyssa_table_fill_attributes(const nyssa_table *table,
                                         const char *set,
                                         const uint64_t *starts,
                                         const uint64_t *lengths,
                                         uintptr_t count,
                                         struct ArrowArray *array,
                                         const struct ArrowSchema *schema,
                                         nyssa_error **error);

// Gives the number of entries of a table, and the time in seconds in which `nyssa_table_fill` waited for other threads.
// It is 0 once there are fill contexts, which tell their own time.
//
// # Safety
// `entries` and `stalled` are null, or places for numbers; `error` is null, or a place for a pointer.
nyssa_status nyssa_table_stats(const nyssa_table *table,
                               uint64_t *entries,
                               double *stalled,
                               nyssa_error **error);

// Commits a table: writes its remaining entries, its attribute sets and its fill contexts. The handle is of no use
// then. The report is an object of JSON: `entries`, `clusters`, `uncompressed_bytes`, `compressed_bytes`, and `pages` and
// `shared_pages` of an RNTuple or `baskets` of a TTree, with `notes` on parts of an existing TTree that are left out.
//
// Errors: the errors of filling; `NYSSA_INVALID_ARGUMENT` when an attribute has a range that is not in the RNTuple.
//
// # Safety
// `report` and `error` are null, or places for pointers; without a place there is no report. The text at `report` belongs to
// the caller.
nyssa_status nyssa_table_commit(const nyssa_table *table,
                                char **report,
                                nyssa_error **error);

// Makes a fill context of a table. From then on, fill contexts give its entries, and nothing else does. There are at most
// so many at a time as the option `fill_contexts` says; the default is the number of threads.
//
// Errors: `NYSSA_INVALID_ARGUMENT` for more contexts, and after an error.
//
// # Safety
// `context` and `error` are null, or places for pointers.
nyssa_status nyssa_table_fill_context(const nyssa_table *table,
                                      nyssa_fill_context **context,
                                      nyssa_error **error);

// Appends entries, as `nyssa_table_fill` does. Each thread has a fill context of its own.
//
// Errors: the errors of `nyssa_table_fill`. After another error than `NYSSA_INVALID_ARGUMENT` all contexts of the table fail.
//
// # Safety
// `array` is an array of the Arrow C data interface with the buffers that its schema says; `schema` is null, or that
// schema, which stays with the caller. `error` is null, or a place for a pointer.
nyssa_status nyssa_fill_context_fill(const nyssa_fill_context *context,
                                     struct ArrowArray *array,
                                     const struct ArrowSchema *schema,
                                     nyssa_error **error);

// Ends the open cluster of a fill context.
//
// Errors: the errors of filling.
//
// # Safety
// `error` is null, or a place for a pointer.
nyssa_status nyssa_fill_context_flush(const nyssa_fill_context *context, nyssa_error **error);

// Gives the time in seconds in which calls of a fill context waited for other threads.
//
// # Safety
// `stalled` is null, or a place for a number; `error` is null, or a place for a pointer.
nyssa_status nyssa_fill_context_stats(const nyssa_fill_context *context,
                                      double *stalled,
                                      nyssa_error **error);

// Commits the remaining entries of a fill context and ends it. A table commits its open fill contexts, too.
//
// Errors: the errors of filling.
//
// # Safety
// `error` is null, or a place for a pointer.
nyssa_status nyssa_fill_context_commit(const nyssa_fill_context *context,
                                       nyssa_error **error);

// Ends a fill context and discards its entries that are in no cluster. Gives their number, if `discarded` is not null.
//
// Errors: `NYSSA_INVALID_ARGUMENT` after an error.
//
// # Safety
// `discarded` is null, or a place for a number; `error` is null, or a place for a pointer.
nyssa_status nyssa_fill_context_discard(const nyssa_fill_context *context,
                                        uint64_t *discarded,
                                        nyssa_error **error);

// Converts the TTrees of a file to RNTuples, or back with the option `to=ttree`. `file.root:Events` means one of them. The
// output appears when it is complete.
//
// Options: the options of `nyssa convert`, such as `compression`, `cluster_size`, `verify`, `force`, `entries=0:100`. The report
// is an array of objects of JSON, one for each dataset.
// Errors: `NYSSA_NOT_FOUND` for the input; `NYSSA_INVALID_ARGUMENT` for options or an output that are not allowed;
// `NYSSA_ALREADY_EXISTS`; `NYSSA_UNSUPPORTED` with all branches or fields that cannot be converted; `NYSSA_CANCELLED`; the
// errors of reading.
//
// # Safety
// `input`, `output` and `options` are texts (`options` may be null); `report` and `error` are null, or places for pointers.
// Without a place there is no report. The text at `report` belongs to the caller.
nyssa_status nyssa_convert(const char *input,
                           const char *output,
                           const char *options,
                           const nyssa_context *context,
                           char **report,
                           nyssa_error **error);

// Writes an RNTuple or a TTree again, with other compression, clusters, column types, fields or entries.
//
// Options: the options of `nyssa rewrite`, such as `compression`, `include`, `exclude`, `cut`, `entries=0:100`, `verify`. The
// report is an object of JSON.
// Errors: `NYSSA_NOT_FOUND` for the dataset, and for patterns without a field; `NYSSA_INVALID_ARGUMENT` for options or an
// output that are not allowed; `NYSSA_ALREADY_EXISTS`; `NYSSA_UNSUPPORTED` with all fields that cannot be read;
// `NYSSA_CANCELLED`; the errors of reading.
//
// # Safety
// `input`, `output` and `options` are texts (`options` may be null); `report` and `error` are null, or places for pointers.
// Without a place there is no report. The text at `report` belongs to the caller.
nyssa_status nyssa_rewrite(const char *input,
                           const char *output,
                           const char *options,
                           const nyssa_context *context,
                           char **report,
                           nyssa_error **error);

// Merges `count` files. Pages of RNTuples and baskets of TTrees are copied without decompressing them; histograms are
// added.
//
// Options: the options of `nyssa merge`, such as `union=true`, `filter=true`, `recluster=50MB`, `force`. The report is an object
// of JSON.
// Errors: `NYSSA_INVALID_ARGUMENT` with the first field that differs, if the options do not allow it;
// `NYSSA_ALREADY_EXISTS`; `NYSSA_CHECKSUM` with the page; `NYSSA_CANCELLED`; the errors of reading.
//
// # Safety
// `inputs` has `count` texts; `output` and `options` are texts (`options` may be null); `report` and `error` are null, or
// places for pointers. Without a place there is no report. The text at `report` belongs to the caller.
nyssa_status nyssa_merge(const char *const *inputs,
                         uintptr_t count,
                         const char *output,
                         const char *options,
                         const nyssa_context *context,
                         char **report,
                         nyssa_error **error);

// Checks everything in a file, or in one of its objects (`file.root:Events`): every checksum, every rule of the formats,
// every value. What is wrong is in the report, an object of JSON, whose `problems` are empty for a sound file.
//
// Errors: `NYSSA_NOT_FOUND`, `NYSSA_IO` and `NYSSA_CANCELLED`.
//
// # Safety
// `url` is a text; `report` and `error` are null, or places for pointers. The text at `report` belongs to the caller.
nyssa_status nyssa_verify(const char *url,
                          const nyssa_context *context,
                          char **report,
                          nyssa_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* NYSSA_H */
