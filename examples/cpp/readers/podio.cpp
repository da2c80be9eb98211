// Frames as podio has them: collections by name, read when they are used, with relations by index: podio FILE
//
// A collection is a vector of data. A relation is a vector of IDs beside it: the collection and the index of an object. A
// table of its own has the names of the collections by their IDs.

#include <nyssa.hpp>

#include <iostream>
#include <map>

namespace podio {
struct ObjectID {
  int index = -1;
  std::uint32_t collectionID = 0;
};
} // namespace podio

struct HitData {
  float energy = 0;
};
// Its hits are those from `hits_begin` up to `hits_end` in the relation.
struct ClusterData {
  float energy = 0;
  std::uint32_t hits_begin = 0;
  std::uint32_t hits_end = 0;
};

NYSSA_CLASS(podio::ObjectID, index, collectionID)
NYSSA_CLASS(HitData, energy)
NYSSA_CLASS(ClusterData, energy, hits_begin, hits_end)

// The frames of a file. Collections are read for `step` events at a time, each when an event first needs it.
class Frames {
public:
  explicit Frames(const std::string &path, std::uint64_t step = 1000)
      : events_(path + ":events"), entries_(events_.entries()), step_(step) {
    const nyssa::Batch all = nyssa::Dataset(path + ":metadata").read({"names"});
    for (const auto &[id, name] : all.objects<std::map<std::uint32_t, std::string>>("names")[0])
      names_[id] = name;
  }
  std::uint64_t size() const { return entries_; }
  const std::string &name(std::uint32_t id) const { return names_.at(id); }

  // Returns the objects of a column in an event.
  template <class T> std::vector<T> get(const std::string &column, std::uint64_t event) {
    auto &[first, batch] = read_[column];
    if (!batch || event < first || event >= first + batch->size()) {
      first = event / step_ * step_;
      batch = events_.read({column}, first, std::min(first + step_, entries_));
    }
    return batch->objects<std::vector<T>>(column)[event - first];
  }

private:
  nyssa::Dataset events_;
  std::uint64_t entries_;
  std::uint64_t step_;
  std::map<std::uint32_t, std::string> names_;
  std::map<std::string, std::pair<std::uint64_t, std::optional<nyssa::Batch>>> read_;
};

// The collections of an event.
class Frame {
public:
  Frame(Frames &frames, std::uint64_t event) : frames_(frames), event_(event) {}
  template <class T> std::vector<T> get(const std::string &collection) const { return frames_.get<T>(collection, event_); }
  // Returns the objects that a relation names, wherever they are.
  template <class T> std::vector<T> related(const std::string &relation, std::uint32_t begin, std::uint32_t end) const {
    const auto ids = get<podio::ObjectID>(relation);
    std::map<std::uint32_t, std::vector<T>> collections;
    std::vector<T> objects;
    for (std::uint32_t at = begin; at < end; ++at) {
      const podio::ObjectID id = ids.at(at);
      auto &collection = collections[id.collectionID];
      if (collection.empty())
        collection = get<T>(frames_.name(id.collectionID));
      objects.push_back(collection.at(static_cast<std::size_t>(id.index)));
    }
    return objects;
  }

private:
  Frames &frames_;
  std::uint64_t event_;
};

namespace {

constexpr std::uint32_t barrel = 7, endcap = 9;

// Writes clusters of hits of two detectors.
void write(const std::string &path) {
  nyssa::Writer file(path, "force=true");
  auto metadata = file.table("metadata", nyssa::field<std::map<std::uint32_t, std::string>>("names"));
  metadata.fill({{barrel, "barrel"}, {endcap, "endcap"}});
  metadata.commit();
  auto events = file.table("events", nyssa::field<std::vector<HitData>>("barrel"), nyssa::field<std::vector<HitData>>("endcap"),
                           nyssa::field<std::vector<ClusterData>>("clusters"),
                           nyssa::field<std::vector<podio::ObjectID>>("_clusters_hits"));
  for (int event = 0; event < 2500; ++event) {
    const auto size = static_cast<std::size_t>(event % 5);
    std::vector<HitData> inner(size, {1}), outer(size, {2});
    std::vector<ClusterData> clusters;
    std::vector<podio::ObjectID> hits;
    for (int hit = 0; hit < event % 5; ++hit) {
      const auto begin = static_cast<std::uint32_t>(hits.size());
      hits.push_back({hit, barrel});
      hits.push_back({hit, endcap});
      clusters.push_back({3, begin, begin + 2});
    }
    events.fill(inner, outer, clusters, hits);
  }
  events.commit();
  file.commit();
}

} // namespace

int main(int count, char **arguments) try {
  if (count != 2) {
    std::cerr << "usage: podio FILE\n";
    return 2;
  }
  write(arguments[1]);
  Frames frames(arguments[1]);
  double clustered = 0, related = 0;
  for (std::uint64_t event = 0; event < frames.size(); ++event) {
    const Frame frame(frames, event);
    for (const ClusterData &cluster : frame.get<ClusterData>("clusters")) {
      clustered += cluster.energy;
      for (const HitData &hit : frame.related<HitData>("_clusters_hits", cluster.hits_begin, cluster.hits_end))
        related += hit.energy;
    }
  }
  std::cout << frames.size() << " frames, energy of clusters " << clustered << ", of their hits " << related << "\n";
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
