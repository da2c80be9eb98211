// Prints a column of uint32 and one of lists of float, and converts the file: INPUT NUMBERS LISTS OUTPUT

#include <nyssa.h>

#include <inttypes.h>
#include <stdio.h>

static int failed(nyssa_error *error) {
  fprintf(stderr, "%s\n", nyssa_error_message(error));
  nyssa_error_free(error);
  return 1;
}

int main(int count, char **arguments) {
  nyssa_error *error = NULL;
  nyssa_dataset *events = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  uint64_t entries = 0;
  char *report = NULL;
  if (count != 5)
    return 2;
  const char *columns[] = {arguments[2], arguments[3]};
  if (nyssa_open(arguments[1], NULL, NULL, &events, &error) != NYSSA_OK ||
      nyssa_dataset_entries(events, &entries, &error) != NYSSA_OK ||
      nyssa_dataset_read(events, columns, 2, 0, entries, NULL, &schema, &array, &error) != NYSSA_OK)
    return failed(error);
  nyssa_close(events);
  const struct ArrowArray *numbers = array.children[0], *lists = array.children[1], *items = lists->children[0];
  const uint32_t *number = (const uint32_t *)numbers->buffers[1] + numbers->offset;
  const int64_t *ends = (const int64_t *)lists->buffers[1] + lists->offset;
  const float *item = (const float *)items->buffers[1] + items->offset;
  for (int64_t entry = 0; entry < array.length; ++entry) {
    printf("%" PRIu32, number[entry]);
    for (int64_t at = ends[entry]; at < ends[entry + 1]; ++at)
      printf(" %a", (double)item[at]);
    printf("\n");
  }
  array.release(&array);
  schema.release(&schema);
  if (nyssa_convert(arguments[1], arguments[4], NULL, NULL, &report, &error) != NYSSA_OK)
    return failed(error);
  nyssa_text_free(report);
  return 0;
}
