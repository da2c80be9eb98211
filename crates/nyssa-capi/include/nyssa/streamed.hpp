// Objects that a framework has already streamed, which go in as bytes.
//
//     auto events = file.table("Events", nyssa::streamed("jet", "cms::Jet", "infos.root"));
//     TBufferFile buffer(TBuffer::kWrite);
//     TClass::GetClass("cms::Jet")->Streamer(&jet, buffer);
//     events.fill(nyssa::Streamed{{buffer.Buffer(), static_cast<std::size_t>(buffer.Length())}});

#ifndef NYSSA_STREAMED_HPP
#define NYSSA_STREAMED_HPP

#include <nyssa/standard_types.hpp>

namespace nyssa {

template <class T> struct NamedField;

// What `TClass::Streamer` wrote of an object to an empty buffer.
struct Streamed {
  std::string_view bytes;
};

// A field of such objects: its name, the class, and a ROOT file that has the streamer infos of the class and of the classes
// in it. `TStreamerInfo::ForceWriteInfo` writes them to a file.
template <> struct NamedField<Streamed> {
  std::string name;
  std::string class_name;
  std::string infos;
};

// Makes the field.
inline NamedField<Streamed> streamed(std::string name, std::string class_name, std::string infos) {
  return {std::move(name), std::move(class_name), std::move(infos)};
}

// They are only written. Readers see the members of the class, which objects of a described class are made of.
template <> struct Field<Streamed> {
  static std::string type() { return "streamed object"; }
  static void shape(detail::Column &column) { column.kind = detail::Kind::bytes; }
  static void append(detail::Column &column, const Streamed &object) {
    Field<std::string>::append(column, object.bytes);
  }
  static void bind(detail::View &view) {
    if (view.format() != "Z")
      view.refuse(type());
  }
};

} // namespace nyssa

#endif
