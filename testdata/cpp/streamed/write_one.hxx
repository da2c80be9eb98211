// Writes an RNTuple of one streamer field, and beside it what ROOT reads back, as JSON.

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TBufferFile.h>
#include <TBufferJSON.h>
#include <TClass.h>
#include <fstream>
#include <string>

// `n` objects, made by `fill(T &, int)`, into `folder/name.root` and `folder/name.json`.
template <class T> void write_one(const std::string &folder, const char *name, int n) {
  auto model = ROOT::RNTupleModel::Create();
  model->AddField(std::make_unique<ROOT::RStreamerField>("f", name));
  auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", folder + "/" + name + ".root");
  auto p = w->GetModel().GetDefaultEntry().GetPtr<T>("f");
  std::ofstream json(folder + "/" + name + ".json");
  TClass *c = TClass::GetClass<T>();
  for (int k = 0; k < n; k++) {
    fill(*p, k); w->Fill();
    TBufferFile written(TBuffer::kWrite); c->Streamer(p.get(), written);
    TBufferFile read(TBuffer::kRead, written.Length(), written.Buffer(), false);
    auto back = new T; c->Streamer(back, read);
    json << TBufferJSON::ConvertToJSON(back, c, 3) << std::endl;
  }
}
