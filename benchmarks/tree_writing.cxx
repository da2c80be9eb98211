// Writes a TTree with ROOT, for tree_writing.py and tree_buffers.py.

#include <ROOT/TBufferMerger.hxx>
#include <numeric>
#include <thread>
struct NyssaColumns {
   int count;
   const char **titles, **counters;
   const ULong64_t *values;
   const int *sizes;
   const ULong64_t *counts;
};

NyssaColumns nyssa_columns(int count, long titles, long counters, long values, long sizes, long counts)
{
   return {count, (const char **)titles, (const char **)counters, (const ULong64_t *)values, (const int *)sizes,
           (const ULong64_t *)counts};
}

// Fills the entries from first to last. A function is called after each.
template <typename F>
void nyssa_fill(TTree &tree, const NyssaColumns &columns, int basket, long first, long last, F &&filled)
{
   std::map<std::string, int> lengths;
   const int count = columns.count;
   std::vector<std::vector<char>> buffers(count, std::vector<char>(8 * 1024));
   std::vector<long> places(count, 0);
   std::vector<int *> length(count, nullptr);
   for (int at = 0; at < count; ++at) {
      std::string counter = columns.counters[at];
      if (!counter.empty() && !lengths.count(counter))
         tree.Branch(counter.c_str(), &lengths[counter], (counter + "/I").c_str(), basket);
      if (!counter.empty()) length[at] = &lengths[counter];
      std::string title = columns.titles[at];
      std::string name = title.substr(0, title.find_first_of("[/"));
      tree.Branch(name.c_str(), buffers[at].data(), title.c_str(), basket);
      long items = first;
      if (length[at]) items = std::accumulate((int *)columns.counts[at], (int *)columns.counts[at] + first, 0L);
      places[at] = items * columns.sizes[at];
   }
   for (long entry = first; entry < last; ++entry) {
      for (int at = 0; at < count; ++at) {
         int items = 1;
         if (length[at]) items = *length[at] = ((int *)columns.counts[at])[entry];
         auto bytes = items * columns.sizes[at];
         memcpy(buffers[at].data(), (char *)columns.values[at] + places[at], bytes);
         places[at] += bytes;
      }
      tree.Fill();
      filled();
   }
}

void nyssa_one(const char *path, int compression, int threads, long entries, const NyssaColumns &columns)
{
   if (threads > 1) ROOT::EnableImplicitMT(threads);
   TFile file(path, "RECREATE", "", compression);
   auto tree = new TTree("Events", "");
   nyssa_fill(*tree, columns, 32000, 0, entries, [] {});
   tree->Write();
   file.Close();
}

// Each thread fills an equal part of the entries, and gives its buffer away when it has so many bytes.
void nyssa_buffers(const char *path, int compression, int buffers, long flush, int basket, long entries,
                   const NyssaColumns &columns)
{
   ROOT::EnableThreadSafety();
   ROOT::TBufferMerger merger(path, "RECREATE", compression);
   auto work = [&](int at) {
      auto file = merger.GetFile();
      TDirectory::TContext context(file.get());
      auto tree = new TTree("Events", "");
      tree->SetAutoFlush(-flush);
      nyssa_fill(*tree, columns, basket, entries * at / buffers, entries * (at + 1) / buffers,
                 [&] { if (file->GetEND() > flush) file->Write(); });
      file->Write();
   };
   std::vector<std::thread> threads;
   for (int at = 0; at < buffers; ++at) threads.emplace_back(work, at);
   for (auto &thread : threads) thread.join();
}
