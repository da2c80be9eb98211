#ifdef __CLING__
#pragma link C++ class event::Hit+;
#pragma link C++ class event::Base+;
#pragma link C++ class event::Other+;
#pragma link C++ class event::Jet+;
#pragma link C++ class std::map<std::string,float>+;
#pragma link C++ class std::map<int,std::vector<float>>+;
#pragma link C++ class std::multimap<int,int>+;
#pragma link C++ class std::unordered_map<int,double>+;
#pragma link C++ class std::set<int>+;
#pragma link C++ class std::set<std::pair<int,float>>+;
#pragma link C++ class std::unordered_set<int>+;
#pragma link C++ function write_by_root;
#pragma link C++ function wrong_in_root;
#endif
