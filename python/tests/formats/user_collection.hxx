// A collection class that ROOT knows by its proxy only, and an RNTuple of it.

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TClass.h>
#include <TVirtualCollectionProxy.h>

#include <stdexcept>
#include <vector>

namespace user_collection {

struct Hits {
   std::vector<float> items;
};

class Proxy : public TVirtualCollectionProxy {
   Hits *fHits = nullptr;

   static void Create(void *hits, void **begin, void **end, TVirtualCollectionProxy *)
   {
      auto &items = static_cast<Hits *>(hits)->items;
      *begin = items.data();
      *end = items.data() + items.size();
   }
   static void *Step(void *iterator, const void *end)
   {
      auto &item = *static_cast<float **>(iterator);
      return item == end ? nullptr : item++;
   }
   static void *Copy(void *to, const void *from)
   {
      *static_cast<void **>(to) = *static_cast<void *const *>(from);
      return to;
   }
   static void Delete(void *) {}
   static void DeleteTwo(void *, void *) {}

public:
   Proxy() : TVirtualCollectionProxy(TClass::GetClass("user_collection::Hits")) {}
   TVirtualCollectionProxy *Generate() const override { return new Proxy(); }
   Int_t GetCollectionType() const override { return ROOT::kSTLvector; }
   ULong_t GetIncrement() const override { return sizeof(float); }
   UInt_t Sizeof() const override { return sizeof(Hits); }
   Bool_t HasPointers() const override { return false; }
   TClass *GetValueClass() const override { return nullptr; }
   EDataType GetType() const override { return kFloat_t; }
   void PushProxy(void *hits) override { fHits = static_cast<Hits *>(hits); }
   void PopProxy() override { fHits = nullptr; }
   void *At(UInt_t i) override { return &fHits->items[i]; }
   void Clear(const char * = "") override { fHits->items.clear(); }
   UInt_t Size() const override { return fHits->items.size(); }
   void *Allocate(UInt_t n, Bool_t) override
   {
      fHits->items.resize(n);
      return fHits;
   }
   void Commit(void *) override {}
   void Insert(const void *data, void *hits, size_t n) override
   {
      auto *first = static_cast<const float *>(data);
      auto &items = static_cast<Hits *>(hits)->items;
      items.insert(items.end(), first, first + n);
   }
   TStreamerInfoActions::TActionSequence *GetConversionReadMemberWiseActions(TClass *, Int_t) override
   {
      return nullptr;
   }
   TStreamerInfoActions::TActionSequence *GetReadMemberWiseActions(Int_t) override { return nullptr; }
   TStreamerInfoActions::TActionSequence *GetWriteMemberWiseActions() override { return nullptr; }
   CreateIterators_t GetFunctionCreateIterators(Bool_t) override { return &Create; }
   CopyIterator_t GetFunctionCopyIterator(Bool_t) override { return &Copy; }
   Next_t GetFunctionNext(Bool_t) override { return &Step; }
   DeleteIterator_t GetFunctionDeleteIterator(Bool_t) override { return &Delete; }
   DeleteTwoIterators_t GetFunctionDeleteTwoIterators(Bool_t) override { return &DeleteTwo; }
};

} // namespace user_collection

template <>
struct ROOT::IsCollectionProxy<user_collection::Hits> : std::true_type {};

namespace user_collection {

inline void prepare()
{
   TClass::GetClass("user_collection::Hits")->CopyCollectionProxy(Proxy());
}

/// Entry i has i hits of 1.5 i, and that collection i % 3 times.
inline void write(const char *path)
{
   auto model = ROOT::RNTupleModel::Create();
   auto one = model->MakeField<Hits>("one");
   auto many = model->MakeField<std::vector<Hits>>("many");
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
   for (int i = 0; i < 5; ++i) {
      one->items.assign(i, i * 1.5f);
      many->assign(i % 3, *one);
      writer->Fill();
   }
}

/// Throws unless the file holds what `write` writes.
inline void check(const char *path)
{
   auto reader = ROOT::RNTupleReader::Open("Events", path);
   auto one = reader->GetView<Hits>("one");
   auto many = reader->GetView<std::vector<Hits>>("many");
   if (reader->GetNEntries() != 5)
      throw std::runtime_error("other entries");
   for (unsigned i = 0; i < 5; ++i) {
      const std::vector<float> items(i, i * 1.5f);
      bool same = one(i).items == items && many(i).size() == i % 3;
      for (const auto &hits : many(i))
         same = same && hits.items == items;
      if (!same)
         throw std::runtime_error("other values in entry " + std::to_string(i));
   }
}

} // namespace user_collection
