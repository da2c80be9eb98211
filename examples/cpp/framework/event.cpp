// Makes and compares events.

#include "event.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <tuple>

namespace products {

namespace {

// The generator of random numbers splitmix64.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>(mixed >> 32);
  }
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>((std::uint64_t{next()} * end) >> 32); }

private:
  std::uint64_t state_;
};

// Random numbers of a distribution, which its quantiles give. They keep 12 bits of their fraction, as in NanoAOD.
class Distribution {
public:
  template <class Quantile> explicit Distribution(Quantile quantile) {
    for (std::size_t index = 0; index < values_.size(); ++index)
      values_[index] = static_cast<float>(quantile((static_cast<double>(index) + 0.5) / static_cast<double>(values_.size())));
  }
  float operator()(Random &random) const {
    const std::uint32_t bits = random.next();
    const float low = values_[bits >> 20], high = values_[(bits >> 20) + 1];
    float value = low + (high - low) * static_cast<float>(bits & 0xfffff) * 0x1p-20f;
    std::uint32_t kept;
    std::memcpy(&kept, &value, sizeof(kept));
    kept &= 0xfffff800;
    std::memcpy(&value, &kept, sizeof(kept));
    return value;
  }

private:
  std::array<float, 4097> values_;
};

const Distribution energy([](double part) { return 20 - 30 * std::log(1 - part); });
const Distribution momentum([](double part) { return 0.5 - 2 * std::log(1 - part); });
const Distribution centred([](double part) { return std::log(part / (1 - part)); });
const Distribution angle([](double part) { return 3.14159265 * (2 * part - 1); });
const Distribution share([](double part) { return part; });

const std::array<const char *, 12> trigger_names = {
    "HLT_IsoMu24",        "HLT_IsoMu27",         "HLT_Ele32_WPTight_Gsf", "HLT_PFMET120_PFMHT120_IDTight",
    "HLT_PFHT1050",       "HLT_PFJet500",        "HLT_AK8PFJet400",       "HLT_Photon200",
    "HLT_DoubleEle25",    "HLT_Mu17_Mu8_DZ",     "HLT_TripleMu_12_10_5",  "HLT_DoubleTau35",
};

} // namespace

void make(Event &event, std::uint64_t number) {
  Random random(number * 0xd1342543de82ef95 + 1);
  event.header = {362760, static_cast<std::uint32_t>(number / 1000), number, random.below(100) == 0 ? -1.f : 1.f};
  event.jets.resize(random.below(8));
  for (Jet &jet : event.jets) {
    jet.pt = energy(random);
    jet.eta = centred(random);
    jet.phi = angle(random);
    jet.mass = momentum(random);
    jet.tag = share(random);
    jet.hits.resize(4 + random.below(16));
    for (Hit &hit : jet.hits)
      hit = {centred(random), centred(random), angle(random), static_cast<std::uint16_t>(random.below(3000))};
  }
  event.tracks.resize(20 + random.below(40));
  for (Track &track : event.tracks) {
    track.pt = momentum(random);
    track.eta = centred(random);
    track.phi = angle(random);
    track.dxy = centred(random);
    track.dz = centred(random);
    track.chi2 = share(random);
    track.hits = static_cast<std::int16_t>(8 + random.below(20));
    track.charge = random.below(2) == 0 ? 1 : -1;
  }
  event.muons.resize(random.below(3));
  for (Muon &muon : event.muons) {
    muon.pt = energy(random);
    muon.eta = centred(random);
    muon.phi = angle(random);
    muon.isolation = share(random);
    muon.charge = random.below(2) == 0 ? 1 : -1;
  }
  event.triggers.clear();
  for (const char *name : trigger_names)
    if (random.below(4) == 0)
      event.triggers.emplace_back(name);
}

namespace {

auto members(const Header &one) { return std::tie(one.run, one.block, one.number, one.weight); }
auto members(const Hit &one) { return std::tie(one.x, one.y, one.z, one.cell); }
auto members(const Track &one) {
  return std::tie(one.pt, one.eta, one.phi, one.dxy, one.dz, one.chi2, one.hits, one.charge);
}
auto members(const Muon &one) { return std::tie(one.pt, one.eta, one.phi, one.isolation, one.charge); }
auto members(const Jet &one) { return std::tie(one.pt, one.eta, one.phi, one.mass, one.tag); }

template <class T> bool equal_lists(const std::vector<T> &left, const std::vector<T> &right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const T &one, const T &other) {
    if constexpr (std::is_same_v<T, Jet>)
      return members(one) == members(other) && equal_lists(one.hits, other.hits);
    else
      return members(one) == members(other);
  });
}

} // namespace

bool equal(const Event &left, const Event &right) {
  return members(left.header) == members(right.header) && equal_lists(left.jets, right.jets) &&
         equal_lists(left.tracks, right.tracks) && equal_lists(left.muons, right.muons) && left.triggers == right.triggers;
}

} // namespace products
