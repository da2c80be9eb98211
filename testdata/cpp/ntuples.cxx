// RNTuples of every structure. `make.py` calls these functions with the path of the new file.

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <bitset>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <variant>


namespace reading {
using Var = std::variant<std::int32_t, std::string>;
enum class Color : std::uint16_t { Red = 1, Blue = 700 };
struct Empty {
  template <typename F> void members(F) const {}
};
struct Base {
  float x = 0;
  template <typename F> void members(F f) const { f("x", x); }
};
struct Hit : public Base {
  Var value;
  std::int16_t grid[2][3] = {};
  Double32_t low = 0;
  Color color = Color::Red;
  char letter = 'a';
  std::vector<float> weights;
  template <typename F> void members(F f) const {
    f(":_0", static_cast<const Base &>(*this));
    f("value", value);
    f("grid", grid);
    f("low", low);
    f("color", color);
    f("letter", letter);
    f("weights", weights);
  }
};

template <typename T> auto make(ROOT::RNTupleModel &model, const char *name) {
  return model.MakeField<T>(name);
}

void types(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto vv = make<std::vector<Var>>(*model, "vv");
  auto ov = make<std::optional<Var>>(*model, "ov");
  auto nested = make<std::variant<Var, float>>(*model, "nested");
  auto same = make<std::variant<std::int64_t, double>>(*model, "same");
  auto ol = make<std::optional<std::vector<float>>>(*model, "ol");
  auto oo = make<std::optional<std::optional<std::int32_t>>>(*model, "oo");
  auto vo = make<std::vector<std::optional<std::string>>>(*model, "vo");
  auto bits = make<std::bitset<70>>(*model, "bits");
  auto vbits = make<std::vector<std::bitset<3>>>(*model, "vbits");
  auto abits = make<std::array<std::bitset<5>, 2>>(*model, "abits");
  auto tuple = make<std::tuple<std::int8_t, std::pair<float, std::string>>>(*model, "tuple");
  auto map = make<std::map<std::string, std::int32_t>>(*model, "map");
  auto set = make<std::set<std::int32_t>>(*model, "set");
  auto atomic = make<std::atomic<std::uint32_t>>(*model, "atomic");
  auto byte = make<std::byte>(*model, "byte");
  auto empty = make<Empty>(*model, "empty");
  auto empties = make<std::vector<Empty>>(*model, "empties");
  auto hit = make<Hit>(*model, "hit");
  auto hits = make<std::vector<Hit>>(*model, "hits");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  for (int i = 0; i < 30; i++) {
    vv->clear();
    hits->clear();
    for (int k = 0; k < i % 4; k++) {
      vv->push_back((i + k) % 2 ? Var(i * 10 + k) : Var(std::to_string(i)));
      Hit one;
      one.x = i + 0.5f * k;
      one.value = (i + k) % 3 ? Var(k) : Var("v" + std::to_string(k));
      one.grid[1][2] = i;
      one.low = 0.25 * k;
      one.color = k ? Color::Blue : Color::Red;
      one.letter = 'a' + k;
      if (k % 2) one.weights = {float(i), 1.5f};
      hits->push_back(one);
    }
    *hit = hits->empty() ? Hit() : hits->back();
    *ov = i % 3 == 0 ? std::optional<Var>() : std::optional<Var>(Var(i));
    *nested = i % 2 ? std::variant<Var, float>(Var("n")) : std::variant<Var, float>(2.5f);
    if (i % 2) *same = std::int64_t(1) << 60 | i; else *same = i * 0.5;
    if (i % 4) *ol = std::vector<float>(i % 4 - 1, i); else ol->reset();
    if (i % 3 == 0) oo->reset(); else *oo = std::optional<std::int32_t>();
    if (i % 3 == 2) *oo = std::optional<std::int32_t>(i);
    *vo = {std::nullopt, "s" + std::to_string(i)};
    bits->reset(); bits->set(i); bits->set(69);
    vbits->assign(i % 3, std::bitset<3>(i % 8));
    (*abits)[0] = i; (*abits)[1] = 31 - i;
    *tuple = {std::int8_t(-i), {i * 0.5f, std::string(i % 3, 'x')}};
    map->clear(); set->clear();
    for (int k = 0; k < i % 3; k++) { (*map)[std::to_string(k)] = i; set->insert(k); }
    *atomic = 4000000000u + i;
    *byte = std::byte(200 + i);
    empties->resize(i % 2);
    writer->Fill();
    if (i == 11) writer->CommitCluster();
  }
}
}

namespace reals {
template <typename T>
std::shared_ptr<T> add(ROOT::RNTupleModel &model, const std::string &name, int kind, int bits) {
  auto field = std::make_unique<ROOT::RField<T>>(name);
  if (kind == 0) field->SetTruncated(bits);
  if (kind == 1) field->SetQuantized(-3.7, 11.3, bits);
  if (kind == 2) field->SetHalfPrecision();
  if (kind == 3) field->SetColumnRepresentatives({{ROOT::ENTupleColumnType::kSplitReal32}});
  model.AddField(std::move(field));
  return model.GetDefaultEntry().GetPtr<T>(name);
}
void write(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  std::vector<std::shared_ptr<float>> floats;
  std::vector<std::shared_ptr<double>> doubles;
  auto both = [&](const std::string &name, int kind, int bits) {
    floats.push_back(add<float>(*model, "f_" + name, kind, bits));
    doubles.push_back(add<double>(*model, "d_" + name, kind, bits));
  };
  for (int bits = 10; bits <= 31; bits++) both("trunc" + std::to_string(bits), 0, bits);
  for (int bits = 1; bits <= 32; bits++) both("quant" + std::to_string(bits), 1, bits);
  both("half", 2, 16);
  both("split32", 3, 32);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-3.7, 11.3);
  for (int i = 0; i < 60; i++) {
    const double value = i == 0 ? -3.7 : i == 1 ? 11.3 : uniform(random);
    for (auto &one : floats) *one = std::max(-3.7f + 1e-6f, std::min(11.3f - 1e-6f, float(value)));
    for (auto &one : doubles) *one = value;
    writer->Fill();
    if (i == 33) writer->CommitCluster();
  }
}
}

namespace structure {
using Late = std::variant<std::int32_t, std::vector<float>>;
void keys(const char *path, unsigned long size, int compression) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<std::int64_t>("x");
  auto v = model->MakeField<std::vector<float>>("v");
  for (int i = 0; i < 8; i++) model->MakeField<float>("another_field_" + std::to_string(i));
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(compression);
  ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(options, size);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path, options);
  for (int i = 0; i < 600; i++) {
    *x = i * 1234567;
    v->assign(i % 5, i * 0.7f);
    writer->Fill();
    if (i % 200 == 100) writer->CommitCluster(true);
  }
}
void late(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto n = model->MakeField<std::int32_t>("n");
  std::vector<std::unique_ptr<ROOT::RFieldBase>> members;
  members.push_back(std::make_unique<ROOT::RField<float>>("a"));
  model->AddField(std::make_unique<ROOT::RRecordField>("record", std::move(members)));
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  auto entry = writer->CreateEntry();
  auto number = entry->GetPtr<std::int32_t>("n");
  for (int i = 0; i < 25; i++) {
    if (i == 7) {
      auto updater = writer->CreateModelUpdater();
      updater->BeginUpdate();
      updater->AddField(std::make_unique<ROOT::RField<Late>>("variant"));
      updater->AddField(std::make_unique<ROOT::RField<std::vector<std::string>>>("strings"));
      updater->AddField(std::make_unique<ROOT::RField<std::optional<double>>>("optional"));
      updater->AddField(std::make_unique<ROOT::RField<std::array<bool, 3>>>("array"));
      updater->CommitUpdate();
      entry = writer->CreateEntry();
      number = entry->GetPtr<std::int32_t>("n");
    }
    *number = i;
    if (i >= 7) {
      auto variant = entry->GetPtr<Late>("variant");
      if (i % 2) *variant = i; else *variant = std::vector<float>(i % 3, i);
      *entry->GetPtr<std::vector<std::string>>("strings") = {"late", std::to_string(i)};
      *entry->GetPtr<std::optional<double>>("optional") = i * 0.5;
      *entry->GetPtr<std::array<bool, 3>>("array") = {true, false, i % 2 == 0};
    }
    writer->Fill(*entry);
    if (i == 4 || i == 15) writer->CommitCluster(true);
  }
}
void several(const char *path) {
  auto file = std::unique_ptr<TFile>(TFile::Open(path, "RECREATE"));
  file->mkdir("a/b");
  for (int i = 0; i < 3; i++) {
    auto model = ROOT::RNTupleModel::Create();
    auto x = model->MakeField<std::int32_t>("x");
    auto *dir = i == 2 ? file->GetDirectory("a/b") : file.get();
    auto writer = ROOT::RNTupleWriter::Append(std::move(model), "n" + std::to_string(i), *dir);
    for (int k = 0; k < 10; k++) { *x = 100 * i + k; writer->Fill(); }
  }
}
void attributes(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<std::int32_t>("x");
  auto file = std::unique_ptr<TFile>(TFile::Open(path, "RECREATE"));
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "ntpl", *file);
  auto about = ROOT::RNTupleModel::Create();
  auto number = about->MakeField<std::int32_t>("run");
  auto comment = about->MakeField<std::string>("comment");
  auto runs = writer->CreateAttributeSet(std::move(about), "runs");
  auto other = ROOT::RNTupleModel::Create();
  other->MakeField<double>("unused");
  auto empty = writer->CreateAttributeSet(std::move(other), "empty");
  for (int run = 0; run < 3; run++) {
    auto range = runs->BeginRange();
    *number = 1000 + run;
    *comment = std::string(run, '!');
    for (int i = 0; i < 10 * run; i++) { *x = i; writer->Fill(); }
    runs->CommitRange(std::move(range));
  }
}
}

namespace projections {
void write(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto bits = model->MakeField<std::bitset<9>>("bits");
  auto lists = model->MakeField<std::vector<std::vector<float>>>("lists");
  auto text = model->MakeField<std::string>("text");
  auto project = [&](const char *type, const char *name, std::map<std::string, std::string> at) {
    auto field = ROOT::RFieldBase::Create(name, type).Unwrap();
    model->AddProjectedField(std::move(field), [&](const std::string &to) { return at.at(to); });
  };
  project("std::bitset<9>", "p_bits", {{"p_bits", "bits"}});
  project("std::string", "p_text", {{"p_text", "text"}});
  project("std::vector<ROOT::RNTupleCardinality<std::uint32_t>>", "p_sizes",
          {{"p_sizes", "lists"}, {"p_sizes._0", "lists._0"}});
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  for (int i = 0; i < 20; ++i) {
    *bits = std::bitset<9>(i * 37);
    lists->assign(i % 3, std::vector<float>(i % 5, i));
    *text = std::string(i % 4, 'x');
    writer->Fill();
    if (i % 7 == 6) writer->CommitCluster();
  }
}
}

namespace storage {
/// A few fields with one compression setting, in several clusters and pages.
void codec(const char *path, int compression) {
  auto model = ROOT::RNTupleModel::Create();
  auto n = model->MakeField<std::int32_t>("n");
  auto x = model->MakeField<std::vector<double>>("x");
  auto text = model->MakeField<std::string>("text");
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(compression);
  options.SetInitialUnzippedPageSize(64);
  options.SetMaxUnzippedPageSize(512);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path, options);
  for (int i = 0; i < 250; i++) {
    *n = i % 50 - 10;
    x->assign(i % 4, i / 3.);
    *text = "entry " + std::to_string(i / 10);
    writer->Fill();
    if (i == 99) writer->CommitCluster();
  }
}
/// Pages without checksums, and no buffers.
void plain(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto n = model->MakeField<std::int32_t>("n");
  ROOT::RNTupleWriteOptions options;
  options.SetEnablePageChecksums(false);
  options.SetUseBufferedWrite(false);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path, options);
  for (int i = 0; i < 40; i++) { *n = i * i; writer->Fill(); }
}
/// One name written three times in one file.
void cycles(const char *path) {
  auto file = std::unique_ptr<TFile>(TFile::Open(path, "RECREATE"));
  for (int cycle = 1; cycle <= 3; cycle++) {
    auto model = ROOT::RNTupleModel::Create();
    auto x = model->MakeField<std::int32_t>("x");
    auto writer = ROOT::RNTupleWriter::Append(std::move(model), "ntpl", *file);
    for (int i = 0; i < 5 * cycle; i++) { *x = 100 * cycle + i; writer->Fill(); }
  }
}
/// One field with two column representations, each used in some clusters.
void representations(const char *path) {
  auto field = std::make_unique<ROOT::RField<float>>("x");
  using E = ROOT::ENTupleColumnType;
  field->SetColumnRepresentatives({{E::kReal32}, {E::kReal16}, {E::kSplitReal32}});
  auto list = std::make_unique<ROOT::RField<std::vector<std::int32_t>>>("v");
  list->SetColumnRepresentatives({{E::kSplitIndex64}, {E::kIndex32}});
  auto model = ROOT::RNTupleModel::Create();
  model->AddField(std::move(field));
  model->AddField(std::move(list));
  auto x = model->GetDefaultEntry().GetPtr<float>("x");
  auto v = model->GetDefaultEntry().GetPtr<std::vector<std::int32_t>>("v");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  using Change = ROOT::Internal::RFieldRepresentationModifier;
  auto &stored = const_cast<ROOT::RFieldBase &>(writer->GetModel().GetConstField("x"));
  auto &lists = const_cast<ROOT::RFieldBase &>(writer->GetModel().GetConstField("v"));
  for (int i = 0; i < 40; i++) {
    *x = i / 4.f;
    v->assign(i % 3, i);
    writer->Fill();
    if (i == 9 || i == 19 || i == 29) {
      writer->CommitCluster();
      Change::SetPrimaryColumnRepresentation(stored, i / 10 == 2 ? 0 : i / 10 + 1);
      Change::SetPrimaryColumnRepresentation(lists, i / 10 % 2 ? 0 : 1);
    }
  }
}
}
