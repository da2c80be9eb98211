// Calls every function of nyssa.h, rightly and wrongly: FOLDER

#define _POSIX_C_SOURCE 200809L

#include <nyssa.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static nyssa_error *error = NULL;

// Ends the program if a call did not return `wanted`, or its message lacks `text`.
static void check(int line, nyssa_status wanted, const char *text, nyssa_status got) {
  const char *message = nyssa_error_message(error);
  if (got != wanted || nyssa_error_status(error) != wanted || !strstr(message, text)) {
    fprintf(stderr, "line %d: status %d, not %d: %s, not %s\n", line, (int)got, (int)wanted, message, text);
    exit(1);
  }
  nyssa_error_free(error);
  error = NULL;
}

#define OK(call) check(__LINE__, NYSSA_OK, "", call)
#define WRONG(text, call) check(__LINE__, NYSSA_INVALID_ARGUMENT, text, call)
#define FAILS(status, text, call) check(__LINE__, status, text, call)
#define EXPECT(condition)                                                                                                       \
  do {                                                                                                                          \
    if (!(condition)) {                                                                                                         \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                                   \
      exit(1);                                                                                                                  \
    }                                                                                                                           \
  } while (0)

// An array with a column of int32.
typedef struct {
  int32_t values[4];
  const void *buffers[2];
  struct ArrowArray child;
  struct ArrowArray *children[1];
} Numbers;

static void release_child(struct ArrowArray *array) { array->release = NULL; }

static void release_numbers(struct ArrowArray *array) {
  if (array->children[0]->release)
    array->children[0]->release(array->children[0]);
  free(array->private_data);
  array->release = NULL;
}

// Returns `count` rows, which count from `first`.
static struct ArrowArray rows(int32_t first, int64_t count) {
  static const void *no_buffers[1] = {NULL};
  Numbers *numbers = calloc(1, sizeof(Numbers));
  for (int32_t at = 0; at < count; ++at)
    numbers->values[at] = first + at;
  numbers->buffers[1] = numbers->values;
  numbers->child.length = count;
  numbers->child.n_buffers = 2;
  numbers->child.buffers = numbers->buffers;
  numbers->child.release = release_child;
  numbers->children[0] = &numbers->child;
  struct ArrowArray array;
  memset(&array, 0, sizeof array);
  array.length = count;
  array.n_buffers = 1;
  array.buffers = no_buffers;
  array.n_children = 1;
  array.children = numbers->children;
  array.release = release_numbers;
  array.private_data = numbers;
  return array;
}

// Fills 3 rows, of which there are 30 in the end.
static void *fill(void *table) {
  for (int i = 0; i < 5; ++i) {
    struct ArrowArray array = rows(0, 3);
    if (nyssa_table_fill(table, &array, NULL, NULL) != NYSSA_OK)
      return table;
  }
  return NULL;
}

static const char *fields = "{\"fields\": {\"n\": \"std::int32_t\"}}";
static const char *late = "{\"fields\": {\"late\": \"std::int32_t\"}}";

// Writes an RNTuple with an attribute set, late fields and fill contexts.
static void write_ntuple(const char *path) {
  nyssa_writer *file = NULL;
  nyssa_table *table = NULL;
  nyssa_fill_context *context = NULL, *other = NULL;
  struct ArrowSchema schema;
  uint64_t entries = 0, bytes = 0, start = 0, length = 2;
  double stalled = -1;
  char *report = NULL;
  struct ArrowArray array;
  OK(nyssa_create(path, "compression=lz4; memory=200MB; fill_contexts=1", NULL, &file, &error));
  WRONG("format", nyssa_writer_table(file, "Events", NULL, fields, "format=csv", &table, &error));
  WRONG("float32", nyssa_writer_table(file, "Events", NULL, "{\"fields\": {\"x\": \"float32\"}}", NULL, &table, &error));
  FAILS(NYSSA_LIMIT_EXCEEDED, "memory", nyssa_writer_table(file, "Events", NULL, fields, "memory=1MiB; compression=zstd:5", &table, &error));
  OK(nyssa_writer_table(file, "Events", NULL, fields, NULL, &table, &error));
  WRONG("already", nyssa_writer_table(file, "Events", NULL, fields, NULL, &table, &error));
  // A fork can do nothing with the file, which stays.
  int ends[2];
  char done = 0;
  EXPECT(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    WRONG("fork", nyssa_table_flush(table, &error));
    nyssa_close(file);
    done = 1;
    _exit(write(ends[1], &done, 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  // A memory checker changes the status of the fork, whose threads are gone.
  EXPECT(read(ends[0], &done, 1) == 1 && done && waitpid(child, NULL, 0) == child);
  close(ends[0]);
  WRONG("nyssa_update", nyssa_writer_append(file, "Events", NULL, &table, &error));
  OK(nyssa_table_schema(table, &schema, &error));
  array = rows(0, 2);
  OK(nyssa_table_fill(table, &array, &schema, &error));
  EXPECT(!array.release);
  WRONG("released", nyssa_table_fill(table, &array, &schema, &error));
  array = rows(0, 2);
  array.children[0]->length = 1;
  WRONG("has 2 values", nyssa_table_fill(table, &array, NULL, &error));
  array = rows(0, 2);
  array.children[0]->n_buffers = 1;
  WRONG("has 2 buffers", nyssa_table_fill(table, &array, NULL, &error));
  array = rows(0, 2);
  array.length = -1;
  WRONG("has a length of -1", nyssa_table_fill(table, &array, NULL, &error));
  array = rows(0, 2);
  array.n_children = 0;
  WRONG("0 columns", nyssa_table_fill(table, &array, &schema, &error));
  OK(nyssa_table_flush(table, &error));
  OK(nyssa_table_attribute_set(table, "runs", &schema, &error));
  array = rows(7, 1);
  OK(nyssa_table_fill_attributes(table, "runs", &start, &length, 1, &array, &schema, &error));
  array = rows(7, 1);
  FAILS(NYSSA_NOT_FOUND, "luns", nyssa_table_fill_attributes(table, "luns", &start, &length, 1, &array, &schema, &error));
  OK(nyssa_table_fill_context(table, &context, &error));
  WRONG("fill_contexts", nyssa_table_fill_context(table, &other, &error));
  WRONG("fill contexts", nyssa_table_flush(table, &error));
  array = rows(2, 2);
  OK(nyssa_fill_context_fill(context, &array, NULL, &error));
  OK(nyssa_fill_context_flush(context, &error));
  array = rows(9, 1);
  OK(nyssa_fill_context_fill(context, &array, &schema, &error));
  OK(nyssa_fill_context_stats(context, &stalled, &error));
  EXPECT(stalled >= 0);
  OK(nyssa_fill_context_discard(context, &entries, &error));
  EXPECT(entries == 1);
  WRONG("nyssa_table_fill_context", nyssa_fill_context_flush(context, &error));
  nyssa_close(context);
  OK(nyssa_table_fill_context(table, &context, &error));
  array = rows(4, 1);
  OK(nyssa_fill_context_fill(context, &array, NULL, &error));
  OK(nyssa_fill_context_commit(context, &error));
  nyssa_close(context);
  OK(nyssa_table_stats(table, &entries, &stalled, &error));
  EXPECT(entries == 5);
  // A table commits the contexts that are open.
  OK(nyssa_table_fill_context(table, &context, &error));
  array = rows(5, 1);
  OK(nyssa_fill_context_fill(context, &array, NULL, &error));
  OK(nyssa_table_commit(table, &report, &error));
  EXPECT(strstr(report, "\"entries\":6"));
  nyssa_text_free(report);
  WRONG("committed", nyssa_table_commit(table, NULL, &error));
  WRONG("committed", nyssa_fill_context_commit(context, &error));
  OK(nyssa_writer_commit(file, &bytes, &error));
  EXPECT(bytes > 0);
  WRONG("nyssa_update", nyssa_writer_commit(file, NULL, &error));
  WRONG("a writer, not a table", nyssa_table_flush((nyssa_table *)file, &error));
  schema.release(&schema);
  nyssa_close(context);
  nyssa_close(table);
  nyssa_close(file);
  WRONG("closed", nyssa_writer_commit(file, NULL, &error));
  FAILS(NYSSA_ALREADY_EXISTS, "", nyssa_create(path, NULL, NULL, &file, &error));

  OK(nyssa_update(path, NULL, NULL, &file, &error));
  FAILS(NYSSA_NOT_FOUND, "Evens", nyssa_writer_append(file, "Evens", NULL, &table, &error));
  // What was refused can be appended then.
  FAILS(NYSSA_LIMIT_EXCEEDED, "memory", nyssa_writer_append(file, "Events", "memory=1MiB; compression=zstd:5", &table, &error));
  OK(nyssa_writer_append(file, "Events", NULL, &table, &error));
  OK(nyssa_table_add_fields(table, NULL, late, NULL, &error));
  OK(nyssa_writer_commit(file, NULL, &error));
  nyssa_close(table);
  nyssa_close(file);
}

// Writes a TTree, from two threads with one handle, with a branch of values for all entries.
static void write_tree(const char *path) {
  nyssa_writer *file = NULL;
  nyssa_table *table = NULL;
  nyssa_fill_context *context = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  char *report = NULL;
  uint64_t entries = 0, zero = 0;
  pthread_t threads[2];
  OK(nyssa_create(path, NULL, NULL, &file, &error));
  WRONG("titel", nyssa_writer_table(file, "tree", NULL, fields, "format=ttree; titel=x", &table, &error));
  OK(nyssa_writer_table(file, "tree", NULL, fields, "format=ttree; title=numbers; auto_flush=4", &table, &error));
  OK(nyssa_table_schema(table, &schema, &error));
  array = rows(0, 3);
  OK(nyssa_table_fill(table, &array, &schema, &error));
  WRONG("TTree", nyssa_table_attribute_set(table, "runs", &schema, &error));
  array = rows(0, 1);
  WRONG("TTree", nyssa_table_fill_attributes(table, "runs", &zero, &zero, 1, &array, &schema, &error));
  array = rows(0, 2);
  WRONG("3 entries", nyssa_table_add_fields(table, NULL, late, &array, &error));
  WRONG("", nyssa_table_add_fields(table, NULL, late, NULL, &error));
  OK(nyssa_table_commit(table, &report, &error));
  EXPECT(strstr(report, "\"entries\":3") && strstr(report, "\"baskets\":1"));
  nyssa_text_free(report);
  nyssa_close(table);
  OK(nyssa_writer_table(file, "threads", NULL, fields, "format=ttree", &table, &error));
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, fill, table);
  for (int i = 0; i < 2; ++i) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    EXPECT(!failed);
  }
  OK(nyssa_table_fill_context(table, &context, &error));
  array = rows(7, 1);
  OK(nyssa_fill_context_fill(context, &array, &schema, &error));
  OK(nyssa_fill_context_commit(context, &error));
  OK(nyssa_table_stats(table, &entries, NULL, &error));
  EXPECT(entries == 31);
  nyssa_close(context);
  OK(nyssa_writer_commit(file, NULL, &error));
  nyssa_close(table);
  nyssa_close(file);

  OK(nyssa_update(path, NULL, NULL, &file, &error));
  OK(nyssa_writer_append(file, "tree", NULL, &table, &error));
  array = rows(10, 3);
  OK(nyssa_table_add_fields(table, NULL, late, &array, &error));
  schema.release(&schema);
  OK(nyssa_writer_commit(file, NULL, &error));
  nyssa_close(table);
  nyssa_close(file);
}

static nyssa_dataset *opened = NULL;

// A callback that calls the library, and then ends the work.
static int32_t call_back(void *user, uint64_t done, uint64_t total) {
  uint64_t entries = 0;
  (void)done, (void)total;
  *(nyssa_status *)user = nyssa_dataset_entries(opened, &entries, NULL);
  return 1;
}

static void read_back(const char *ntuple, const char *tree) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowArrayStream stream;
  nyssa_dataset *chain = NULL, *selected = NULL, *set = NULL;
  nyssa_context *context = NULL;
  nyssa_status inner = NYSSA_OK;
  uint64_t entries = 0;
  const uint64_t indices[] = {4, 0};
  const char *columns[] = {"n", "n * 2"};
  const char *urls[] = {ntuple, tree};
  const char *wrong = "n *";
  char *json = NULL;
  OK(nyssa_open(ntuple, NULL, NULL, &opened, &error));
  OK(nyssa_dataset_entries(opened, &entries, &error));
  EXPECT(entries == 6);
  OK(nyssa_dataset_describe(opened, &json, &error));
  EXPECT(strstr(json, "\"attribute_sets\":[\"runs\"]"));
  nyssa_text_free(json);
  OK(nyssa_dataset_schema(opened, columns, 2, &schema, &error));
  EXPECT(schema.n_children == 2 && !strcmp(schema.children[1]->name, "n * 2"));
  schema.release(&schema);
  OK(nyssa_dataset_read(opened, columns, 2, 1, 3, NULL, &schema, &array, &error));
  EXPECT(((const int32_t *)array.children[0]->buffers[1])[array.children[0]->offset + 1] == 2);
  array.release(&array);
  schema.release(&schema);
  WRONG("n *", nyssa_dataset_read(opened, &wrong, 1, 0, 1, NULL, NULL, &array, &error));
  WRONG("7", nyssa_dataset_read(opened, columns, 1, 0, 7, NULL, NULL, &array, &error));
  WRONG("null", nyssa_dataset_read(opened, NULL, 1, 0, 1, NULL, NULL, &array, &error));
  OK(nyssa_dataset_take(opened, columns, 1, indices, 2, NULL, NULL, &array, &error));
  EXPECT(((const int32_t *)array.children[0]->buffers[1])[array.children[0]->offset] == 4);
  array.release(&array);
  WRONG("6", nyssa_dataset_take(opened, columns, 1, &entries, 1, NULL, NULL, &array, &error));
  OK(nyssa_dataset_select(opened, "n > 2", NULL, &selected, &error));
  OK(nyssa_dataset_entries(selected, &entries, &error));
  EXPECT(entries == 3);
  OK(nyssa_dataset_attribute_set(opened, "runs", &set, &error));
  FAILS(NYSSA_NOT_FOUND, "luns", nyssa_dataset_attribute_set(opened, "luns", &set, &error));
  OK(nyssa_io_stats(opened, &json, &error));
  nyssa_text_free(json);
  WRONG("but there are 6", nyssa_dataset_stream(opened, columns, 2, 0, 7, NULL, NULL, &stream, &error));
  WRONG("3..1", nyssa_dataset_stream(opened, columns, 2, 3, 1, NULL, NULL, &stream, &error));
  OK(nyssa_dataset_stream(opened, columns, 2, 0, 6, "entries=4", NULL, &stream, &error));
  EXPECT(!stream.get_schema(&stream, &schema));
  EXPECT(!stream.get_next(&stream, &array) && array.length == 4);
  OK(nyssa_stream_error(&stream, &error));
  EXPECT(!stream.get_last_error(&stream));
  array.release(&array);
  schema.release(&schema);
  stream.release(&stream);
  WRONG("stream", nyssa_stream_error(&stream, &error));
  WRONG("stream", nyssa_stream_error(NULL, &error));

  OK(nyssa_chain(urls, 2, "schema=union", NULL, &chain, &error));
  OK(nyssa_dataset_entries(chain, &entries, &error));
  EXPECT(entries == 9);
  WRONG("missing", nyssa_chain(urls, 2, "missing=perhaps", NULL, &selected, &error));
  OK(nyssa_context_new(2, call_back, &inner, &context, &error));
  FAILS(NYSSA_CANCELLED, "", nyssa_verify(ntuple, context, &json, &error));
  EXPECT(inner == NYSSA_INVALID_ARGUMENT);
  FAILS(NYSSA_CANCELLED, "", nyssa_dataset_read(opened, columns, 1, 0, 6, context, NULL, &array, &error));
  OK(nyssa_dataset_stream(opened, columns, 1, 0, 6, NULL, context, &stream, &error));
  EXPECT(stream.get_next(&stream, &array) && strlen(stream.get_last_error(&stream)) > 0);
  FAILS(NYSSA_CANCELLED, "", nyssa_stream_error(&stream, &error));
  stream.release(&stream);
  OK(nyssa_context_cancel(context, false, &error));
  nyssa_close(context);
  WRONG("closed", nyssa_context_cancel(context, true, &error));
  nyssa_close(chain);
  nyssa_close(set);
  nyssa_close(selected);
  nyssa_close(opened);
}

static void run_jobs(const char *ntuple, const char *folder) {
  char output[4096], merged[4096];
  char *report = NULL;
  const char *inputs[] = {ntuple, output};
  snprintf(output, sizeof output, "%s/converted.root", folder);
  snprintf(merged, sizeof merged, "%s/merged.root", folder);
  OK(nyssa_list(ntuple, NULL, NULL, &report, &error));
  EXPECT(strstr(report, "RNTuple"));
  nyssa_text_free(report);
  OK(nyssa_convert(ntuple, output, "to=ttree; verify=true", NULL, &report, &error));
  nyssa_text_free(report);
  FAILS(NYSSA_ALREADY_EXISTS, "force", nyssa_convert(ntuple, output, "to=ttree", NULL, NULL, &error));
  OK(nyssa_rewrite(ntuple, output, "{\"force\": true, \"cut\": \"n < 4\"}", NULL, &report, &error));
  nyssa_text_free(report);
  WRONG("clustersize", nyssa_rewrite(ntuple, output, "clustersize=1", NULL, NULL, &error));
  OK(nyssa_merge(inputs, 2, merged, "force=true", NULL, &report, &error));
  nyssa_text_free(report);
  OK(nyssa_verify(merged, NULL, &report, &error));
  EXPECT(strstr(report, "\"problems\":[]"));
  nyssa_text_free(report);
  FAILS(NYSSA_NOT_FOUND, "missing.root", nyssa_verify("missing.root", NULL, &report, &error));
}

int main(int count, char **arguments) {
  char ntuple[4096], tree[4096], name[4100];
  if (count != 2)
    return 2;
  EXPECT(nyssa_abi_version() == NYSSA_ABI_VERSION && strlen(nyssa_version()) > 0);
  snprintf(ntuple, sizeof ntuple, "%s/ntuple.root", arguments[1]);
  snprintf(tree, sizeof tree, "%s/tree.root", arguments[1]);
  snprintf(name, sizeof name, "%s/tree.root:tree", arguments[1]);
  EXPECT(nyssa_open(ntuple, NULL, NULL, &opened, &error) == NYSSA_NOT_FOUND && strstr(nyssa_error_details(error), "place"));
  nyssa_error_free(error);
  error = NULL;
  write_ntuple(ntuple);
  write_tree(tree);
  read_back(ntuple, name);
  run_jobs(ntuple, arguments[1]);
  return 0;
}
