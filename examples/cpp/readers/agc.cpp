// The ttbar analysis of the Analysis Grand Challenge on views: agc SAMPLES THREADS
//
// SAMPLES is a text. Each line is a sample: its process, its variation, the weight of its events, and its files. The program
// prints the histograms, and what it took, as JSON. examples/agc explains the analysis and has it in Python and in
// RDataFrame; all fill the same histograms.

#include "clock.hpp"

#include <nyssa.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

namespace {

struct Sample {
  std::string process, variation;
  double weight = 0;
  std::vector<std::string> files;
  bool is_nominal() const { return variation == "nominal"; }
};

// 25 bins from 50 to 550, with those below and above.
struct Histogram {
  std::array<double, 27> contents{}, squares{};

  void fill(double value, double weight) {
    const auto bin = value < 50 ? 0 : value < 550 ? 1 + static_cast<std::size_t>(25 * (value - 50) / 500) : 26;
    contents[bin] += weight;
    squares[bin] += weight * weight;
  }
  void add(const Histogram &other, double factor = 1) {
    for (std::size_t bin = 0; bin < contents.size(); ++bin) {
      contents[bin] += factor * other.contents[bin];
      squares[bin] += factor * factor * other.squares[bin];
    }
  }
};
using Histograms = std::map<std::string, Histogram>;

constexpr float least_pt = 30;
constexpr float tag = 0.5f;

// Returns the factors of the resolution of jets: for 1,000 probabilities, where a normal distribution has them.
std::array<float, 1000> resolution() {
  std::array<float, 1000> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double probability = 0.001 * static_cast<double>(i) + 0.0005;
    double x = 0;
    for (int step = 0; step < 40; ++step)
      x -= (0.5 * std::erfc(-x / std::sqrt(2.)) - probability) * std::sqrt(2 * std::acos(-1.)) * std::exp(x * x / 2);
    all[i] = static_cast<float>(1 + 0.05 * x);
  }
  return all;
}
const std::array<float, 1000> factors = resolution();

// The columns of a batch of events.
struct Events {
  nyssa::Lists<float> electron_pt, electron_eta, electron_sip3d, muon_pt, muon_eta, muon_sip3d, muon_iso;
  nyssa::Lists<int> electron_id;
  nyssa::Lists<bool> muon_id;
  nyssa::Lists<float> pt, eta, phi, mass, btag;
  nyssa::Lists<int> id;

  static std::vector<std::string> columns() {
    return {"Electron_pt", "Electron_eta", "Electron_sip3d", "Electron_cutBased",       "Muon_pt",
            "Muon_eta",    "Muon_sip3d",   "Muon_tightId",   "Muon_pfRelIso04_all",     "Jet_pt",
            "Jet_eta",     "Jet_phi",      "Jet_mass",       "Jet_btagCSVV2",           "Jet_jetId"};
  }
  explicit Events(const nyssa::Batch &batch)
      : electron_pt(batch.lists<float>("Electron_pt")), electron_eta(batch.lists<float>("Electron_eta")),
        electron_sip3d(batch.lists<float>("Electron_sip3d")), muon_pt(batch.lists<float>("Muon_pt")),
        muon_eta(batch.lists<float>("Muon_eta")), muon_sip3d(batch.lists<float>("Muon_sip3d")),
        muon_iso(batch.lists<float>("Muon_pfRelIso04_all")), electron_id(batch.lists<int>("Electron_cutBased")),
        muon_id(batch.lists<bool>("Muon_tightId")), pt(batch.lists<float>("Jet_pt")), eta(batch.lists<float>("Jet_eta")),
        phi(batch.lists<float>("Jet_phi")), mass(batch.lists<float>("Jet_mass")), btag(batch.lists<float>("Jet_btagCSVV2")),
        id(batch.lists<int>("Jet_jetId")) {}

  bool has_one_lepton(std::size_t event) const {
    int good = 0;
    const auto pts = electron_pt[event], etas = electron_eta[event], sips = electron_sip3d[event];
    const auto ids = electron_id[event];
    for (std::size_t i = 0; i < pts.size(); ++i)
      good += pts[i] > least_pt && std::abs(etas[i]) < 2.1 && sips[i] < 4 && ids[i] == 4;
    const auto muons = muon_pt[event], muon_etas = muon_eta[event], muon_sips = muon_sip3d[event], isos = muon_iso[event];
    const auto tight = muon_id[event];
    for (std::size_t i = 0; i < muons.size(); ++i)
      good += muons[i] > least_pt && std::abs(muon_etas[i]) < 2.1 && muon_sips[i] < 4 && tight[i] && isos[i] < 0.15;
    return good == 1;
  }
};

// A jet; its momentum is pt times x, y and z.
struct Jet {
  float pt = 0;
  double x = 0, y = 0, z = 0, mass = 0;
  bool is_tagged = false;
};

// Returns the mass of the three jets, one of them tagged, with the largest momentum together.
double trijet_mass(const std::vector<Jet> &jets) {
  struct Momentum {
    double x, y, z, e;
  };
  thread_local std::vector<Momentum> all;
  all.clear();
  for (const Jet &jet : jets) {
    const double x = jet.pt * jet.x, y = jet.pt * jet.y, z = jet.pt * jet.z;
    all.push_back({x, y, z, std::sqrt(x * x + y * y + z * z + jet.mass * jet.mass)});
  }
  double best = -1, mass = 0;
  for (std::size_t i = 0; i < jets.size(); ++i)
    for (std::size_t j = i + 1; j < jets.size(); ++j)
      for (std::size_t k = j + 1; k < jets.size(); ++k) {
        const double x = all[i].x + all[j].x + all[k].x, y = all[i].y + all[j].y + all[k].y;
        if (x * x + y * y <= best || !(jets[i].is_tagged || jets[j].is_tagged || jets[k].is_tagged))
          continue;
        best = x * x + y * y;
        const double z = all[i].z + all[j].z + all[k].z, e = all[i].e + all[j].e + all[k].e;
        mass = std::sqrt(e * e - best - z * z);
      }
  return mass;
}

// The analysis of the events of a sample. The histograms of a region are, in order: without a variation, of other momenta
// of jets, and of other weights.
class Analysis {
public:
  explicit Analysis(const Sample &sample) : sample_(sample) {
    if (!sample.is_nominal())
      return;
    names_ = {"", "_pt_scale_up", "_pt_res_up"};
    for (int jet = 0; jet < 4; ++jet)
      for (const char *direction : {"_up", "_down"})
        names_.push_back("_btag_var_" + std::to_string(jet) + direction);
    if (sample.process == "wjets")
      names_.insert(names_.end(), {"_scale_var_up", "_scale_var_down"});
  }

  void run(const Events &events, std::size_t event) {
    if (!events.has_one_lepton(event))
      return;
    const auto pt = events.pt[event], eta = events.eta[event], phi = events.phi[event], mass = events.mass[event],
               btag = events.btag[event];
    const auto id = events.id[event];
    candidates_.clear();
    for (std::size_t i = 0; i < pt.size(); ++i)
      if (pt[i] * factors.back() > least_pt && std::abs(eta[i]) < 2.4 && id[i] == 6)
        candidates_.push_back({pt[i], double(phi[i]), double(phi[i]), double(eta[i]), double(mass[i]), btag[i] > tag});
    if (candidates_.size() < 4)
      return;
    for (Jet &jet : candidates_)
      jet.x = std::cos(jet.x), jet.y = std::sin(jet.y), jet.z = std::sinh(jet.z);
    fill(0, [](float value) { return value; });
    if (sample_.is_nominal()) {
      fill(1, [](float value) { return value * 1.03f; });
      fill(2, [](float value) { return value * factors[static_cast<std::size_t>(value * 1000) % 1000]; });
    }
  }

  // Adds the histograms to those of other events.
  void add_to(Histograms &all) const {
    const char *regions[] = {"4j1b_", "4j2b_"};
    const std::string suffix = sample_.process + (sample_.is_nominal() ? "" : "_" + sample_.variation);
    for (std::size_t region = 0; region < 2; ++region)
      for (std::size_t number = 0; number < names_.size(); ++number)
        all[regions[region] + suffix + names_[number]].add(histograms_[region][number]);
  }

private:
  template <class Vary> void fill(std::size_t number, Vary vary) {
    jets_.clear();
    int tagged = 0;
    for (Jet jet : candidates_) {
      jet.pt = vary(jet.pt);
      if (!(jet.pt > least_pt))
        continue;
      jets_.push_back(jet);
      tagged += jet.is_tagged;
    }
    if (jets_.size() < 4 || tagged == 0)
      return;
    float sum = 0;
    for (const Jet &jet : jets_)
      sum += jet.pt;
    const double value = tagged == 1 ? double(sum) : trijet_mass(jets_);
    auto &histograms = histograms_[tagged == 1 ? 0 : 1];
    histograms[number].fill(value, sample_.weight);
    if (number != 0 || !sample_.is_nominal())
      return;
    for (std::size_t jet = 0; jet < 4; ++jet) {
      const double shift = .075 * jets_[jet].pt / 50;
      histograms[3 + 2 * jet].fill(value, sample_.weight * double(static_cast<float>(1 + shift)));
      histograms[4 + 2 * jet].fill(value, sample_.weight * double(static_cast<float>(1 - shift)));
    }
    if (sample_.process == "wjets") {
      histograms[11].fill(value, sample_.weight * double(1 + .025f));
      histograms[12].fill(value, sample_.weight * double(1 - .025f));
    }
  }

  const Sample &sample_;
  std::vector<std::string> names_{""};
  std::array<std::array<Histogram, 13>, 2> histograms_{};
  std::vector<Jet> candidates_, jets_;
};

std::vector<Sample> samples(const char *path) {
  std::vector<Sample> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Sample &sample = all.emplace_back();
    words >> sample.process >> sample.variation >> sample.weight;
    for (std::string file; words >> file;)
      sample.files.push_back(file);
  }
  return all;
}

// Runs the analysis; each thread takes the next file until there is none.
Histograms analyse(const std::vector<Sample> &all, std::size_t threads) {
  std::vector<std::pair<const Sample *, const std::string *>> files;
  for (const Sample &sample : all)
    for (const std::string &file : sample.files)
      files.emplace_back(&sample, &file);
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    const nyssa::Context single(1);
    Histograms found;
    for (std::size_t at = next++; at < files.size(); at = next++) {
      Analysis analysis(*files[at].first);
      const nyssa::Dataset dataset(*files[at].second, "", &single);
      for (const nyssa::Batch &batch : dataset.batches(Events::columns(), "", &single)) {
        const Events events(batch);
        for (std::size_t event = 0; event < batch.size(); ++event)
          analysis.run(events, event);
      }
      analysis.add_to(found);
    }
    return found;
  };
  std::vector<std::future<Histograms>> parts;
  for (std::size_t thread = 0; thread < threads; ++thread)
    parts.push_back(std::async(std::launch::async, work));
  Histograms histograms;
  for (auto &part : parts)
    for (const auto &[name, histogram] : part.get())
      histograms[name].add(histogram);
  for (const std::string region : {"4j1b", "4j2b"}) {
    Histogram &pseudodata = histograms[region + "_pseudodata"];
    pseudodata.add(histograms[region + "_wjets"]);
    pseudodata.add(histograms[region + "_ttbar_PS_var"], 0.5);
    pseudodata.add(histograms[region + "_ttbar_ME_var"], 0.5);
  }
  return histograms;
}

} // namespace

int main(int count, char **arguments) try {
  if (count != 3) {
    std::cerr << "usage: agc SAMPLES THREADS\n";
    return 2;
  }
  const std::vector<Sample> all = samples(arguments[1]);
  const Clock clock;
  const Histograms histograms = analyse(all, std::stoul(arguments[2]));
  std::cout << std::setprecision(17) << "{";
  clock.write(std::cout);
  const char *separator = ", \"histograms\": {";
  for (const auto &[name, histogram] : histograms) {
    std::cout << separator << '"' << name << "\": {\"contents\": [";
    for (std::size_t bin = 0; bin < histogram.contents.size(); ++bin)
      std::cout << (bin ? ", " : "") << histogram.contents[bin];
    std::cout << "], \"errors\": [";
    for (std::size_t bin = 0; bin < histogram.squares.size(); ++bin)
      std::cout << (bin ? ", " : "") << std::sqrt(histogram.squares[bin]);
    std::cout << "]}";
    separator = ", ";
  }
  std::cout << "}}\n";
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
