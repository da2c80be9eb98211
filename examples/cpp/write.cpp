// Writes jets from two threads: write FILE

#include "event.hpp"

#include <future>
#include <iostream>

int main(int count, char **arguments) try {
  if (count != 2) {
    std::cerr << "usage: write FILE\n";
    return 2;
  }
  nyssa::Writer file(arguments[1], "compression=zstd; force=true; fill_contexts=2");
  auto events = file.table("Events", nyssa::field<int>("event"), nyssa::field<std::vector<Jet>>("jets"));
  auto fill = [&events](int first) {
    auto context = events.context();
    std::vector<Jet> jets;
    for (int event = first; event < first + 1000; ++event) {
      jets.clear();
      for (int jet = 0; jet < event % 4; ++jet)
        jets.push_back({20.f + static_cast<float>(event), 0.1f, {{1, 2}, {3, 4}}});
      context.fill(event, jets);
    }
    context.commit();
  };
  // The future gives the errors of the other thread.
  auto other = std::async(std::launch::async, fill, 1000);
  fill(0);
  other.get();
  std::cout << events.commit() << "\n";
  file.commit();
} catch (const nyssa::Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
