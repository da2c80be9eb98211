#ifdef __CLING__
#pragma link C++ class event::Hit+;
#pragma link C++ class event::Base+;
#pragma link C++ class event::Other+;
#pragma link C++ class event::Jet+;
#pragma link C++ class event::Product+;
#pragma link C++ class evolved::Jet+;
#pragma link C++ class evolved::Energy+;
#pragma link C++ class evolved::Point+;
#pragma link C++ class evolved::Cluster+;
#pragma link C++ class std::map<std::string,float>+;
#pragma link C++ class std::map<int,std::vector<float>>+;
#pragma link C++ class std::multimap<int,int>+;
#pragma link C++ class std::unordered_map<int,double>+;
#pragma link C++ class std::set<int>+;
#pragma link C++ class std::set<std::pair<int,float>>+;
#pragma link C++ class std::unordered_set<int>+;
#pragma link C++ class std::multiset<int>+;
#pragma link C++ class std::unordered_multiset<int>+;
#pragma link C++ class std::unordered_multimap<int,std::string>+;
#pragma link C++ function write_by_root;
#pragma link C++ function wrong_in_root;
#pragma link C++ function wrong_late_in_root;
#pragma link C++ function write_old_by_root;
#pragma link C++ function write_old_clusters_by_root;
#pragma link C++ function stream_by_root;
#pragma link C++ function wrong_streamed_in_root;
#endif
