// Jobs on files. They take the options of the command line, and reports are JSON; see `nyssa.h`.

#ifndef NYSSA_JOBS_HPP
#define NYSSA_JOBS_HPP

#include <nyssa/dataset.hpp>

namespace nyssa {

// Lists the datasets of a file.
inline std::string list(const std::string &url, const std::string &options = "", const Context *context = nullptr) {
  return detail::text(nyssa_list, url.c_str(), options.c_str(), context);
}

// Converts TTrees to RNTuples, or back with `to=ttree`.
inline std::string convert(const std::string &input, const std::string &output, const std::string &options = "",
                           const Context *context = nullptr) {
  return detail::text(nyssa_convert, input.c_str(), output.c_str(), options.c_str(), context);
}

// Writes a dataset again, with other options, fields or entries.
inline std::string rewrite(const std::string &input, const std::string &output, const std::string &options = "",
                           const Context *context = nullptr) {
  return detail::text(nyssa_rewrite, input.c_str(), output.c_str(), options.c_str(), context);
}

// Merges files.
inline std::string merge(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = "",
                         const Context *context = nullptr) {
  detail::Names names(inputs);
  return detail::text(nyssa_merge, names.data(), names.size(), output.c_str(), options.c_str(), context);
}

// Checks a file.
inline std::string verify(const std::string &url, const Context *context = nullptr) {
  return detail::text(nyssa_verify, url.c_str(), context);
}

// The version of the library.
inline std::string version() { return nyssa_version(); }

} // namespace nyssa

#endif
