// A safetensors file: size, JSON header, data. An input that begins with a brace is a header alone, and gets
// the size in front and as many bytes of data behind as its largest number says: so a mutation reaches what
// stands in the header, and does not already fail at the size.
#include <algorithm>
#include <sstream>

#include "commands/inspect_safetensors.h"
#include "commands/inspect_tensors.h"
#include "fuzz.h"

using namespace rung;

namespace {

constexpr size_t kMostData = size_t{1} << 16;

// Of the numbers that stand alone: the 32 of "F32" is none.
size_t largest_number(std::string_view header) {
  size_t largest = 0, number = 0;
  bool in_word = false;
  for (const char c : header) {
    const bool digit = c >= '0' && c <= '9';
    in_word = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (in_word && digit);
    number = digit && !in_word ? std::min(10 * number + static_cast<size_t>(c - '0'), kMostData) : 0;
    largest = std::max(largest, number);
  }
  return largest;
}

std::string whole_file(std::string_view input) {
  if (input.substr(0, 1) != "{") return std::string(input);
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(input.size() >> (8 * i));
  return file.append(input).append(largest_number(input), '\1');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file = whole_file(fuzz::text(data, size));
  const std::string path = fuzz::write_file("input.safetensors", file);
  std::unique_ptr<SafetensorsFolder> weights;
  {
    const fuzz::MemoryBound bound(file.size());
    if (!fuzz::accepted([&] { weights = std::make_unique<SafetensorsFolder>(path); })) return 0;
  }
  std::ostringstream text, files, tensors;
  print_header(text, *weights);
  print_metadata(text, *weights);
  print_tensors(text, *weights, 0);
  print_files_json(files, *weights);
  fuzz::check_json("{" + files.str() + "}");
  print_tensors_json(tensors, *weights, 0);
  fuzz::check_json("{" + tensors.str() + "}");
  size_t shown = 0;
  for (const SafetensorsFolder::Item& item : weights->tensors()) {
    if (++shown > 8) break;
    const std::string name(item.entry->name);
    fuzz::accepted([&] {
      const Tensor tensor = read_tensor(*weights, path, name);
      std::ostringstream shown_text, json;
      print_tensor(shown_text, name, tensor);
      print_tensor_json(json, name, tensor);
      fuzz::check_json("{" + json.str() + "}");
    });
  }
  return 0;
}
