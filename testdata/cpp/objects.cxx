// Histograms, graphs and other objects with keys of their own, written by ROOT for test_objects.py.

#include <map>
#include <string>
#include <vector>

namespace nyssa_objects {

const double points[4] = {1, 2, 4, 8}, low[4] = {.1, .2, .3, .4}, high[4] = {.5, .6, .7, .9};
const double variable[5] = {0, 1, 3, 7, 10};

template <typename T> void one(const char *name) {
   T h(name, "one;x;y", 10, -3, 3);
   for (int i = 0; i < 100; ++i) h.Fill(gRandom->Gaus());
   h.Write();
}
template <typename T> void two(const char *name) {
   T h(name, "two", 4, -3, 3, 3, 0, 2);
   for (int i = 0; i < 100; ++i) h.Fill(gRandom->Gaus(), gRandom->Uniform(-.5, 2.5));
   h.Write();
}
template <typename T> void three(const char *name) {
   T h(name, "three", 4, -3, 3, 3, 0, 2, 2, 0, 1);
   for (int i = 0; i < 100; ++i) h.Fill(gRandom->Gaus(), gRandom->Uniform(-.5, 2.5), gRandom->Rndm());
   h.Write();
}

void profiles(const char *mode) {
   auto named = [&](const char *name) { return std::string(name) + mode; };
   TProfile p(named("profile").c_str(), "p", 5, 0, 5, mode);
   TProfile whole(named("integers").c_str(), "p", 5, 0, 5, mode);
   TProfile2D p2(named("profile2").c_str(), "p", 5, 0, 5, 3, 0, 1, mode);
   TProfile3D p3(named("profile3").c_str(), "p", 2, 0, 5, 3, 0, 1, 2, 0, 1, mode);
   auto random = [](double a, double b) { return gRandom->Uniform(a, b); };
   for (int i = 0; i < 100; ++i) {
      p.Fill(random(-.5, 4), gRandom->Gaus(), random(0, 1));
      whole.Fill(random(-.5, 3), i % 2);
      p2.Fill(random(-.5, 5.5), random(0, 1), gRandom->Gaus(), random(0, 1));
      p3.Fill(random(-.5, 5.5), random(0, 1), random(0, 1), gRandom->Gaus());
   }
   whole.Fill(3.5, 2);
   whole.Fill(3.5, 2);
   p.Write();
   whole.Write();
   p2.Write();
   p3.Write();
}

/// Histograms of many dimensions, an efficiency, and graphs of two.
void dimensions(const char *path) {
   TFile file(path, "recreate");
   const int bins[] = {4, 3}, wide[] = {1000, 2, 70000, 9, 100000, 3};
   const double from[] = {0, 0, 0, 0, 0, 0}, to[] = {4, 3, 1, 1, 1, 1};
   THnSparseD sparse("sparse", "", 2, bins, from, to);
   sparse.Sumw2();
   THnF dense("dense", "", 2, bins, from, to);
   THnSparseI many("many", "", 6, wide, from, to);
   for (int i = 0; i < 6; ++i) {
      double place[] = {0.7 * i - 0.5, 1.5, 0.11 * i, 0.5, 0.19 * i, 0.3 * i};
      sparse.Fill(place, 1 + i);
      dense.Fill(place, 1 + i);
      for (int k = 0; k <= i; ++k) many.Fill(place);
   }
   sparse.Write();
   dense.Write();
   many.Write();
   TH2D all("all", "", 2, 0, 2, 2, 0, 2), passed("passed", "", 2, 0, 2, 2, 0, 2);
   for (int i = 0; i < 12; ++i) {
      all.Fill(i % 2, i % 3);
      if (i % 4 == 0) passed.Fill(i % 2, i % 3);
   }
   TEfficiency(passed, all).Write("efficiency");
   double x[] = {1, 2, 3}, y[] = {4, 5, 6}, z[] = {7, 8, 9}, e[] = {.1, .2, .3}, f[] = {.4, .5, .6};
   TGraph2D(3, x, y, z).Write("plain");
   TGraph2DErrors(3, x, y, z, e, f, e).Write("errors");
   TGraph2DAsymmErrors(3, x, y, z, e, f, e, f, e, f).Write("asymmetric");
}

void buffers() {
   TH1I weighted("bufferedweights", "", 7, 0, 0);
   TH2F plane("bufferedplane", "", 4, 0, 0, 3, -1, 1);
   TH3D space("bufferedspace", "", 4, 0, 0, 3, 0, 0, 2, 0, 0);
   TProfile means("bufferedmeans", "", 5, 0, 0, -8, 8);
   TH1D fixed("bufferedfixed", "", 10, 0, 1);
   fixed.SetBuffer(100);
   for (int i = 0; i < 9; ++i) {
      weighted.Fill(1e-3 * i, i % 3);
      plane.Fill(-17.3 * i, 0.3 * i - 1);
      space.Fill(i * i, 1 - i, 5, 0.5);
      means.Fill(3.7, i);
      fixed.Fill(0.1 * i, 1);
   }
   for (TH1 *one : {(TH1 *)&weighted, (TH1 *)&plane, (TH1 *)&space, (TH1 *)&means, (TH1 *)&fixed}) one->Write();
}

void histograms(const char *path) {
   TFile file(path, "RECREATE");
   gRandom->SetSeed(1);
   file.mkdir("one")->cd();
   one<TH1C>("TH1C"); one<TH1S>("TH1S"); one<TH1I>("TH1I"); one<TH1L>("TH1L"); one<TH1F>("TH1F"); one<TH1D>("TH1D");
   file.mkdir("two")->cd();
   two<TH2C>("TH2C"); two<TH2S>("TH2S"); two<TH2I>("TH2I"); two<TH2L>("TH2L"); two<TH2F>("TH2F"); two<TH2D>("TH2D");
   file.mkdir("three")->cd();
   three<TH3C>("TH3C"); three<TH3S>("TH3S"); three<TH3I>("TH3I"); three<TH3L>("TH3L"); three<TH3F>("TH3F"); three<TH3D>("TH3D");
   file.cd();
   TH1D weighted("weighted", "variable;energy", 4, variable);
   TH2F weighted2("weighted2", "variable", 4, variable, 3, 0, 1);
   weighted.Sumw2();
   weighted2.Sumw2();
   for (int i = 0; i < 50; ++i) {
      weighted.Fill(gRandom->Uniform(-1, 11), gRandom->Rndm());
      weighted2.Fill(gRandom->Uniform(-1, 11), gRandom->Rndm(), gRandom->Gaus());
   }
   weighted.Write();
   weighted2.Write();
   TH1F negative("negative", "negative", 3, 0, 3);
   negative.SetBinContent(2, -4);
   negative.Write();
   TH1F labels("labels", "labels", 3, 0, 3);
   labels.Fill("b", 1);
   labels.Fill("a", 2);
   labels.Fill("c", 5);
   labels.LabelsOption("a");
   labels.Write();
   TH1F some("some", "one label", 3, 0, 3);
   some.GetXaxis()->SetBinLabel(2, "two");
   some.Write();
   TH1F fitted("fitted", "fitted", 30, -3, 3);
   fitted.FillRandom("gaus", 1000);
   fitted.Fit("gaus", "QN0");
   fitted.GetListOfFunctions()->Add(new TF1("line", "[0]+[1]*x", 0, 1));
   fitted.Write();
   for (auto mode : {"", "s", "i", "g"}) profiles(mode);
   TH1F buffered("buffered", "buffered", 10, 0, 0);
   for (int i = 0; i < 4; ++i) buffered.Fill(i);
   buffered.Write();
   buffers();
   TH1F flushed("flushed", "flushed", 10, 0, 0);
   for (int i = 0; i < 4; ++i) flushed.Fill(i);
   flushed.GetBinContent(1);
   flushed.Write();
   TH2Poly polygons;
   polygons.SetName("polygons");
   polygons.AddBin(0, 0, 1, 1);
   polygons.Fill(.5, .5, 2);
   polygons.Write();
   file.Close();
}

void graphs(const char *path) {
   TFile file(path, "RECREATE");
   TGraph(4, points, low).Write("TGraph");
   TGraph().Write("empty");
   TGraphErrors(4, points, points, low, high).Write("TGraphErrors");
   TGraphAsymmErrors(4, points, points, low, high, high, low).Write("TGraphAsymmErrors");
   TGraphBentErrors(4, points, points, low, high, high, low, low, low, low, low).Write("TGraphBentErrors");
   for (int mode = 0; mode < 3; ++mode) {
      TGraphMultiErrors g("g", "g", 4, points, points, low, high, low, high, mode);
      g.AddYError(4, high, low);
      g.Write(("TGraphMultiErrors" + std::to_string(mode)).c_str());
   }
   file.Close();
}

void others(const char *path) {
   // Or the file would delete what is in lists.
   TH1::AddDirectory(false);
   TFile file(path, "RECREATE");
   std::vector<double> numbers{1, 2, 3};
   std::vector<std::string> texts{"a", "bc"};
   std::map<std::string, int> map{{"x", 1}, {"y", 2}};
   std::vector<std::vector<float>> nested{{1, 2}, {3}};
   std::string text = "hello";
   file.WriteObject(&numbers, "numbers");
   file.WriteObject(&texts, "texts");
   file.WriteObject(&map, "map");
   file.WriteObject(&nested, "nested");
   file.WriteObject(&text, "text");
   TNamed("named", "title").Write();
   TObjString("words").Write("TObjString");
   TParameter<int>("int", 3).Write();
   TParameter<double>("double", 2.5).Write();
   TParameter<bool>("bool", true).Write();
   TParameter<Long64_t>("long", 3LL << 40).Write();
   TVectorD(4, points).Write("TVectorD");
   TMatrixD matrix(2, 3);
   matrix(1, 2) = 5;
   matrix.Write("TMatrixD");
   TMatrixDSym symmetric(2);
   symmetric(0, 1) = symmetric(1, 0) = 7;
   symmetric.Write("TMatrixDSym");
   TLorentzVector(1, 2, 3, 4).Write("TLorentzVector");
   TList list;
   list.Add(new TNamed("a", "b"));
   list.Add(new TObjString("c"));
   list.Add(new TH1F("inside", "h", 2, 0, 1));
   list.Write("TList", TObject::kSingleKey);
   TMap pairs;
   pairs.Add(new TObjString("key"), new TNamed("value", ""));
   pairs.Write("TMap", TObject::kSingleKey);
   TClonesArray clones("TVector3", 3);
   new (clones[0]) TVector3(1, 2, 3);
   clones.Write("TClonesArray", TObject::kSingleKey);
   TF1("TF1", "gaus", -3, 3).Write();
   TFormula("TFormula", "x+[0]").Write();
   TEfficiency efficiency("TEfficiency", "e", 3, 0, 3);
   efficiency.Fill(true, 1.5);
   efficiency.Fill(false, 1.5);
   efficiency.Write();
   int bins[3] = {3, 4, 5};
   double from[3] = {0, 0, 0}, to[3] = {1, 1, 1}, at[3] = {.5, .5, .5};
   THnSparseD sparse("THnSparse", "s", 3, bins, from, to);
   sparse.Fill(at);
   sparse.Write();
   THnD dense("THn", "n", 3, bins, from, to);
   dense.Fill(at);
   dense.Write();
   THStack stack("THStack", "s");
   stack.Add(new TH1F("stacked", "", 2, 0, 1));
   stack.Write();
   TMultiGraph many("TMultiGraph", "m");
   many.Add(new TGraph(4, points, low));
   many.Write();
   TGraph2D surface;
   surface.SetPoint(0, 1, 2, 3);
   surface.Write("TGraph2D");
   TSpline3("spline", const_cast<double *>(points), const_cast<double *>(low), 4).Write("TSpline3");
   TLine(0, 0, 1, 1).Write("TLine");
   TLegend legend(0, 0, 1, 1);
   legend.AddEntry(&many, "graphs");
   legend.Write("TLegend");
   TStyle("TStyle", "s").Write();
   gROOT->SetBatch(true);
   TCanvas canvas("TCanvas", "c", 10, 20, 300, 400);
   TH1F drawn("drawn", "", 2, 0, 1);
   drawn.Draw();
   canvas.Write();
   TList pictures;
   pictures.Add(&canvas);
   pictures.Write("pictures", TObject::kSingleKey);
   TCutG("TCutG", 4, points, low).Write();
   file.Close();
   TH1::AddDirectory(true);
}

/// A histogram without compression, to be damaged.
void stored(const char *path) {
   TFile file(path, "RECREATE", "", 0);
   TH1D h("h", "the title", 3, 0, 3);
   h.GetListOfFunctions()->Add(new TF1("f", "[0]+[1]*x", 0, 1));
   h.Sumw2();
   h.Fill(1);
   h.Write();
}

}
