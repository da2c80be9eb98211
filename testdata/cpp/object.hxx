// What the libraries of test classes share.

#ifndef NYSSA_OBJECT
#define NYSSA_OBJECT

#include <TFile.h>
#include <TTree.h>

struct Plain {
   int i = 0;
   double d = 0;
   void fill(int k) { i = k; d = k / 3.; }
   bool operator<(const Plain &other) const { return i < other.i; }
};

/// Writes a tree with one branch, of an object with these values.
template <typename T> void object(const char *name, int split, int entries, int buffer = 32000) {
   TTree tree(name, name);
   T *value = new T;
   tree.Branch("o.", &value, buffer, split);
   for (int k = 0; k < entries; ++k) { value->fill(k); tree.Fill(); }
   tree.Write();
   tree.ResetBranchAddresses();
   delete value;
}

#endif
