// What ROOT reads of every top-level branch of TTrees, as JSON: one line for each branch,
//
//     {"branch":["TREE","BRANCH"],"data":[PATH,...],"class":CLASS,"entries":[FIRST,...]}
//
// with the paths of the branch and of those below it that have baskets with bytes.
//
// Objects are whole, also those split into many branches, as TBufferJSON shows them; it crashes on
// most classes that ROOT has no library of, so those are shown here, the same way. Branches without a
// class are one list of numbers, or one string, for each leaf. "?" is what ROOT does not tell: which
// class without library is behind a pointer.

#include <TBasket.h>
#include <TBranchElement.h>
#include <TBufferJSON.h>
#include <TClass.h>
#include <TClonesArray.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TLeafC.h>
#include <TROOT.h>
#include <TStreamerElement.h>
#include <TStreamerInfo.h>
#include <TTree.h>
#include <TVirtualCollectionProxy.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace nyssa_dump {

/// Whether ROOT is at it, or what shows the values here.
inline volatile bool reading = false;
/// Exit codes when a process crashes in ROOT's reading, or in what is shown here.
constexpr int kCrashed = 10, kNotShown = 11;

/// Ends the process in a crash, without the long talk that ROOT has then.
inline void end_quietly() {
   for (int which : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      std::signal(which, [](int) { _exit(reading ? kCrashed : kNotShown); });
}

inline void text(std::ostream &out, const char *from) {
   out << '"';
   for (; from && *from; ++from) {
      unsigned char c = *from;
      char hex[8];
      if (c == '"' || c == '\\') out << '\\' << c;
      else if (c < 32 || c > 126) { std::snprintf(hex, sizeof hex, "\\u%04x", c); out << hex; }
      else out << c;
   }
   out << '"';
}

inline void leaf(std::ostream &out, TLeaf &one) {
   if (one.InheritsFrom(TLeafC::Class())) return text(out, (const char *)one.GetValuePointer());
   std::string type = one.GetTypeName();
   out << '[';
   for (int i = 0; i < one.GetLen(); ++i) {
      out << (i ? "," : "");
      if (type == "ULong64_t" || type == "ULong_t") out << one.GetTypedValue<ULong64_t>(i);
      else if (type == "Long64_t" || type == "Long_t") out << one.GetTypedValue<Long64_t>(i);
      else out << one.GetValue(i);
   }
   out << ']';
}

inline void object(std::ostream &out, TClass &of, void *at);

inline void number(std::ostream &out, int type, void *at) {
   switch (type) {
   case kChar_t: out << int(*(signed char *)at); break;
   case kUChar_t: out << int(*(unsigned char *)at); break;
   case kShort_t: out << *(short *)at; break;
   case kUShort_t: out << *(unsigned short *)at; break;
   case kInt_t: case kCounter: out << *(int *)at; break;
   case kUInt_t: case kBits: out << *(unsigned *)at; break;
   case kLong_t: case kLong64_t: out << *(Long64_t *)at; break;
   case kULong_t: case kULong64_t: out << *(ULong64_t *)at; break;
   case kFloat_t: case kFloat16_t: out << *(float *)at; break;
   case kDouble_t: case kDouble32_t: out << *(double *)at; break;
   case kBool_t: out << (*(bool *)at ? "true" : "false"); break;
   default: out << "\"?\"";
   }
}

inline void pointed(std::ostream &out, TClass *of, void *at) {
   if (!at) { out << "null"; return; }
   TClass *actual = of && of->IsLoaded() && of->IsTObject() ? of->GetActualClass(at) : of;
   if (actual && (actual->IsLoaded() || actual->GetCollectionProxy())) return object(out, *actual, at);
   out << "\"?\"";
}

/// The member of an object that counts the items of another.
inline int counter(const char *of, const char *name, char *from) {
   auto info = static_cast<TStreamerInfo *>(TClass::GetClass(of)->GetStreamerInfo());
   return info ? *(int *)(from + info->GetOffset(name)) : 0;
}

inline void collection(std::ostream &out, TVirtualCollectionProxy &proxy, void *at) {
   TVirtualCollectionProxy::TPushPop use(&proxy, at);
   TClass *value = proxy.GetValueClass();
   out << '[';
   for (unsigned i = 0; i < proxy.Size(); ++i) {
      out << (i ? "," : "");
      void *item = proxy.At(i);
      if (proxy.HasPointers()) pointed(out, value, *(void **)item);
      else if (value) object(out, *value, item);
      else number(out, proxy.GetType(), item);
   }
   out << ']';
}

/// A list nested as the dimensions of an array are; `one` shows item `i`.
template <typename F> void array(std::ostream &out, TStreamerElement &e, int dim, int &i, F one) {
   if (dim == e.GetArrayDim()) { one(i++); return; }
   out << '[';
   for (int k = 0; k < e.GetMaxIndex(dim); ++k) { out << (k ? "," : ""); array(out, e, dim + 1, i, one); }
   out << ']';
}

inline void member(std::ostream &out, TStreamerElement &e, char *from, char *at) {
   int type = e.GetType();
   TClass *of = e.GetClassPointer();
   int i = 0;
   if (type == TVirtualStreamerInfo::kCharStar) return *(char **)at ? text(out, *(char **)at) : (void)(out << "null");
   if (type > 0 && type < 20) return number(out, type, at);
   if (type > 20 && type < 40) {
      int size = e.GetSize() / std::max(1, e.GetArrayLength());
      return array(out, e, 0, i, [&](int k) { number(out, type - 20, at + k * size); });
   }
   auto counted = dynamic_cast<TStreamerBasicPointer *>(&e);
   if (type > 40 && type < 60 && counted) {
      static const int sizes[] = {0, 1, 2, 4, 8, 4, 4, 8, 8, 8, 0, 1, 2, 4, 8, 4, 8, 8, 1, 4};
      int count = counter(counted->GetCountClass(), counted->GetCountName(), from);
      return array(out, e, 0, i, [&](int k) {
         char *items = ((char **)at)[k];
         out << '[';
         for (int j = 0; items && j < count; ++j) { out << (j ? "," : ""); number(out, type - 40, items + j * sizes[type - 40]); }
         out << ']';
      });
   }
   auto loop = dynamic_cast<TStreamerLoop *>(&e);
   if (loop && of && !of->IsLoaded()) {
      int count = counter(loop->GetCountClass(), loop->GetCountName(), from);
      bool pointers = std::string(e.GetTypeName()).find("**") != std::string::npos;
      return array(out, e, 0, i, [&](int k) {
         char *items = ((char **)at)[k];
         out << '[';
         for (int j = 0; items && j < count; ++j) {
            out << (j ? "," : "");
            if (pointers) object(out, *of, ((void **)items)[j]);
            else object(out, *of, items + j * of->Size());
         }
         out << ']';
      });
   }
   if (type == TVirtualStreamerInfo::kStreamLoop || type == TVirtualStreamerInfo::kStreamer || !of) {
      out << "\"?\"";
      return;
   }
   bool pointer = e.IsaPointer();
   int size = pointer ? sizeof(void *) : of->Size();
   array(out, e, 0, i, [&](int k) {
      if (pointer) pointed(out, of, ((void **)at)[k]);
      else object(out, *of, at + k * size);
   });
}

inline void members(std::ostream &out, TClass &of, char *at, bool &first) {
   auto info = of.GetStreamerInfo();
   for (int i = 0; info && i < info->GetElements()->GetEntries(); ++i) {
      auto e = static_cast<TStreamerElement *>(info->GetElements()->At(i));
      if (e->TestBit(TStreamerElement::kCache) || e->GetOffset() == TStreamerInfo::kMissing) continue;
      char *place = at + e->GetOffset();
      if (e->IsBase() && e->GetClassPointer() && !e->GetClassPointer()->GetCollectionProxy()) {
         if (!e->GetClassPointer()->IsLoaded()) { members(out, *e->GetClassPointer(), place, first); continue; }
         std::ostringstream base;
         base << std::setprecision(17);
         if (e->GetClassPointer() == TObject::Class())
            base << "{\"fUniqueID\":" << ((TObject *)place)->GetUniqueID()
                 << ",\"fBits\":" << unsigned(((TObject *)place)->TestBits(~0u)) << '}';
         else object(base, *e->GetClassPointer(), place);
         std::string inside = base.str();
         if (inside.size() > 2 && inside[0] == '{') {
            out << (first ? "" : ",") << inside.substr(1, inside.size() - 2);
            first = false;
         }
         continue;
      }
      out << (first ? "" : ",");
      first = false;
      text(out, e->GetName());
      out << ':';
      member(out, *e, at, place);
   }
}

inline void object(std::ostream &out, TClass &of, void *at) {
   std::string name = of.GetName();
   if (name == "string") return text(out, ((std::string *)at)->c_str());
   if (name == "TString") return text(out, ((TString *)at)->Data());
   if (name == "TClonesArray") {
      auto &array = *(TClonesArray *)at;
      out << '[';
      for (int i = 0; i < array.GetEntriesFast(); ++i) {
         out << (i ? "," : "");
         if (array.UncheckedAt(i)) object(out, *array.GetClass(), array.UncheckedAt(i));
         else out << "null";
      }
      out << ']';
      return;
   }
   if (auto proxy = of.GetCollectionProxy()) {
      std::unique_ptr<TVirtualCollectionProxy> own(proxy->Generate());
      return collection(out, *own, at);
   }
   if (of.IsLoaded() && of.HasInterpreterInfo() && name.rfind("pair<", 0) != 0) {
      out << TBufferJSON::ConvertToJSON(at, &of, 3);
      return;
   }
   bool first = true;
   out << '{';
   members(out, of, (char *)at, first);
   out << '}';
}

/// Where the values of a branch are: its object, or its leaves.
struct Source {
   TBranch &branch;
   TClass *of = nullptr;
   void *object = nullptr;

   explicit Source(TBranch &b) : branch(b) {
      EDataType number;
      branch.GetExpectedType(of, number);
   }
   void show(std::ostream &out, Long64_t entry) {
      reading = true;
      // A new object each time: what one pointer of the last one has deleted, another may hold still.
      object = nullptr;
      if (of) branch.SetAddress(&object);
      auto bytes = branch.GetEntry(entry);
      reading = false;
      if (bytes < 0) { out << "\"I/O error\""; return; }
      if (of) {
         if (!object) { out << "null"; return; }
         nyssa_dump::object(out, *of, object);
         return;
      }
      out << '[';
      for (int i = 0; i < branch.GetListOfLeaves()->GetEntries(); ++i) {
         out << (i ? "," : "");
         leaf(out, *static_cast<TLeaf *>(branch.GetListOfLeaves()->At(i)));
      }
      out << ']';
   }
};

/// The paths of branches with bytes of their own.
inline void paths(std::ostream &out, TBranch &branch, const std::string &prefix, bool &first) {
   std::string path = prefix + branch.GetName();
   bool inside = false; // Baskets that lie within the tree are not counted.
   for (auto one : *branch.GetListOfBaskets())
      inside = inside || (one && static_cast<TBasket *>(one)->GetNevBuf() > 0);
   // Without leaves the bytes are headers of classes without members.
   bool values = branch.GetListOfLeaves()->GetEntries() > 0;
   if (values && (inside || branch.GetTotBytes() > 0)) {
      out << (first ? "" : ",");
      first = false;
      text(out, path.c_str());
   }
   for (int i = 0; i < branch.GetListOfBranches()->GetEntries(); ++i)
      paths(out, *static_cast<TBranch *>(branch.GetListOfBranches()->At(i)), path + "/", first);
}

/// Writes the first and the last `most` entries of all branches of a tree but those named in `skip`.
inline void dump(TFile &file, const std::string &name, const char *output, long most,
                 const std::vector<std::string> &skip) {
   auto tree = file.Get<TTree>(name.c_str());
   if (!tree) throw std::runtime_error("no such tree");
   std::ofstream out(output, std::ios::app);
   for (int i = 0; i < tree->GetListOfBranches()->GetEntries(); ++i) {
      auto branch = static_cast<TBranch *>(tree->GetListOfBranches()->At(i));
      if (std::count(skip.begin(), skip.end(), name + "\n" + branch->GetName())) continue;
      out << "{\"branch\":[";
      text(out, name.c_str());
      out << ',';
      text(out, branch->GetName());
      out << "],\"data\":[";
      bool first = true;
      paths(out, *branch, "", first);
      out << ']' << std::flush;
      Source source(*branch);
      out << ",\"class\":";
      text(out, source.of ? source.of->GetName() : "");
      out << ",\"entries\":[" << std::setprecision(17);
      Long64_t all = tree->GetEntries();
      for (Long64_t entry = 0; entry < all; ++entry) {
         if (entry == most && all > 2 * most) entry = all - most;
         if (entry) out << ',';
         source.show(out, entry);
      }
      out << "]}\n" << std::flush;
   }
}

/// The same for some trees of a file; `skip` has trees and branches, a line break in between.
inline void dump(const std::string &path, const std::vector<std::string> &trees, const char *output,
                 long most, const std::vector<std::string> &skip) {
   if (path.empty()) return;
   TBufferJSON::SetFloatFormat("%.9g");
   TBufferJSON::SetDoubleFormat("%.17g");
   std::unique_ptr<TFile> file(TFile::Open(path.c_str()));
   for (auto &tree : trees) dump(*file, tree, output, most, skip);
}

} // namespace nyssa_dump
