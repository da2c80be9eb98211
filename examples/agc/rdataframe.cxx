// The analysis with RDataFrame, in compiled C++, to compare its speed. Python calls `AgcRun` (rdataframe.py).
#include <ROOT/RDFHelpers.hxx>
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RVec.hxx>
#include <Math/ProbFuncMathCore.h>
#include <Math/QuantFuncMathCore.h>
#include <TH1D.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

using ROOT::RVecB, ROOT::RVecD, ROOT::RVecF, ROOT::RVecI;

struct AgcSample {
   std::string process, variation;
   std::vector<std::string> files;
   double weight;
};

constexpr float kPt = 30;
constexpr double kBtag = 0.5;

// The good jets of an event.
struct AgcJets {
   RVecF pt, eta, phi, mass, btag;
   int tagged = 0;
};

// Returns factors of the resolution of jets, by the three decimals of their momenta.
static std::vector<float> Resolution()
{
   std::vector<float> factors;
   for (int i = 0; i < 1000; ++i)
      factors.push_back(1 + ROOT::Math::gaussian_quantile(0.001 * i + 0.0005, 0.05));
   return factors;
}

static ROOT::RVec<RVecF> VaryPt(const RVecF &pt)
{
   static const std::vector<float> factors = Resolution();
   RVecF scaled(pt.size()), smeared(pt.size());
   for (std::size_t i = 0; i < pt.size(); ++i) {
      scaled[i] = pt[i] * 1.03f;
      smeared[i] = pt[i] * factors[static_cast<int>(pt[i] * 1000) % 1000];
   }
   return {scaled, smeared};
}

static bool OneLepton(const RVecF &ept, const RVecF &eeta, const RVecF &esip, const RVecI &eid, const RVecF &mpt,
                      const RVecF &meta, const RVecF &msip, const RVecB &mid, const RVecF &miso)
{
   int good = 0;
   for (std::size_t i = 0; i < ept.size(); ++i)
      good += ept[i] > kPt && std::abs(eeta[i]) < 2.1 && esip[i] < 4 && eid[i] == 4;
   for (std::size_t i = 0; i < mpt.size(); ++i)
      good += mpt[i] > kPt && std::abs(meta[i]) < 2.1 && msip[i] < 4 && mid[i] && miso[i] < 0.15;
   return good == 1;
}

static AgcJets GoodJets(const RVecF &pt, const RVecF &eta, const RVecF &phi, const RVecF &mass, const RVecF &btag,
                        const RVecI &id)
{
   AgcJets jets;
   for (std::size_t i = 0; i < pt.size(); ++i) {
      if (!(pt[i] > kPt && std::abs(eta[i]) < 2.4 && id[i] == 6))
         continue;
      jets.pt.push_back(pt[i]);
      jets.eta.push_back(eta[i]);
      jets.phi.push_back(phi[i]);
      jets.mass.push_back(mass[i]);
      jets.btag.push_back(btag[i]);
      jets.tagged += btag[i] > kBtag;
   }
   return jets;
}

// Returns the mass of the three jets, one of them tagged, with the largest momentum together.
static double TrijetMass(const AgcJets &jets)
{
   const std::size_t n = jets.pt.size();
   RVecD px(n), py(n), pz(n), e(n);
   for (std::size_t i = 0; i < n; ++i) {
      const double pt = jets.pt[i], m = jets.mass[i];
      px[i] = pt * std::cos(double(jets.phi[i]));
      py[i] = pt * std::sin(double(jets.phi[i]));
      pz[i] = pt * std::sinh(double(jets.eta[i]));
      e[i] = std::sqrt(px[i] * px[i] + py[i] * py[i] + pz[i] * pz[i] + m * m);
   }
   double best = -1, mass = 0;
   for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j)
         for (std::size_t k = j + 1; k < n; ++k) {
            if (!(jets.btag[i] > kBtag || jets.btag[j] > kBtag || jets.btag[k] > kBtag))
               continue;
            const double x = px[i] + px[j] + px[k], y = py[i] + py[j] + py[k];
            if (x * x + y * y <= best)
               continue;
            best = x * x + y * y;
            const double z = pz[i] + pz[j] + pz[k], t = e[i] + e[j] + e[k];
            mass = std::sqrt(t * t - best - z * z);
         }
   return mass;
}

static RVecD VaryBtag(double weight, const AgcJets &jets)
{
   RVecD weights;
   for (int i = 0; i < 4; ++i) {
      weights.push_back(weight * float(1 + .075 * jets.pt[i] / 50));
      weights.push_back(weight * float(1 - .075 * jets.pt[i] / 50));
   }
   return weights;
}

// Returns all histograms by their names.
std::map<std::string, TH1D> AgcRun(const std::vector<AgcSample> &samples)
{
   TH1::AddDirectory(false);
   std::vector<std::string> btags;
   for (int i = 0; i < 4; ++i)
      for (const char *direction : {"up", "down"})
         btags.push_back("btag_var_" + std::to_string(i) + "_" + direction);

   std::vector<ROOT::RDF::RNode> frames;
   std::vector<ROOT::RDF::RResultHandle> loops;
   std::map<std::string, ROOT::RDF::RResultPtr<TH1D>> plain;
   std::map<std::string, ROOT::RDF::Experimental::RResultMap<TH1D>> varied;
   for (const auto &sample : samples) {
      const bool nominal = sample.variation == "nominal";
      const double weight = sample.weight;
      ROOT::RDF::RNode frame = ROOT::RDataFrame("Events", sample.files).Define("weight", [weight] { return weight; });
      if (nominal)
         frame = frame.Vary("Jet_pt", VaryPt, {"Jet_pt"}, {"pt_scale_up", "pt_res_up"});
      if (sample.process == "wjets")
         frame = frame.Vary("weight", [](double w) { return RVecD{w * (1 + .025f), w * (1 - .025f)}; }, {"weight"},
                            {"scale_var_up", "scale_var_down"});
      frame = frame
                 .Filter(OneLepton, {"Electron_pt", "Electron_eta", "Electron_sip3d", "Electron_cutBased", "Muon_pt",
                                     "Muon_eta", "Muon_sip3d", "Muon_tightId", "Muon_pfRelIso04_all"})
                 .Define("jets", GoodJets, {"Jet_pt", "Jet_eta", "Jet_phi", "Jet_mass", "Jet_btagCSVV2", "Jet_jetId"})
                 .Filter([](const AgcJets &jets) { return jets.pt.size() >= 4; }, {"jets"});
      if (nominal)
         frame = frame.Vary("weight", VaryBtag, {"weight", "jets"}, btags);
      auto one = frame.Filter([](const AgcJets &jets) { return jets.tagged == 1; }, {"jets"})
                    .Define("value", [](const AgcJets &jets) { return ROOT::VecOps::Sum(jets.pt); }, {"jets"});
      auto two = frame.Filter([](const AgcJets &jets) { return jets.tagged > 1; }, {"jets"})
                    .Define("value", TrijetMass, {"jets"});
      const auto suffix = sample.process + (nominal ? "" : "_" + sample.variation);
      const auto book = [&](auto &node, const std::string &name, auto value) {
         auto histogram =
            node.template Histo1D<decltype(value), double>({name.c_str(), "", 25, 50, 550}, "value", "weight");
         if (nominal)
            varied.emplace(name, ROOT::RDF::Experimental::VariationsFor(histogram));
         else
            plain.emplace(name, histogram);
         loops.emplace_back(histogram);
      };
      book(one, "4j1b_" + suffix, float());
      book(two, "4j2b_" + suffix, double());
      frames.push_back(frame);
   }
   ROOT::RDF::RunGraphs(loops);
   std::map<std::string, TH1D> found;
   for (auto &[name, histogram] : plain)
      found.emplace(name, *histogram);
   for (auto &[name, histograms] : varied)
      for (const auto &key : histograms.GetKeys())
         found.emplace(key == "nominal" ? name : name + "_" + key.substr(key.find(':') + 1), histograms[key]);
   for (const std::string region : {"4j1b", "4j2b"}) {
      TH1D pseudodata = found.at(region + "_wjets");
      pseudodata.Add(&found.at(region + "_ttbar_PS_var"), 0.5);
      pseudodata.Add(&found.at(region + "_ttbar_ME_var"), 0.5);
      found.emplace(region + "_pseudodata", pseudodata);
   }
   return found;
}
