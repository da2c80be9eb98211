// The classes of test_kept_classes.py, and a function that writes a tree of them.
#pragma once
#include <TClonesArray.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TNamed.h>
#include <TString.h>
#include <TTree.h>
#include <map>
#include <set>
#include <string>
#include <vector>

class KeptHit : public TObject {
public:
   int id = 0;
   float e[2] = {0, 0};
   std::vector<float> q;
   ClassDef(KeptHit, 2)
};

struct KeptPlain { int i = 0; double d = 0; };

struct KeptPointers {
   KeptPlain *one = nullptr;
   KeptPlain *two = nullptr;
   TNamed *named = nullptr;
   std::vector<KeptPlain *> many;
};

struct KeptCounted {
   int n = 0;
   float *x = nullptr; //[n]
   double *y = nullptr; //[n]
};

struct KeptTexts {
   TString t;
   std::string s;
   std::vector<TString> vt;
   std::vector<std::string> vs;
};

struct KeptList : std::vector<int> { int own = 0; };

struct KeptHolder {
   KeptHolder() : hits(new TClonesArray("KeptHit")) {}
   int n = 0;
   TClonesArray *hits;
   std::vector<KeptPlain> plains;
};

inline void kept_classes(const char *path, int level)
{
   TFile file(path, "recreate");
   TTree tree("t", "");
   TClonesArray clones("KeptHit");
   KeptPointers pointers, *pointers_p = &pointers;
   KeptCounted counted, *counted_p = &counted;
   KeptTexts texts, *texts_p = &texts;
   KeptList list, *list_p = &list;
   KeptHolder holder, *holder_p = &holder;
   KeptPlain first, second, *first_p = &first, *second_p = &second;
   TLorentzVector four, *four_p = &four;
   std::vector<float> floats;
   std::set<int> numbers;
   std::map<std::string, std::set<short>> map;
   std::map<std::string, std::vector<short>> other_map;
   std::string text;
   TString old;
   std::vector<TString> olds;
   if (level > 0) {
      tree.Branch("clones", &clones, 16000, level);
      tree.Branch("holder", &holder_p, 32000, level);
      tree.Branch("four", &four_p, 32000, level);
   }
   tree.Branch("pointers", &pointers_p, 32000, 0);
   tree.Branch("counted.", &counted_p, 32000, level);
   tree.Branch("texts.", &texts_p, 32000, level);
   tree.Branch("list.", &list_p, 32000, level);
   tree.Branch("first", &first_p, 32000, level);
   tree.Branch("second", &second_p, 32000, level);
   tree.Branch("floats", &floats, 32000, level);
   tree.Branch("numbers", &numbers, 32000, level);
   tree.Branch("map", &map, 32000, level);
   tree.Branch("other_map", &other_map, 32000, level);
   tree.Branch("text", &text, 32000, level);
   tree.Branch("old", &old, 32000, level);
   tree.Branch("olds", &olds, 32000, level);
   KeptPlain plains[4];
   TNamed named("name", "title");
   float x[4];
   double y[4];
   for (int entry = 0; entry < 30; entry++) {
      clones.Clear("C");
      holder.hits->Clear("C");
      for (int at = 0; at < entry % 3; at++)
         for (TClonesArray *array : {&clones, holder.hits}) {
            auto hit = static_cast<KeptHit *>(array->ConstructedAt(at));
            hit->id = entry + at; hit->e[0] = at / 2.f; hit->e[1] = entry; hit->q.assign(at, entry);
         }
      for (int at = 0; at < 4; at++) {
         plains[at].i = entry * at; plains[at].d = entry / 4.;
         x[at] = entry + at; y[at] = entry - at;
      }
      holder.n = entry; holder.plains.assign(plains, plains + entry % 4);
      pointers.one = entry % 2 ? plains : nullptr;
      pointers.two = plains + 1;
      pointers.named = entry % 3 ? &named : nullptr;
      pointers.many.clear();
      for (int at = 0; at < entry % 4; at++) pointers.many.push_back(plains + at);
      counted.n = entry % 4; counted.x = x; counted.y = y;
      text = std::string(entry % 5, 'x'); old = text; texts.s = text; texts.t = old + "t";
      texts.vt.assign(entry % 3, old); texts.vs.assign(entry % 2, text); olds = texts.vt;
      list.assign(entry % 3, entry); list.own = entry;
      first.i = entry; second.i = -entry; second.d = entry / 3.;
      four.SetPxPyPzE(entry, 1, 2, 3);
      floats.assign(entry % 4, entry); numbers = {entry, entry + 1};
      map.clear(); map[text].insert(entry); other_map.clear(); other_map[text].push_back(entry);
      tree.Fill();
   }
   counted.x = nullptr; counted.y = nullptr;
   tree.Write();
}
