// What nyssa does with the classes: `write FILE`, `read FILE`, `use FOLDER`, `lose FOLDER`, `evolve FILE FILE`,
// `versions FILE FILE`, `stream BYTES INFOS FILE FILE`, `collect FILE FILE`.

#include "event.hpp"

#include <nyssa.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <list>
#include <stdexcept>
#include <thread>

NYSSA_ENUM(event::Color)
NYSSA_ENUM(event::Shape)
NYSSA_CLASS(event::Hit, x, id, q, c)
NYSSA_CLASS(event::Base, mass)
NYSSA_CLASS(event::Other, o)
NYSSA_CLASS_WITH_BASES(event::Jet, (event::Base, event::Other), pt, eta, ok, letter, i8, u8, s, l, ull, byte, color, shape, name,
                       hits, bits, nested, names, colors, any, map, map_of_lists, multimap, unordered_map, set, set_of_pairs,
                       unordered_set, multiset,
                       unordered_multiset, unordered_multimap, few, many, number, hit, pair, tuple, atomic, two, table, old)

NYSSA_CLASS(event::Product, number, name, hits, tags)

// A class, and how its members are made of those of its older form.
namespace evolved {
class Jet {
public:
  double pt = 0;
  float charge = 0;
  std::vector<event::Hit> hits;
  float kept = 0;
  int version() const { return version_; }

private:
  friend struct nyssa::Described<Jet>;
  int version_ = 2;
};
} // namespace evolved
NYSSA_CLASS(evolved::Jet, pt, charge, hits, kept, version_)
NYSSA_READ_RULE(evolved::Jet, pt, (float px, float py), std::hypot(px, py))
NYSSA_READ_RULE(evolved::Jet, charge, (int charge), charge)
NYSSA_READ_RULE(evolved::Jet, hits, (std::vector<event::Hit> clusters), clusters)
NYSSA_READ_RULE(evolved::Jet, version_, (), 1)

// A class of which the file has another version, with other base classes, another unit and another array.
namespace evolved {
struct Point {
  float x = 0;
};
struct Energy {
  float energy = 0;
};
struct Weight {
  double weight = 0;
};
struct Cluster : Point, Energy, Weight {
  float pt = 0;
  float q[2][3] = {};
};
} // namespace evolved
NYSSA_CLASS(evolved::Point, x)
NYSSA_CLASS(evolved::Energy, energy)
NYSSA_CLASS(evolved::Weight, weight)
NYSSA_CLASS_WITH_BASES(evolved::Cluster, (evolved::Point, evolved::Energy, evolved::Weight), pt, q)
NYSSA_CLASS_VERSION(evolved::Cluster, 3)
NYSSA_READ_RULE_OF_BASE(evolved::Cluster, evolved::Weight, (float pt), evolved::Weight{pt / 500.})
NYSSA_READ_RULE_OF_VERSIONS(evolved::Cluster, 1, 2, pt, (float pt), pt / 1000)
NYSSA_READ_RULE(evolved::Cluster, q, (std::array<float, 3> q), (std::vector<std::array<float, 3>>{{}, q}))

// The same class without the rule of its base class, and with one that makes a wrong number of values.
namespace evolved {
struct NoBase : Weight {
  float pt = 0;
};
struct Short {
  float q[2] = {};
};
} // namespace evolved
NYSSA_CLASS_WITH_BASES(evolved::NoBase, (evolved::Weight), pt)
NYSSA_CLASS(evolved::Short, q)
NYSSA_READ_RULE(evolved::Short, q, (std::array<float, 3> q), q)

// A class with a rule that no file here can follow.
struct Lacking {
  float x = 0;
};
NYSSA_CLASS(Lacking, x)
NYSSA_READ_RULE(Lacking, x, (const std::array<float, 3> &nowhere, int none), nowhere[0] + static_cast<float>(none))

// A class that ROOT knows by a proxy only (`user_collection.hxx`).
namespace user_collection {
struct Hits {
  std::vector<float> items;
  auto begin() const { return items.begin(); }
  auto end() const { return items.end(); }
};
} // namespace user_collection
template <> struct nyssa::DescribedCollection<user_collection::Hits> {
  static constexpr const char *name = "user_collection::Hits";
  using item = float;
  static void clear(user_collection::Hits &hits) { hits.items.clear(); }
  static void add(user_collection::Hits &hits, float item) { hits.items.push_back(item); }
};

// A collection of the user's own.
struct Track {
  float z = 0;
};
struct Tracks : std::list<Track> {};
NYSSA_CLASS(Track, z)
NYSSA_COLLECTION(Tracks, Track)

// Classes with the members of `event::Hit` in another order, and with fewer.
struct Turned {
  std::uint32_t id = 0;
  float x = 0;
  std::array<float, 3> q{};
  float c[2][3] = {};
};
struct Part {
  float x = 0;
};
NYSSA_CLASS(Turned, id, x, q, c)
NYSSA_CLASS(Part, x)

// A type of the user's own, with a value that it refuses.
struct Odd {
  int value = 1;
};
template <> struct nyssa::Field<Odd> : nyssa::Field<int> {
  static void append(nyssa::detail::Column &column, const Odd &one) {
    if (one.value % 2 == 0)
      throw std::domain_error("even");
    nyssa::Field<int>::append(column, one.value);
  }
};

namespace {

void expect(bool right, const char *what, int line) {
  if (right)
    return;
  std::cerr << "line " << line << ": " << what << "\n";
  std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

template <class Call> void refused(Call call, nyssa_status status, const std::string &message) {
  try {
    call();
  } catch (const nyssa::Error &error) {
    expect(error.status() == status, error.what(), __LINE__);
    expect(std::string(error.what()).find(message) != std::string::npos, error.what(), __LINE__);
    return;
  }
  expect(false, message.c_str(), __LINE__);
}

void write(const std::string &path) {
  nyssa::Writer file(path);
  auto events = file.table("Events", nyssa::field<event::Jet>("jet"), nyssa::field<std::vector<event::Jet>>("jets"),
                           nyssa::field<std::optional<event::Hit>>("maybe"));
  for (int i = 0; i < event::entries; ++i) {
    event::Jet jet;
    event::fill(jet, i);
    std::vector<event::Jet> jets(static_cast<std::size_t>(event::count(i)));
    for (int k = 0; k < event::count(i); ++k)
      event::fill(jets[static_cast<std::size_t>(k)], i + k);
    events.fill(jet, jets, event::maybe(i));
  }
  events.commit();
#define FIELD(member) , nyssa::field<decltype(event::Jet::member)>(#member)
#define VALUE(member) , jet.member
  auto fields = file.table("Fields", nyssa::field<int>("i") EVENT_FIELDS(FIELD));
  for (int i = 0; i < event::entries; ++i) {
    event::Jet jet;
    event::fill(jet, i);
    fields.fill(i EVENT_FIELDS(VALUE));
  }
#undef FIELD
#undef VALUE
  fields.commit();
  file.commit();
}

void read_fields(const std::string &path) {
  const nyssa::Batch all = nyssa::Dataset(path + ":Fields").read({});
  EXPECT(static_cast<int>(all.size()) == event::entries);
  for (int i = 0; i < event::entries; ++i) {
    event::Jet expected, found;
    event::fill(expected, i);
    event::fill_others(found, expected);
#define READ(member) all.objects<decltype(found.member)>(#member).read(static_cast<std::size_t>(i), found.member);
    EVENT_FIELDS(READ)
#undef READ
    const std::string wrong = event::difference(found, expected);
    expect(wrong.empty(), wrong.c_str(), __LINE__);
  }
}

void read(const std::string &path) {
  read_fields(path);
  nyssa::Dataset events(path + ":Events");
  int i = 0;
  for (nyssa::Batch &batch : events.batches({"jets", "jet", "maybe"}, "entries=7")) {
    auto one = batch.objects<event::Jet>("jet");
    auto maybe = batch.objects<std::optional<event::Hit>>("maybe");
    auto list = batch.objects<std::vector<event::Jet>>("jets");
    for (std::size_t entry = 0; entry < batch.size(); ++entry, ++i) {
      event::Jet expected, found;
      event::fill(expected, i);
      one.read(entry, found);
      const std::string wrong = event::difference(found, expected);
      expect(wrong.empty(), wrong.c_str(), __LINE__);
      EXPECT(maybe[entry] == event::maybe(i));
      const auto jets = list[entry];
      EXPECT(static_cast<int>(jets.size()) == event::count(i));
      for (int k = 0; k < event::count(i); ++k) {
        event::Jet inner;
        event::fill(inner, i + k);
        EXPECT(event::difference(jets[static_cast<std::size_t>(k)], inner).empty());
      }
    }
  }
  EXPECT(i == event::entries);
  const nyssa::Batch parts = events.read({"jet.pt", "jets.eta", "jet.ok", "jets.ok"});
  EXPECT(parts.values<float>("jet.pt")[3] == 4.5f);
  EXPECT(parts.lists<double>("jets.eta")[2].size() == 2 && parts.lists<double>("jets.eta")[2][1] == -3);
  EXPECT(parts.values<bool>("jet.ok").size() == 50 && !parts.values<bool>("jet.ok")[2] && parts.values<bool>("jet.ok")[3]);
  EXPECT(parts.lists<bool>("jets.ok")[5].size() == 2 && parts.lists<bool>("jets.ok")[5][0] && !parts.lists<bool>("jets.ok")[5][1]);
  refused([&] { parts.values<int>("jet.pt"); }, NYSSA_INVALID_ARGUMENT, "holds float32, and not int");
  refused([&] { parts.values<float>("jet.p"); }, NYSSA_NOT_FOUND, "no column jet.p");
  refused([&] { events.read({"jut"}); }, NYSSA_NOT_FOUND, "jut");
}

// Writes a TTree of objects.
void write_tree(const std::string &path) {
  nyssa::Writer file(path);
  auto tree = file.table_with("tree", "format=ttree; title=objects", nyssa::field<int>("n"),
                              nyssa::field<std::vector<event::Hit>>("hits"), nyssa::field<std::vector<float>>("numbers"));
  for (int i = 0; i < 4; ++i)
    tree.fill(i, {event::hit(i), event::hit(i + 1)}, {static_cast<float>(i) / 2});
  tree.commit();
  file.commit();
  int n = 0;
  for (const std::vector<event::Hit> &hits : nyssa::Dataset(path).read({"hits"}).objects<std::vector<event::Hit>>("hits"))
    EXPECT(hits.size() == 2 && hits[1].x == event::hit(++n).x);
  EXPECT(n == 4);
}

void use(const std::string &folder) {
  write_tree(folder + "/objects.root");
  const std::string path = folder + "/used.root";
  {
    nyssa::Context context(2);
    nyssa::Writer file(path, "compression=lz4", &context);
    auto first = file.table("Events", nyssa::field<int>("n"), nyssa::field<std::optional<event::Hit>>("hit"),
                            nyssa::field<std::optional<std::optional<int>>>("maybe"), nyssa::field<Tracks>("tracks"));
    for (int i = 0; i < 10; ++i) {
      std::optional<std::optional<int>> maybe;
      if (i % 3)
        maybe.emplace();
      if (i % 3 == 2)
        *maybe = i;
      Tracks tracks;
      for (int k = 0; k < i % 3; ++k)
        tracks.push_back({static_cast<float>(k)});
      first.fill(i, i % 2 ? std::optional(event::hit(i)) : std::nullopt, maybe, tracks);
    }
    EXPECT(first.stats().first == 10);
    first.flush();
    auto events = first.with(nyssa::field<double>("late"));
    auto fill = [&events](int start) {
      auto context = events.context();
      for (int i = start; i < start + 10; ++i)
        context.fill(i, std::nullopt, std::nullopt, {}, i / 2.);
      context.commit();
    };
    std::thread other(fill, 10);
    fill(20);
    other.join();
    events.commit();
    EXPECT(file.commit() > 0);
    refused([&] { file.commit(); }, NYSSA_INVALID_ARGUMENT, "the writer is committed");
  }
  refused([&] { nyssa::Writer again(path); again.commit(); }, NYSSA_ALREADY_EXISTS, "used.root");
  nyssa::Dataset events(path);
  EXPECT(events.entries() == 30);
  const nyssa::Batch all = events.read({});
  int i = 0;
  for (const std::optional<event::Hit> &hit : all.objects<std::optional<event::Hit>>("hit")) {
    EXPECT(bool(hit) == (i < 10 && i % 2) && (!hit || *hit == event::hit(i)));
    ++i;
  }
  const auto maybe = all.objects<std::optional<std::optional<int>>>("maybe");
  EXPECT(!maybe[0] && maybe[1] && !*maybe[1] && **maybe[2] == 2);
  refused([&] { all.objects<event::Hit>("hit"); }, NYSSA_INVALID_ARGUMENT, "column hit has missing values");
  const auto tracks = all.objects<Tracks>("tracks");
  EXPECT(tracks[2].size() == 2 && tracks[2].back().z == 1 && tracks[3].empty());
  EXPECT(all.values<double>("late")[5] == 0);
  const auto taken = events.take({"n"}, {4, 0});
  EXPECT(taken.values<int>("n")[0] == 4 && taken.values<int>("n")[1] == 0);
  EXPECT(events.select("n >= 25").entries() == 5);
  {
    nyssa::Writer more = nyssa::Writer::update(path);
    auto rows = more.append<int, std::optional<event::Hit>, std::optional<std::optional<int>>, Tracks, double>("Events");
    rows.fill(30, std::nullopt, std::nullopt, {}, 15.);
    rows.commit();
    more.commit();
  }
  EXPECT(nyssa::Dataset(path).entries() == 31);
  const std::string merged = folder + "/merged.root";
  nyssa::merge({path, path}, merged);
  EXPECT(nyssa::Dataset::chain({merged, path}).entries() == 93);
  nyssa::rewrite(merged, folder + "/small.root", "include=n; entries=0:5");
  nyssa::convert(folder + "/small.root", folder + "/tree.root", "to=ttree");
  EXPECT(nyssa::verify(folder + "/tree.root").find("\"problems\":[]") != std::string::npos);
  EXPECT(nyssa::list(folder + "/tree.root").find("TTree") != std::string::npos);
  nyssa::Context stopped(1, [](uint64_t, uint64_t) { return false; });
  refused([&] { nyssa::verify(merged, &stopped); }, NYSSA_CANCELLED, "");
  refused([&] { nyssa::Dataset(merged).batches({"n"}, "entries=5", &stopped).next(); }, NYSSA_CANCELLED, "");
  const nyssa::Context failing(1, [](uint64_t, uint64_t) -> bool { throw std::domain_error("no more"); });
  std::string thrown;
  try {
    nyssa::verify(merged, &failing);
  } catch (const std::domain_error &error) {
    thrown = error.what();
  }
  EXPECT(thrown == "no more");
  const nyssa::Context streaming(1, [](uint64_t, uint64_t) -> bool { throw std::domain_error("no more of a stream"); });
  try {
    nyssa::Dataset(merged).batches({"n"}, "entries=5", &streaming).next();
  } catch (const std::domain_error &error) {
    thrown = error.what();
  }
  EXPECT(thrown == "no more of a stream");
  {
    int calls = 0;
    std::optional<nyssa::Batches> batches;
    {
      const nyssa::Context watched(2, [&calls](uint64_t, uint64_t) { return ++calls > 0; });
      batches.emplace(nyssa::Dataset(merged).batches({"n"}, "entries=5", &watched));
      batches->next();
    }
    // A stream that outlives its context calls nobody.
    const int before = calls;
    while (batches->next()) {
    }
    EXPECT(calls == before);
  }
  {
    nyssa::Writer lost(folder + "/lost.root");
    auto rows = lost.table("Events", nyssa::field<int>("n"));
    rows.fill(1);
  }
  refused([&] { nyssa::Dataset(folder + "/lost.root"); }, NYSSA_NOT_FOUND, "lost.root");
  EXPECT(nyssa::version() == nyssa_version());
}

// A field comes while fill contexts write. Contexts of before have entries without it.
void come_late(const std::string &path) {
  nyssa::Writer file(path, "fill_contexts=2");
  auto table = file.table("Events", nyssa::field<int>("n"));
  auto early = table.context();
  early.fill(0);
  early.flush();
  early.fill(1);
  auto wider = table.with(nyssa::field<std::vector<float>>("jets"), nyssa::field<event::Hit>("hit"));
  refused([&] { table.context(); }, NYSSA_INVALID_ARGUMENT, "moved away");
  refused([&] { wider.with(nyssa::field<int>("n")); }, NYSSA_INVALID_ARGUMENT, "already");
  auto late = wider.context();
  late.fill(2, {2.5f}, event::hit(2));
  std::thread other([&] {
    for (int i = 3; i < 6; ++i)
      early.fill(i);
    early.commit();
  });
  for (int i = 6; i < 9; ++i)
    late.fill(i, {}, event::hit(i));
  other.join();
  late.commit();
  wider.commit();
  file.commit();
}

// Entries are written, or there is an error: none is lost or in another row.
void lose(const std::string &folder) {
  const std::string path = folder + "/kept.root";
  {
    nyssa::Writer file(path);
    auto table = file.table("Events", nyssa::field<int>("n"), nyssa::field<event::Hit>("hit"), nyssa::field<std::string>("s"));
    table.fill(1, event::hit(1), "one");
    refused([&] { file.commit(); }, NYSSA_INVALID_ARGUMENT, "entries that are not committed");
    auto moved = std::move(table);
    refused([&] { table.fill(1, event::hit(1), ""); }, NYSSA_INVALID_ARGUMENT, "moved away");
    moved.commit();
    file.commit();
  }
  for (const char *options : {"", "strings=utf8", "{}", " {\"strings\": \"utf8\"}"}) {
    const nyssa::Batch all = nyssa::Dataset(path, options).read({"s"});
    EXPECT(all.objects<std::string>("s")[0] == "one");
    const bool utf8 = std::string(options).find("utf8") != std::string::npos;
    EXPECT(all.schema()->children[0]->format == std::string(utf8 ? "U" : "Z"));
    EXPECT(nyssa::Dataset::chain({path, path}, options).read({"s"}).schema()->children[0]->format == std::string(utf8 ? "U" : "Z"));
  }
  {
    nyssa::Writer file(folder + "/half.root");
    auto table = file.table("Events", nyssa::field<int>("n"), nyssa::field<Odd>("odd"));
    table.fill(0, Odd{1});
    bool thrown = false;
    try {
      table.fill(1, Odd{2});
    } catch (const std::domain_error &) {
      thrown = true;
    }
    EXPECT(thrown);
    refused([&] { table.fill(2, Odd{3}); }, NYSSA_INVALID_ARGUMENT, "could not be filled");
    refused([&] { table.commit(); }, NYSSA_INVALID_ARGUMENT, "could not be filled");
    refused([&] { file.commit(); }, NYSSA_INVALID_ARGUMENT, "lost entries");
  }
  {
    nyssa::Writer file(folder + "/dropped.root");
    auto table = file.table("Events", nyssa::field<int>("n"));
    table.context().fill(1);
    refused([&] { table.commit(); }, NYSSA_INVALID_ARGUMENT, "dropped with 1 entries");
  }
  {
    auto context = [&folder] {
      nyssa::Writer file(folder + "/closed.root");
      return file.table("Events", nyssa::field<int>("n")).context();
    }();
    context.fill(1);
    refused([&] { context.commit(); }, NYSSA_INVALID_ARGUMENT, "its writer is closed");
    nyssa::Writer file(folder + "/moved.root");
    const nyssa::Writer other = std::move(file);
    refused([&] { file.commit(); }, NYSSA_INVALID_ARGUMENT, "moved away");
  }
  const auto more = [&path] { return nyssa::Writer::update(path); };
  refused([&] { more().append<int>("Events"); }, NYSSA_INVALID_ARGUMENT, "3 fields, but 1 types");
  refused([&] { more().append<double, event::Hit, std::string>("Events"); }, NYSSA_INVALID_ARGUMENT, "column n holds");
  refused([&] { more().append<int, Turned, std::string>("Events"); }, NYSSA_INVALID_ARGUMENT, "column hit has other members");
  refused([&] { more().append<int, Part, std::string>("Events"); }, NYSSA_INVALID_ARGUMENT, "column hit has other members");
  refused([&] { more().table("E", nyssa::field<int>("a\"b\n\\")); }, NYSSA_INVALID_ARGUMENT, "cannot be the name of a field");
}

// The older form is made the new one by the rules, and the new one is read without them.
void evolve(const std::string &old, const std::string &path) {
  const nyssa::Dataset events(old);
  nyssa::Writer file(path);
  auto table = file.table("Events", nyssa::field<std::vector<evolved::Jet>>("jets"));
  int i = 0;
  for (nyssa::Batch &batch : events.batches({"jets"}, "entries=7"))
    for (std::vector<evolved::Jet> &jets : batch.objects<std::vector<evolved::Jet>>("jets")) {
      EXPECT(static_cast<int>(jets.size()) == event::count(i));
      for (evolved::Jet &jet : jets) {
        EXPECT(jet.pt == 5 * i && jet.charge == (i % 2 ? 1.f : -1.f) && jet.kept == 0.5f * static_cast<float>(i));
        EXPECT(jet.hits == std::vector<event::Hit>{event::hit(i)} && jet.version() == 1);
        jet.charge = 0.5;
      }
      table.fill(jets);
      ++i;
    }
  EXPECT(i == event::entries);
  table.commit();
  file.commit();
  for (const std::vector<evolved::Jet> &jets : nyssa::Dataset(path).read({"jets"}).objects<std::vector<evolved::Jet>>("jets"))
    for (const evolved::Jet &jet : jets)
      EXPECT(jet.charge == 0.5f && jet.version() == 1 && jet.hits.size() == 1);
  refused([&] { events.read({"jets"}).objects<std::vector<Lacking>>("jets"); }, NYSSA_NOT_FOUND,
          "column jets has neither x nor nowhere");
  refused([&] { nyssa::Writer::update(old).append<std::vector<evolved::Jet>>("Events"); }, NYSSA_INVALID_ARGUMENT, "other members");
}

// Checks a cluster of an entry.
void check(const evolved::Cluster &cluster, int i) {
  const auto number = static_cast<float>(i);
  EXPECT(cluster.x == 3 * number && cluster.energy == 2 * number && cluster.weight == 2. * i && cluster.pt == number);
  EXPECT(cluster.q[0][2] == 0 && cluster.q[1][0] == 10 * number && cluster.q[1][2] == 10 * number + 2);
}

// Rules make base classes and arrays, and members by the version of the class. Files of several versions are read one after
// the other: each batch is bound by its own schema.
void evolve_versions(const std::string &old, const std::string &path) {
  nyssa::Writer file(path);
  auto table = file.table("Events", nyssa::field<evolved::Cluster>("cluster"));
  int i = 0;
  for (nyssa::Batch &batch : nyssa::Dataset(old).batches({"cluster"}))
    for (const evolved::Cluster &cluster : batch.objects<evolved::Cluster>("cluster")) {
      check(cluster, i++);
      table.fill(cluster);
    }
  EXPECT(i == event::entries);
  table.commit();
  file.commit();
  for (const std::string &one : {old, path}) {
    i = 0;
    for (nyssa::Batch &batch : nyssa::Dataset(one).batches({"cluster"}))
      for (const evolved::Cluster &cluster : batch.objects<evolved::Cluster>("cluster"))
        check(cluster, i++);
    EXPECT(i == event::entries);
  }
  const nyssa::Batch all = nyssa::Dataset(old).read({"cluster"});
  refused([&] { all.objects<evolved::NoBase>("cluster"); }, NYSSA_NOT_FOUND, "evolved::Weight");
  refused([&] { all.objects<evolved::Short>("cluster")[0]; }, NYSSA_INVALID_ARGUMENT,
          "a read rule makes 3 values for an array of 2");
}

// The bytes of a framework's streamer go in, and objects are made of their members. The field may be added before the first
// entry, or with the values of all entries.
void stream(const std::string &bytes, const std::string &infos, const std::string &path, const std::string &later) {
  std::ifstream in(bytes, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  std::vector<nyssa::Streamed> products;
  for (std::size_t at = 0; at < all.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, all.data() + at, sizeof(size));
    products.push_back({std::string_view(all).substr(at + sizeof(size), size)});
    at += sizeof(size) + size;
  }
  const auto field = nyssa::streamed("product", "event::Product", infos);
  {
    nyssa::Writer file(path);
    auto table = file.table("Events", nyssa::field<int>("i")).with(field);
    for (int i = 0; i < event::entries; ++i)
      table.fill(i, products[static_cast<std::size_t>(i)]);
    table.commit();
    file.commit();
  }
  {
    nyssa::Writer file(later);
    auto table = file.table("Events", nyssa::field<int>("i"));
    for (int i = 0; i < event::entries; ++i)
      table.fill(i);
    table.flush();
    refused([&] { table.with(field); }, NYSSA_INVALID_ARGUMENT, "would have objects without bytes");
    table.commit();
    file.commit();
  }
  {
    nyssa::detail::Rows<nyssa::Streamed> rows;
    for (const nyssa::Streamed &product : products)
      rows.append(product);
    ArrowArray array = rows.take();
    nyssa::Writer file = nyssa::Writer::update(later);
    nyssa::detail::Handle<nyssa_table> table;
    nyssa::detail::call(nyssa_writer_append, file.get(), "Events", nullptr, table.place());
    const std::string defined = nyssa::detail::definitions(field);
    nyssa::detail::call(nyssa_table_add_fields, table.get(), nullptr, defined.c_str(), &array);
    file.commit();
  }
  for (const std::string &one : {path, later}) {
    int i = 0;
    for (const event::Product &product : nyssa::Dataset(one).read({"product"}).objects<event::Product>("product"))
      EXPECT(product == event::product(i++));
    EXPECT(i == event::entries);
  }
  nyssa::Writer other(path + ".other");
  refused([&] { other.table("Events", nyssa::streamed("product", "event::Jet", infos)); }, NYSSA_INVALID_ARGUMENT, "event::Jet");
}

// Collections of ROOT's proxies are read, and written again.
void collect(const std::string &given, const std::string &path) {
  using Hits = user_collection::Hits;
  nyssa::Writer file(path);
  auto table = file.table("Events", nyssa::field<Hits>("one"), nyssa::field<std::vector<Hits>>("many"));
  const nyssa::Batch all = nyssa::Dataset(given).read({"one", "many"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Hits one = all.objects<Hits>("one")[i];
    const std::vector<Hits> many = all.objects<std::vector<Hits>>("many")[i];
    EXPECT(one.items == std::vector<float>(i, 1.5f * static_cast<float>(i)) && many.size() == i % 3);
    table.fill(one, many);
  }
  table.commit();
  file.commit();
}

} // namespace

int main(int, char **arguments) {
  const std::string command = arguments[1];
  try {
    if (command == "write")
      write(arguments[2]);
    else if (command == "read")
      read(arguments[2]);
    else if (command == "lose")
      lose(arguments[2]);
    else if (command == "evolve")
      evolve(arguments[2], arguments[3]);
    else if (command == "versions")
      evolve_versions(arguments[2], arguments[3]);
    else if (command == "stream")
      stream(arguments[2], arguments[3], arguments[4], arguments[5]);
    else if (command == "late")
      come_late(arguments[2]);
    else if (command == "collect")
      collect(arguments[2], arguments[3]);
    else
      use(arguments[2]);
  } catch (const nyssa::Error &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
