// The classes of test_pointer_members.py. Copies own what they point to.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pointermembers {

template <class T> T *copied(const T *object) { return object ? new T(*object) : nullptr; }

struct Hit { int id; float e; };
struct Owner {
   std::vector<float> *numbers = nullptr;
   const std::vector<std::vector<int>> *nested = nullptr;
   std::string *text = nullptr;
   std::map<int, float> *map = nullptr;
   std::set<short> *set = nullptr;
   std::vector<Hit> *hits = nullptr;
   std::map<int, Hit> *named = nullptr;
   std::vector<std::string *> texts;
   int after = 0;
   Owner() = default;
   Owner(const Owner &o)
      : numbers(copied(o.numbers)), nested(copied(o.nested)), text(copied(o.text)), map(copied(o.map)), set(copied(o.set)),
        hits(copied(o.hits)), named(copied(o.named)), after(o.after)
   {
      for (auto one : o.texts)
         texts.push_back(copied(one));
   }
};

} // namespace pointermembers
