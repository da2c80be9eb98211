// Two numbers of nyssa.hpp beside those of the framework in miniature:
//
//     framework_numbers calls FILE ENTRIES          nanoseconds that a call of `fill` takes in its thread
//     framework_numbers column FILE COLUMN ROUNDS   least seconds to read a column of lists of floats, and its sum

#include "measure.hpp"

#include <nyssa.hpp>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace {

// Fills entries of one number, while other threads encode and write. What the thread itself does is the overhead of calls:
// the call, its part of a batch, and the hand-over of the batch.
void calls(const std::string &file, int entries) {
  const nyssa::Context threads(2);
  nyssa::Writer writer(file, "force=true; compression=none", &threads);
  auto table = writer.table("Events", nyssa::field<int>("number"));
  const double start = measure::seconds_of(CLOCK_THREAD_CPUTIME_ID);
  for (int number = 0; number < entries; ++number)
    table.fill(number);
  const double seconds = measure::seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
  table.commit();
  writer.commit();
  std::cout << "{\"nanoseconds\": " << 1e9 * seconds / entries << "}\n";
}

void column(const std::string &file, const std::string &name, int rounds) {
  const nyssa::Context one(1);
  const nyssa::Dataset events(file, "", &one);
  std::vector<double> seconds;
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const double start = measure::seconds_of(CLOCK_MONOTONIC);
    const nyssa::Batch batch = events.read({name}, 0, events.entries(), &one);
    const nyssa::Span<const float> values = batch.lists<float>(name).items();
    seconds.push_back(measure::seconds_of(CLOCK_MONOTONIC) - start);
    // The sum shows that the values are there, and is no part of the time.
    if (round == 0)
      sum = std::accumulate(values.begin(), values.end(), 0.0);
  }

  std::cout << "{\"seconds\": " << *std::min_element(seconds.begin(), seconds.end()) << ", \"sum\": " << sum << "}\n";
}

} // namespace

int main(int count, char **arguments) try {
  const std::string job = count > 1 ? arguments[1] : "";
  if (job == "calls" && count == 4)
    calls(arguments[2], std::stoi(arguments[3]));
  else if (job == "column" && count == 5)
    column(arguments[2], arguments[3], std::stoi(arguments[4]));
  else
    return 2;
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
