// Reads the jets as views, which are not copied, and as objects: read FILE

#include "event.hpp"

#include <iostream>

int main(int count, char **arguments) try {
  if (count != 2) {
    std::cerr << "usage: read FILE\n";
    return 2;
  }
  const nyssa::Dataset events(std::string(arguments[1]) + ":Events");
  double sum = 0;
  std::size_t hits = 0;
  for (nyssa::Batch &batch : events.batches({"jets", "jets.pt"})) {
    for (float pt : batch.lists<float>("jets.pt").items())
      sum += pt;
    for (const std::vector<Jet> &jets : batch.objects<std::vector<Jet>>("jets"))
      for (const Jet &jet : jets)
        hits += jet.hits.size();
  }
  std::cout << events.entries() << " events, sum of pt " << sum << ", " << hits << " hits\n";
} catch (const nyssa::Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
