// The classes of which ROOT needs dictionaries.
#ifdef __CLING__
#pragma link C++ class products::Header+;
#pragma link C++ class products::Hit+;
#pragma link C++ class products::Jet+;
#pragma link C++ class products::Track+;
#pragma link C++ class products::Muon+;
#pragma link C++ class std::vector<products::Hit>+;
#pragma link C++ class std::vector<products::Jet>+;
#pragma link C++ class std::vector<products::Track>+;
#pragma link C++ class std::vector<products::Muon>+;
#endif
