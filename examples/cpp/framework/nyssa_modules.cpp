// Output modules that write by nyssa.

#include "module.hpp"

#include <nyssa.hpp>

#include <mutex>
#include <vector>

// Classes are described once.
NYSSA_CLASS(products::Header, run, block, number, weight)
NYSSA_CLASS(products::Hit, x, y, z, cell)
NYSSA_CLASS(products::Jet, pt, eta, phi, mass, tag, hits)
NYSSA_CLASS(products::Track, pt, eta, phi, dxy, dz, chi2, hits, charge)
NYSSA_CLASS(products::Muon, pt, eta, phi, isolation, charge)

namespace {

using namespace products;
using Table = nyssa::Table<Header, std::vector<Jet>, std::vector<Track>, std::vector<Muon>, std::vector<std::string>>;
using FillContext = decltype(std::declval<Table>().context());

template <class Filled> void fill(Filled &filled, const Event &event) {
  filled.fill(event.header, event.jets, event.tracks, event.muons, event.triggers);
}

std::string options(const Settings &settings) {
  return "force=true; compression=" + settings.compression + "; cluster_size=" + std::to_string(settings.cluster) +
         "; page_size=" + std::to_string(settings.page) + "; fill_contexts=" + std::to_string(settings.streams);
}

class NyssaModule : public Module {
public:
  explicit NyssaModule(const Settings &settings)
      : threads_(settings.threads), file_(settings.file, options(settings), &threads_),
        table_(file_.table("Events", nyssa::field<Header>("header"), nyssa::field<std::vector<Jet>>("jets"),
                           nyssa::field<std::vector<Track>>("tracks"), nyssa::field<std::vector<Muon>>("muons"),
                           nyssa::field<std::vector<std::string>>("triggers"))) {}
  void end() override {
    table_.commit();
    file_.commit();
  }

private:
  nyssa::Context threads_;
  nyssa::Writer file_;

protected:
  Table table_;
};

// Each stream has a fill context of its own.
class Contexts : public NyssaModule {
public:
  using NyssaModule::NyssaModule;
  std::unique_ptr<StreamOutput> stream(const Event &event) override {
    return std::make_unique<Output>(table_.context(), event);
  }

private:
  class Output : public StreamOutput {
  public:
    Output(FillContext &&context, const Event &event) : context_(std::move(context)), event_(event) {}
    void write() override { fill(context_, event_); }
    void end() override { context_.commit(); }

  private:
    FillContext context_;
    const Event &event_;
  };
};

// All streams share a writer, which one of them uses at a time.
class OneWriter : public NyssaModule {
public:
  using NyssaModule::NyssaModule;
  std::unique_ptr<StreamOutput> stream(const Event &event) override { return std::make_unique<Output>(*this, event); }

private:
  class Output : public StreamOutput {
  public:
    Output(OneWriter &module, const Event &event) : module_(module), event_(event) {}
    void write() override {
      const std::lock_guard<std::mutex> lock(module_.mutex_);
      fill(module_.table_, event_);
    }
    void end() override {}

  private:
    OneWriter &module_;
    const Event &event_;
  };

  std::mutex mutex_;
};

} // namespace

void add_nyssa(Modules &modules) {
  modules["nyssa"] = [](const Settings &settings) { return std::make_unique<Contexts>(settings); };
  modules["nyssa-one"] = [](const Settings &settings) { return std::make_unique<OneWriter>(settings); };
}
