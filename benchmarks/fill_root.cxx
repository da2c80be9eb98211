// The fill benchmark with ROOT's RNTupleParallelWriter: see fill_data.py for what is filled.

#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <TROOT.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fill_benchmark {

constexpr int kGroups = 20, kScalars = 20, kStride = 10007;

template <typename T>
std::vector<T> load(const std::string &path)
{
   std::FILE *file = std::fopen(path.c_str(), "rb");
   if (!file)
      throw std::runtime_error("cannot open " + path);
   std::fseek(file, 0, SEEK_END);
   std::vector<T> out(std::ftell(file) / sizeof(T));
   std::rewind(file);
   if (std::fread(out.data(), sizeof(T), out.size(), file) != out.size())
      throw std::runtime_error("cannot read " + path);
   std::fclose(file);
   return out;
}

struct Data {
   std::vector<std::uint8_t> counts;
   std::vector<std::int64_t> starts;
   std::vector<float> pt, eta, phi, mass, exact, score;
   std::vector<std::int32_t> id, count;
   std::vector<std::uint8_t> flag;
   std::int64_t entries;

   Data(const std::string &d, std::int64_t n)
      : counts(load<std::uint8_t>(d + "/counts.bin")), starts(kGroups * (n + 1)), pt(load<float>(d + "/pt.bin")),
        eta(load<float>(d + "/eta.bin")), phi(load<float>(d + "/phi.bin")), mass(load<float>(d + "/mass.bin")),
        exact(load<float>(d + "/exact.bin")), score(load<float>(d + "/score.bin")),
        id(load<std::int32_t>(d + "/id.bin")), count(load<std::int32_t>(d + "/count.bin")),
        flag(load<std::uint8_t>(d + "/flag.bin")), entries(n)
   {
      for (int g = 0; g < kGroups; ++g)
         for (std::int64_t e = 0; e < n; ++e)
            starts[g * (n + 1) + e + 1] = starts[g * (n + 1) + e] + counts[g * n + e];
   }
};

inline std::unique_ptr<Data> &data()
{
   static std::unique_ptr<Data> instance;
   return instance;
}

template <typename T>
struct Field {
   const std::vector<T> *pool;
   int group;
   std::shared_ptr<std::vector<T>> value;
   void set(const Data &data, std::int64_t entry)
   {
      const auto *starts = &data.starts[group * (data.entries + 1) + entry];
      const T *begin = pool->data() + group * kStride;
      value->assign(begin + starts[0], begin + starts[1]);
   }
};

inline std::string name(int group, int i)
{
   return "g" + std::to_string(group) + "_" + std::to_string(i);
}

inline void fill(ROOT::RNTupleFillContext &context, std::int64_t first, std::int64_t last)
{
   const Data &d = *data();
   auto entry = context.CreateEntry();
   std::vector<Field<float>> floats;
   std::vector<Field<std::int32_t>> ints;
   std::vector<Field<std::uint8_t>> bytes;
   for (int g = 0; g < kGroups; ++g) {
      const std::vector<float> *pools[] = {&d.pt, &d.eta, &d.phi, &d.mass, &d.exact, &d.exact, &d.score};
      for (int i = 0; i < 7; ++i)
         floats.push_back({pools[i], g, entry->GetPtr<std::vector<float>>(name(g, i))});
      ints.push_back({&d.id, g, entry->GetPtr<std::vector<std::int32_t>>(name(g, 7))});
      ints.push_back({&d.count, g, entry->GetPtr<std::vector<std::int32_t>>(name(g, 8))});
      bytes.push_back({&d.flag, g, entry->GetPtr<std::vector<std::uint8_t>>(name(g, 9))});
   }
   std::vector<std::shared_ptr<float>> scalars;
   for (int i = 0; i < kScalars; ++i)
      scalars.push_back(entry->GetPtr<float>("s" + std::to_string(i)));
   for (std::int64_t e = first; e < last; ++e) {
      for (auto &field : floats)
         field.set(d, e);
      for (auto &field : ints)
         field.set(d, e);
      for (auto &field : bytes)
         field.set(d, e);
      for (int i = 0; i < kScalars; ++i)
         *scalars[i] = d.exact[(kGroups + i) * kStride + e];
      context.Fill(*entry);
   }
}

/// Reads the data; not timed.
void prepare(const char *directory, long long entries)
{
   ROOT::EnableThreadSafety();
   data() = std::make_unique<Data>(directory, entries);
}

/// Fills all entries from so many threads.
void run(const char *output, int threads)
{
   auto model = ROOT::RNTupleModel::CreateBare();
   for (int g = 0; g < kGroups; ++g) {
      for (int i = 0; i < 7; ++i)
         model->MakeField<std::vector<float>>(name(g, i));
      model->MakeField<std::vector<std::int32_t>>(name(g, 7));
      model->MakeField<std::vector<std::int32_t>>(name(g, 8));
      model->MakeField<std::vector<std::uint8_t>>(name(g, 9));
   }
   for (int i = 0; i < kScalars; ++i)
      model->MakeField<float>("s" + std::to_string(i));
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(505);
   auto writer = ROOT::RNTupleParallelWriter::Recreate(std::move(model), "Events", output, options);
   std::vector<std::thread> workers;
   const auto entries = data()->entries;
   for (int t = 0; t < threads; ++t) {
      auto context = writer->CreateFillContext();
      workers.emplace_back([context, t, threads, entries] {
         fill(*context, entries * t / threads, entries * (t + 1) / threads);
      });
   }
   for (auto &worker : workers)
      worker.join();
   workers.clear();
   writer.reset();
}

} // namespace fill_benchmark
