// Finding a model's weights in a folder: one file, or shards that an index names.
#include "model_file/safetensors_folder.h"

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/safetensors_builder.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::safetensors_of;
using testing::TemporaryFolder;

namespace {

std::string names(const SafetensorsFolder& weights) {
  std::string text;
  for (const SafetensorsFolder::Item& item : weights.tensors()) text += item.entry->name + " ";
  return text;
}

// Two shards with the tensors a, b and c, d; the index says what the argument says.
std::string error_with_index(const std::string& index) {
  const TemporaryFolder folder;
  folder.write("one.safetensors", safetensors_of({"a", "b"}));
  folder.write("two.safetensors", safetensors_of({"c", "d"}));
  folder.write("model.safetensors.index.json", index);
  return error_of([&] { SafetensorsFolder weights(folder.path()); });
}

std::string map(const std::string& members) {
  return "{\"weight_map\":{" + members + "}}";
}

}  // namespace

TEST_CASE("a folder with model.safetensors is that file, whatever stands beside it") {
  const TemporaryFolder folder;
  folder.write("model.safetensors", safetensors_of({"a"}));
  folder.write("other.safetensors", safetensors_of({"b"}));
  folder.write("model.safetensors.index.json", "nonsense");
  const SafetensorsFolder weights(folder.path());
  CHECK(names(weights) == "a ");
  CHECK(weights.files().size() == 1);
}

TEST_CASE("a folder with one safetensors file of another name is that file") {
  const TemporaryFolder folder;
  folder.write("weights.safetensors", safetensors_of({"a", "b"}));
  folder.write("config.json", "{}");
  CHECK(names(SafetensorsFolder(folder.path())) == "a b ");
}

TEST_CASE("a folder without or with several unexplained safetensors files is refused") {
  const TemporaryFolder folder;
  CHECK(complaint(error_of([&] { SafetensorsFolder weights(folder.path()); }),
                  {folder.path(), "no *.safetensors"}) == "");
  folder.write("x.safetensors", safetensors_of({"a"}));
  folder.write("y.safetensors", safetensors_of({"b"}));
  CHECK(complaint(error_of([&] { SafetensorsFolder weights(folder.path()); }),
                  {folder.path(), "2 *.safetensors", "\"x.safetensors\"", "model.safetensors.index.json"}) ==
        "");
  CHECK(names(SafetensorsFolder(folder.path() + "/y.safetensors")) == "b ");
  CHECK(complaint(error_of([&] { SafetensorsFolder weights(folder.path() + "/z.safetensors"); }),
                  {"z.safetensors", "cannot open"}) == "");
}

TEST_CASE("an index joins its shards in the order of their names") {
  const TemporaryFolder folder;
  folder.write("model-00001-of-00002.safetensors", safetensors_of({"a", "b"}));
  folder.write("model-00002-of-00002.safetensors", safetensors_of({"c", "unnamed", "d"}));
  folder.write(
      "model.safetensors.index.json",
      R"({"metadata":{"total_size":24,"deep":[{"x":[]}]},"weight_map":{)"
      R"("d":"model-00002-of-00002.safetensors","c":"model-00002-of-00002.safetensors",)"
      R"("b":"model-00001-of-00002.safetensors","a":"model-00001-of-00002.safetensors"},"more":null})");
  const SafetensorsFolder weights(folder.path());
  CHECK(weights.files().size() == 2);
  CHECK(names(weights) == "a b c d ");
  const SafetensorsFolder::Item d = weights.tensors()[3];
  CHECK(d.file->read(*d.entry).data<float>()[0] == 4.0f);
}

TEST_CASE("an index that contradicts its folder is refused by name") {
  const std::string ab = R"("a":"one.safetensors","b":"one.safetensors")";
  CHECK(error_with_index(map(ab + R"(,"c":"two.safetensors","d":"two.safetensors")")) == "(no error)");
  CHECK(complaint(error_with_index(map(ab + R"(,"e":"three.safetensors")")),
                  {"index.json", "\"e\"", "\"three.safetensors\"", "missing"}) == "");
  CHECK(complaint(error_with_index(map(ab + R"(,"c":"one.safetensors")")),
                  {"index.json", "\"c\"", "missing from its shard", "one.safetensors"}) == "");
  CHECK(complaint(error_with_index(map(ab + R"(,"a":"one.safetensors")")),
                  {"index.json", "\"a\" occurs twice"}) == "");
}

TEST_CASE("an index cannot lead out of its folder") {
  for (const char* name : {"../one.safetensors", "/etc/passwd", "sub/one.safetensors", "..", ".", "",
                           "a\\\\b", "one.safetensors\\u0000"}) {
    INFO(name);
    CHECK(complaint(error_with_index(map("\"a\":\"" + std::string(name) + "\"")),
                    {"index.json", "\"a\"", "a file in the same folder"}) == "");
  }
}

TEST_CASE("a broken index is refused") {
  CHECK(complaint(error_with_index(""), {"index.json", "not valid JSON"}) == "");
  CHECK(complaint(error_with_index("[]"), {"index.json", "expected an object"}) == "");
  CHECK(complaint(error_with_index("3"), {"index.json", "is 3", "expected an object"}) == "");
  CHECK(complaint(error_with_index("{}"), {"index.json", "has no weight_map"}) == "");
  CHECK(complaint(error_with_index(R"({"metadata":{"weight_map":{}}})"), {"has no weight_map"}) == "");
  CHECK(complaint(error_with_index(R"({"weight_map":1})"), {"weight_map is 1"}) == "");
  CHECK(complaint(error_with_index(R"({"weight_map":[]})"), {"weight_map is an array"}) == "");
  CHECK(complaint(error_with_index(R"({"weight_map":{},"weight_map":{}})"), {"weight_map occurs twice"}) ==
        "");
  CHECK(complaint(error_with_index(map(R"("a":7)")), {"\"a\" is 7", "file name"}) == "");
  CHECK(complaint(error_with_index(map(R"("a":["one.safetensors"])")), {"\"a\" is an array"}) == "");
  CHECK(complaint(error_with_index(std::string(100000, '{')), {"index.json"}) == "");
  CHECK(complaint(error_with_index("{\"x\":" + std::string(100000, '[')), {"index.json", "deeper than"}) ==
        "");
}

TEST_CASE("a shard that is broken is named") {
  const TemporaryFolder folder;
  const std::string whole = safetensors_of({"a"});
  folder.write("one.safetensors", whole.substr(0, whole.size() - 1));
  folder.write("model.safetensors.index.json", map(R"("a":"one.safetensors")"));
  CHECK(complaint(error_of([&] { SafetensorsFolder weights(folder.path()); }),
                  {"one.safetensors", "\"a\"", "cut off"}) == "");
}

}  // namespace rung
