// Converts a file and shows the progress: convert INPUT OUTPUT [OPTIONS]

#include <nyssa.hpp>

#include <iostream>

int main(int count, char **arguments) try {
  if (count < 3) {
    std::cerr << "usage: convert INPUT OUTPUT [OPTIONS]\n";
    return 2;
  }
  const nyssa::Context context(0, [](uint64_t done, uint64_t total) {
    std::cerr << done << " of " << total << "\r";
    return true;
  });
  std::cout << nyssa::convert(arguments[1], arguments[2], count > 3 ? arguments[3] : "", &context) << "\n";
} catch (const nyssa::Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
