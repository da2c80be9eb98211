// Classes that test_moved_references.py has ROOT write into TTrees: objects behind pointers, between numbers that look like
// references. The functions write trees, and read them as text.
#include <TClonesArray.h>
#include <TFile.h>
#include <TList.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TProcessID.h>
#include <TRandom3.h>
#include <TRef.h>
#include <TTree.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

class PointedMark : public TObject {
public:
   int id = 0;
   unsigned odd[6] = {};
   PointedMark *next = nullptr;
   ClassDefOverride(PointedMark, 2)
};
class PointedHeavy : public PointedMark {
public:
   double weight = 0;
   TNamed *name = nullptr;
   ClassDefOverride(PointedHeavy, 3)
};
class PointedOwner : public TObject {
public:
   int n = 0;
   unsigned before[40] = {};
   PointedMark *first = nullptr;
   unsigned between[40] = {};
   PointedMark *second = nullptr;
   TObject *any = nullptr;
   TObjArray array;
   TList *list = nullptr;
   TClonesArray clones{"PointedMark", 4};
   TRef ref;
   std::vector<PointedMark *> marks;
   std::map<int, PointedMark *> named;
   PointedMark **counted = nullptr; //[n]
   unsigned after[40] = {};
   ClassDefOverride(PointedOwner, 4)
};

struct PointedFill {
   TRandom3 random{7};
   std::vector<TObject *> all;
   int limit;
   // Numbers that look like byte counts, tags of classes and tags of objects.
   template <std::size_t N> void odd(unsigned (&numbers)[N])
   {
      for (std::size_t i = 0; i + 1 < N; i += 2) {
         numbers[i] = 0x40000000u | (4 + random.Integer(40));
         numbers[i + 1] = (random.Integer(4) ? 0x80000000u : 0u) | random.Integer(limit);
      }
   }
   template <class T> T *make(int id)
   {
      auto one = new T;
      all.push_back(one);
      one->id = id;
      odd(one->odd);
      return one;
   }
   PointedHeavy *heavy(int id)
   {
      auto one = make<PointedHeavy>(id);
      one->weight = id + 0.5;
      if (id % 3) all.push_back(one->name = new TNamed(Form("n%d", id), ""));
      return one;
   }
   void fill(PointedOwner &o, int i)
   {
      o.array.Clear(), o.list->Clear("nodelete"), o.clones.Clear(), o.marks.clear(), o.named.clear();
      o.ref = nullptr;
      for (auto one : all) delete one;
      all.clear();
      odd(o.before), odd(o.between), odd(o.after);
      o.first = i % 5 ? make<PointedMark>(i) : nullptr;
      if (o.first) {
         o.first->next = heavy(i + 1000);
         o.first->next->next = i % 4 ? o.first : make<PointedMark>(i + 1500);
      }
      o.second = i % 3 ? o.first : heavy(i + 2000);
      o.any = i % 7 == 0 ? nullptr : i % 2 ? (TObject *)o.second : new TObjString(Form("s%d", i));
      if (o.any && o.any != o.second) all.push_back(o.any);
      for (int k = 0; k < i % 4; k++) o.array.Add(k % 2 ? (TObject *)heavy(i + k) : o.any);
      for (int k = 0; k < i % 3; k++) o.list->Add(k && o.first ? (TObject *)o.first : make<PointedMark>(k), "option");
      for (int k = 0; k < i % 4; k++) {
         auto one = (PointedMark *)o.clones.ConstructedAt(k);
         one->id = i * k, one->next = k % 2 ? o.first : nullptr;
         odd(one->odd);
      }
      for (int k = 0; k < i % 4; k++) o.marks.push_back(k == 1 ? nullptr : k == 2 ? o.second : make<PointedMark>(k));
      for (int k = 0; k < i % 3; k++) o.named[k] = k ? o.first : heavy(i);
      o.ref = o.first;
      delete[] o.counted;
      o.n = i % 3;
      o.counted = new PointedMark *[3];
      for (int k = 0; k < o.n; k++) o.counted[k] = k ? o.first : make<PointedMark>(i + 3000);
   }
};

void pointed_write(const char *path, int entries, int basket)
{
   TFile file(path, "recreate", "", 0);
   auto owner = new PointedOwner;
   owner->list = new TList;
   PointedFill fill;
   fill.limit = 3 * basket;
   TTree old("old", ""), whole("whole", ""), split("split", "");
   int x = 0;
   for (auto tree : {&old, &whole, &split}) tree->Branch("x", &x);
   old.BranchOld("o", "PointedOwner", &owner, basket, 0);
   whole.Branch("o", &owner, basket, 0);
   split.Branch("o.", &owner, basket, 99);
   auto count = TProcessID::GetObjectCount();
   for (x = 0; x < entries; x++) {
      TProcessID::SetObjectCount(count);
      fill.fill(*owner, x);
      old.Fill(), whole.Fill(), split.Fill();
   }
   file.Write();
}

struct PointedText {
   std::ostringstream out;
   std::map<const TObject *, int> numbers;
   template <std::size_t N> void odd(const unsigned (&numbers)[N])
   {
      for (auto one : numbers) out << one << ',';
   }
   void object(const TObject *one, int depth = 0)
   {
      if (!one) { out << "null "; return; }
      auto [at, is_new] = numbers.insert({one, numbers.size()});
      out << '#' << at->second << ' ';
      if (!is_new || depth > 9) return;
      out << one->ClassName() << '(';
      if (auto mark = dynamic_cast<const PointedMark *>(one)) {
         out << mark->id << ' ';
         odd(mark->odd), object(mark->next, depth + 1);
      }
      if (auto heavy = dynamic_cast<const PointedHeavy *>(one)) out << heavy->weight << ' ', object(heavy->name, depth + 1);
      else if (!dynamic_cast<const PointedMark *>(one)) out << one->GetName();
      out << ") ";
   }
   void owner(const PointedOwner &o)
   {
      numbers.clear();
      out << o.n << ' ';
      odd(o.before), object(o.first), odd(o.between), object(o.second), object(o.any);
      out << "array ";
      for (int k = 0; k < o.array.GetEntriesFast(); k++) object(o.array.UncheckedAt(k));
      out << "list ";
      for (auto link = o.list->FirstLink(); link; link = link->Next()) out << link->GetOption() << ' ', object(link->GetObject());
      out << "clones ";
      for (int k = 0; k < o.clones.GetEntriesFast(); k++) object(o.clones.UncheckedAt(k));
      out << "marks ";
      for (auto one : o.marks) object(one);
      for (auto [key, one] : o.named) out << key << ' ', object(one);
      out << "counted ";
      for (int k = 0; k < o.n; k++) object(o.counted[k]);
      out << "ref ", object(o.ref.GetObject());
      odd(o.after);
   }
};

void pointed_read(const char *path, const char *name, const char *output)
{
   TFile file(path);
   std::ofstream lines(output);
   auto tree = file.Get<TTree>(name);
   PointedOwner *o = nullptr;
   int x = -1;
   auto branch = tree->GetBranch("o") ? "o" : "o.";
   tree->SetBranchAddress("x", &x);
   auto count = TProcessID::GetObjectCount();
   for (int i = 0; i < tree->GetEntries(); i++) {
      TProcessID::SetObjectCount(count);
      // ROOT deletes what the pointers of an object lead to before it reads the object again, and shared objects twice.
      o = new PointedOwner;
      tree->SetBranchAddress(branch, &o);
      if (tree->GetEntry(i) <= 0) { lines << "unread\n"; continue; }
      PointedText text;
      text.owner(*o);
      lines << x << ' ' << text.out.str() << "\n";
   }
}
