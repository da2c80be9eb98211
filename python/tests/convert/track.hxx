// Classes that test_streamer_conversion.py has ROOT write into a TTree and read from an RNTuple.

#include <TBufferJSON.h>
#include <TClonesArray.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TNamed.h>
#include <TTree.h>
#include <fstream>
#include <map>
#include <string>
#include <vector>

class Step : public TObject {
public:
  float x = 0;
  Double32_t energy = 0; //[0,10,16]
  ClassDef(Step, 2)
};
struct Cells { int id = 0; std::vector<float> values; };
class Track {
public:
  int n = 0;
  float *dedx = nullptr; //[n]
  Step first;
  std::vector<Step> steps;
  std::vector<Cells> cells;
  std::map<std::string, int> counts;
  TLorentzVector p4;
  std::string name;
  std::string words[2];
  ~Track() { delete[] dedx; }
  ClassDef(Track, 3)
};
class Clones {
public:
  int i = 0;
  TClonesArray steps{"Step", 10};
  ClassDef(Clones, 2)
};
// Objects of a class in one another are kept as bytes, in which there are references.
class Chain : public TObject {
public:
  int i = 0;
  TNamed *label = nullptr;
  Chain *next = nullptr;
  ClassDef(Chain, 1)
};
// Pointers to anything have no type in RNTuple.
class Event {
public:
  int i = 0;
  TObject *any = nullptr;
  std::vector<Step *> steps;
  ~Event() { delete any; for (auto step : steps) delete step; }
  ClassDef(Event, 1)
};
