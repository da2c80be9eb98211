// A class of `kinds.hxx` one version on: members added, gone, and of other types.

#include "object.hxx"

class Evolving {
public:
   double first = 0; std::vector<float> v; short added = 0; Plain plain;
   void fill(int k) { first = k + 0.5; v.assign(k, k); added = -k; plain.fill(k); }
   ClassDef(Evolving, 2)
};

/// Adds a tree to a file, or makes the file.
void write_evolved(const char *path, int split, const char *name = "Evolving") {
   TFile file(path, "UPDATE");
   object<Evolving>(name, split, 5);
}

#ifdef __ROOTCLING__
#pragma link C++ struct Plain+;
#pragma link C++ class Evolving+;
#endif
