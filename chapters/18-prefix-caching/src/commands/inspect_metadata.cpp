// How `inspect` writes values: previews for people, everything as JSON for programs.
#include "commands/inspect_metadata.h"

#include <ostream>

#include "commands/json_text.h"
#include "commands/number_text.h"
#include "rung/error.h"

namespace rung {

namespace {

constexpr size_t kStringBytes = 120;        // of a value
constexpr size_t kElementStringBytes = 32;  // of a string in an array
constexpr uint64_t kPreviewElements = 6;

struct Style {
  bool full;
  bool json;
};

void print_value(std::ostream& out, const GgufValue& value, Style style, bool in_array = false);

void print_string(std::ostream& out, std::string_view text, Style style, bool in_array) {
  const size_t limit = style.full ? text.size() : in_array ? kElementStringBytes : kStringBytes;
  const std::string shown = quoted(text, limit);
  if (in_array) {
    out << shown;
  } else {
    out << shown.substr(1, shown.size() - 2);
    if (text.size() > limit) out << " (" << text.size() << " bytes)";
  }
}

void print_array(std::ostream& out, const GgufArray& array, Style style, bool in_array) {
  const char* separator = "";
  out << '[';
  array.for_each(
      [&](const GgufValue& element) {
        out << separator;
        separator = ", ";
        print_value(out, element, style, true);
      },
      style.full ? UINT64_MAX : kPreviewElements);
  if (!style.full && array.size() > kPreviewElements) out << ", ...";
  out << ']';
  if (!style.json && !in_array) out << " (" << array.size() << " x " << name(array.element_type()) << ')';
}

void print_value(std::ostream& out, const GgufValue& value, Style style, bool in_array) {
  std::visit(
      [&](const auto& content) {
        using Content = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<Content, GgufArray>) {
          print_array(out, content, style, in_array);
        } else if constexpr (std::is_same_v<Content, std::string_view>) {
          if (style.json) {
            out << json_string(content);
          } else {
            print_string(out, content, style, in_array);
          }
        } else if constexpr (std::is_same_v<Content, bool>) {
          out << (content ? "true" : "false");
        } else if constexpr (std::is_floating_point_v<Content>) {
          out << (style.json ? json_number(content) : shortest(content));
        } else {
          out << +content;  // + so that 8-bit integers do not print as characters
        }
      },
      value);
}

}  // namespace

void print_header(std::ostream& out, const GgufHeader& header) {
  out << "[header]\n"
      << "magic: 0x46554747 (GGUF)\n"
      << "version: " << header.version << "\n"
      << "tensor_count: " << header.tensor_count << "\n"
      << "metadata_kv_count: " << header.metadata_count << "\n";
}

void print_metadata(std::ostream& out, const GgufMetadata& metadata, bool full) {
  out << "[metadata]\n";
  for (const GgufEntry& entry : metadata.entries()) {
    out << escaped(entry.key) << ": ";
    print_value(out, entry.value, {full, false});
    out << "\n";
  }
}

void print_metadata_json(std::ostream& out, const GgufMetadata& metadata) {
  const GgufHeader& header = metadata.header();
  out << "\"header\": {\"magic\": \"GGUF\", \"version\": " << header.version
      << ", \"tensor_count\": " << header.tensor_count << ", \"metadata_kv_count\": " << header.metadata_count
      << "}, \"metadata\": {";
  const char* separator = "";
  for (const GgufEntry& entry : metadata.entries()) {
    out << separator << json_string(entry.key) << ": ";
    separator = ", ";
    print_value(out, entry.value, {true, true});
  }
  out << "}";
}

}  // namespace rung
