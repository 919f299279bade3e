// Files that describe a tokenizer wrongly, or leave things out.
#include "model_file/gguf_metadata.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"
#include "tests/peak_memory.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/vocabulary.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::GgufBuilder;
using testing::TemporaryFolder;

namespace {

// A GGUF tokenizer of the 256 bytes, "ab", "abc" and two control tokens, to be spoiled.
struct GgufParts {
  std::string model = "gpt2", pre = "gpt-2";
  std::vector<std::string> tokens, merges = {"a b", "ab c"};
  std::vector<int32_t> types;
  std::vector<std::pair<std::string, uint32_t>> ids = {{"bos_token_id", 258}, {"eos_token_id", 259}};
  std::vector<std::pair<std::string, bool>> flags;
  std::string architecture = "llama";

  GgufParts() {
    for (int byte = 0; byte < 256; ++byte)
      tokens.push_back(bytes_to_letters(std::string(1, static_cast<char>(byte))));
    for (const char* token : {"ab", "abc", "<|im_start|>", "<|im_end|>"}) tokens.push_back(token);
    types.assign(258, 1);
    types.insert(types.end(), {3, 3});
  }

  std::string bytes() const {
    GgufBuilder builder;
    builder.header(0, 1 + !model.empty() + !pre.empty() + !tokens.empty() + !merges.empty() + !types.empty() +
                          ids.size() + flags.size());
    builder.entry("general.architecture", std::string_view(architecture));
    if (!model.empty()) builder.entry("tokenizer.ggml.model", std::string_view(model));
    if (!pre.empty()) builder.entry("tokenizer.ggml.pre", std::string_view(pre));
    if (!tokens.empty()) builder.array("tokenizer.ggml.tokens", GgufType::string, tokens.size());
    for (const std::string& token : tokens) builder.string(token);
    if (!merges.empty()) builder.array("tokenizer.ggml.merges", GgufType::string, merges.size());
    for (const std::string& merge : merges) builder.string(merge);
    if (!types.empty()) builder.array("tokenizer.ggml.token_type", GgufType::int32, types.size());
    for (const int32_t type : types) builder.number(type);
    for (const auto& [key, id] : ids) builder.entry("tokenizer.ggml." + key, id);
    for (const auto& [key, flag] : flags)
      builder.key("tokenizer.ggml." + key, GgufType::boolean).number<uint8_t>(flag);
    return builder.bytes();
  }
};

Tokenizer load(const GgufParts& parts, int rows = 0) {
  const std::string bytes = parts.bytes();
  ByteReader reader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "test.gguf");
  return load_gguf_tokenizer(read_gguf_metadata(reader), rows);
}

template <class Spoil>
std::string gguf_error(Spoil spoil, int rows = 0) {
  GgufParts parts;
  spoil(parts);
  return error_of([&] { load(parts, rows); });
}

// A tokenizer.json of the same tokens; each piece can be replaced.
struct JsonParts {
  std::string vocabulary, merges = R"(["a b", ["ab", "c"]])";
  std::string added =
      R"([{"id": 258, "content": "<|im_start|>", "special": true}, {"id": 259, "content": "<|im_end|>", "special": true}])";
  std::string normalizer = "null", post = "null", model_extra, decoder = R"({"type": "ByteLevel"})";
  std::string pre = R"({"type": "ByteLevel", "add_prefix_space": false})";
  std::string config = R"({"bos_token": "<|im_start|>", "eos_token": {"content": "<|im_end|>"}})";
  std::string generation, jinja;

  JsonParts() {
    for (int byte = 0; byte < 256; ++byte) {
      std::string letter = bytes_to_letters(std::string(1, static_cast<char>(byte)));
      if (letter == "\"" || letter == "\\") letter = "\\" + letter;
      vocabulary += "\"" + letter + "\": " + std::to_string(byte) + ", ";
    }
    vocabulary = "{" + vocabulary + "\"ab\": 256, \"abc\": 257}";
  }

  Tokenizer load(int rows = 0) const {
    const TemporaryFolder folder;
    folder.write("tokenizer.json", "{\"added_tokens\": " + added + ", \"normalizer\": " + normalizer +
                                       ", \"pre_tokenizer\": " + pre + ", \"post_processor\": " + post +
                                       ", \"decoder\": " + decoder + ", \"model\": {\"type\": \"BPE\", " +
                                       model_extra + "\"vocab\": " + vocabulary + ", \"merges\": " + merges +
                                       "}}");
    if (!config.empty()) folder.write("tokenizer_config.json", config);
    if (!generation.empty()) folder.write("generation_config.json", generation);
    if (!jinja.empty()) folder.write("chat_template.jinja", jinja);
    return load_json_tokenizer(folder.path(), rows);
  }
};

template <class Spoil>
std::string json_error(Spoil spoil, int rows = 0) {
  JsonParts parts;
  spoil(parts);
  return error_of([&] { parts.load(rows); });
}

using Ids = std::vector<int32_t>;

}  // namespace

TEST_CASE("a small GGUF tokenizer works", "[tokenizer_files]") {
  const Tokenizer tokenizer = load({});
  CHECK(tokenizer.encode("abcab<|im_end|>") == Ids{257, 256, 259});
  CHECK(tokenizer.vocabulary() == 260);
  CHECK(tokenizer.warnings().empty());
  CHECK(load({}, 300).vocabulary() == 300);
  CHECK(load({}, 300).piece(299).empty());
  CHECK(load({}, 300).is_special(299));
}

TEST_CASE("BOS and EOS flags of GGUF are followed", "[tokenizer_files]") {
  GgufParts parts;
  parts.flags = {{"add_bos_token", true}, {"add_eos_token", true}};
  const Tokenizer both = load(parts);
  CHECK(both.encode("ab") == Ids{258, 256, 259});
  CHECK(both.encode("") == Ids{258, 259});
  CHECK(both.encode("<|im_start|>ab<|im_end|>") == Ids{258, 256, 259});
  CHECK(both.encode("ab", true, false) == Ids{256});
  parts.flags = {{"add_bos_token", false}};
  CHECK(load(parts).encode("ab") == Ids{256});
  parts.ids.clear();
  parts.flags = {{"add_bos_token", true}};
  CHECK(complaint(error_of([&] { load(parts); }), {"test.gguf", "BOS"}) == "");
}

TEST_CASE("a missing pre-tokenizer is guessed with a warning", "[tokenizer_files]") {
  GgufParts parts;
  parts.pre = "";
  Tokenizer tokenizer = load(parts);
  REQUIRE(tokenizer.warnings().size() == 1);
  CHECK(complaint(tokenizer.warnings()[0], {"test.gguf", "tokenizer.ggml.pre", "gpt-2"}) == "");
  parts.architecture = "qwen2";
  CHECK(complaint(load(parts).warnings().at(0), {"\"qwen2\""}) == "");
  parts.tokens.push_back("<repo_name>");
  parts.types.push_back(3);
  parts.architecture = "llama";
  CHECK(complaint(load(parts).warnings().at(0), {"\"smollm\""}) == "");
  parts.tokens.push_back("<|begin_of_text|>");
  parts.types.push_back(3);
  CHECK(complaint(load(parts).warnings().at(0), {"\"llama-bpe\""}) == "");
}

TEST_CASE("missing token types are guessed with a warning", "[tokenizer_files]") {
  GgufParts parts;
  parts.types.clear();
  const Tokenizer tokenizer = load(parts);
  CHECK(complaint(tokenizer.warnings().at(0), {"tokenizer.ggml.token_type"}) == "");
  CHECK(tokenizer.is_special(259));
  CHECK_FALSE(tokenizer.is_special(256));
}

TEST_CASE("user-defined tokens are text, control tokens and unknown ones are not", "[tokenizer_files]") {
  GgufParts parts;
  for (const auto& [text, type] :
       std::vector<std::pair<const char*, int>>{{"<u>", 4}, {"<x>", 2}, {"<5>", 5}}) {
    parts.tokens.push_back(text);
    parts.types.push_back(type);
  }
  const Tokenizer tokenizer = load(parts);
  CHECK(tokenizer.encode("<u><x>") == Ids{260, 261});
  CHECK(tokenizer.encode("<u>", false) == Ids{'<', 'u', '>'});
  CHECK(tokenizer.encode("<5>") == Ids{'<', '5', '>'});
  CHECK(tokenizer.decode({260, 261, 262}) == "<u>");
}

TEST_CASE("wrong GGUF tokenizers are refused by key", "[tokenizer_files]") {
  CHECK(complaint(gguf_error([](GgufParts& p) { p.model = "llama"; }),
                  {"test.gguf", "tokenizer.ggml.model", "\"llama\"", "gpt2"}) == "");
  CHECK(complaint(gguf_error([](GgufParts& p) { p.model = ""; }), {"tokenizer.ggml.model", "missing"}) == "");
  CHECK(complaint(gguf_error([](GgufParts& p) { p.pre = "poro-chat"; }),
                  {"tokenizer.ggml.pre", "poro-chat", "smollm"}) == "");
  CHECK(complaint(gguf_error([](GgufParts& p) { p.tokens.clear(); }), {"tokenizer.ggml.tokens"}) == "");
  CHECK(complaint(gguf_error([](GgufParts& p) { p.merges.clear(); }), {"tokenizer.ggml.merges"}) == "");
  CHECK(complaint(gguf_error([](GgufParts& p) { p.tokens[257] = "ab"; }),
                  {"tokenizer.ggml.tokens", "256 and 257", "\"ab\""}) == "");
  CHECK(complaint(gguf_error([](GgufParts& p) { p.types.pop_back(); }),
                  {"tokenizer.ggml.token_type", "259", "260"}) == "");
  for (const int32_t type : {0, 7, -1}) {
    CHECK(complaint(gguf_error([&](GgufParts& p) { p.types[9] = type; }),
                    {"token_type", "element 9", std::to_string(type)}) == "");
  }
  for (const char* merge : {"ab", "", "a x!", "zz b", " b", "a ", "b a"}) {
    CHECK(complaint(gguf_error([&](GgufParts& p) { p.merges[1] = merge; }), {"tokenizer.ggml.merges", "1"}) ==
          "");
  }
  CHECK(complaint(gguf_error([](GgufParts& p) { p.merges.push_back("a b"); }),
                  {"tokenizer.ggml.merges", "0 and 2"}) == "");
  for (const char* key : {"bos_token_id", "eos_token_id", "eot_token_id", "eom_token_id", "padding_token_id",
                          "unknown_token_id"}) {
    for (const uint32_t id : {260u, 4294967295u}) {
      CHECK(complaint(gguf_error([&](GgufParts& p) {
                        p.ids = {{key, id}};
                      }),
                      {key, std::to_string(id), "260"}) == "");
    }
  }
  CHECK(complaint(gguf_error([](GgufParts&) {}, 259), {"tokenizer.ggml.tokens", "260", "259"}) == "");
  CHECK(complaint(gguf_error([](GgufParts& p) {
                    p.tokens = {"xx", "yy"};
                    p.types = {1, 1};
                    p.merges = {"xx yy"};
                    p.ids.clear();
                  }),
                  {"single byte"}) == "");
}

TEST_CASE("a small tokenizer.json works", "[tokenizer_files]") {
  JsonParts parts;
  const Tokenizer tokenizer = parts.load();
  CHECK(tokenizer.encode("abcab<|im_end|>") == Ids{257, 256, 259});
  CHECK(tokenizer.encode("\"\\\n") == Ids{'"', '\\', '\n'});
  CHECK(tokenizer.vocabulary() == 260);
  CHECK(tokenizer.bos() == 258);
  CHECK(tokenizer.eos() == 259);
  CHECK(tokenizer.is_end(259));
  CHECK(parts.load(400).vocabulary() == 400);
}

TEST_CASE("files beside tokenizer.json are read", "[tokenizer_files]") {
  JsonParts parts;
  parts.generation = R"({"eos_token_id": [259, 258]})";
  parts.config = R"({"chat_template": "in config", "eos_token": null})";
  Tokenizer tokenizer = parts.load();
  CHECK(tokenizer.is_end(258));
  CHECK(tokenizer.is_end(259));
  CHECK(tokenizer.eos() == 259);
  CHECK(tokenizer.chat_template() == "in config");
  parts.jinja = "in its own file\n";
  parts.generation = R"({"eos_token_id": 258})";
  tokenizer = parts.load();
  CHECK(tokenizer.chat_template() == "in its own file\n");
  CHECK(tokenizer.is_end(258));
  CHECK_FALSE(tokenizer.is_end(259));
  parts.jinja = "";
  parts.config =
      R"({"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]})";
  CHECK(parts.load().chat_template() == "d");
  parts.config =
      R"({"added_tokens_decoder": {"260": {"content": "<late>", "special": true}}, "add_bos_token": true,
                     "bos_token": "<late>"})";
  CHECK(parts.load().encode("<late>ab") == Ids{260, 256});
  CHECK(parts.load().encode("ab") == Ids{260, 256});
  parts.config = parts.generation = "";
  CHECK(parts.load().warnings().size() == 1);  // no end-of-sequence token
}

TEST_CASE("TemplateProcessing puts BOS in front and EOS behind", "[tokenizer_files]") {
  JsonParts parts;
  parts.post =
      R"({"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing", "single":
      [{"SpecialToken": {"id": "<|im_start|>"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<|im_end|>"}}]}]})";
  CHECK(parts.load().encode("ab") == Ids{258, 256, 259});
  CHECK(parts.load().encode("ab", true, false) == Ids{256});
  parts.post = R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}]})";
  CHECK(parts.load().encode("ab") == Ids{256});
  const auto error = [&](const char* post) { return json_error([&](JsonParts& p) { p.post = post; }); };
  CHECK(complaint(error(R"({"type": "BertProcessing"})"),
                  {"tokenizer.json", "post_processor.type", "BertProcessing"}) == "");
  CHECK(
      complaint(
          error(
              R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "no"}}, {"Sequence": {}}]})"),
          {"post_processor.single[0]", "\"no\""}) == "");
  CHECK(complaint(error(R"({"type": "TemplateProcessing", "single": []})"), {"post_processor.single"}) == "");
}

TEST_CASE("ids in tokenizer.json may have gaps, but must be rows of the embedding table",
          "[tokenizer_files]") {
  JsonParts parts;
  parts.added =
      R"([{"id": 300, "content": "<|im_start|>", "special": true}, {"id": 310, "content": "<|im_end|>", "special": true}])";
  const Tokenizer tokenizer = parts.load();
  CHECK(tokenizer.vocabulary() == 311);
  CHECK(tokenizer.encode("<|im_end|>") == Ids{310});
  CHECK(tokenizer.piece(305).empty());
  CHECK(tokenizer.is_special(305));
  CHECK(complaint(error_of([&] { parts.load(310); }), {"tokenizer.json", "<|im_end|>", "310"}) == "");
  const testing::PeakMemory memory;
  for (const char* id : {"2000000000", "2147483646"}) {
    CHECK(complaint(json_error([&](JsonParts& p) {
                      p.added = std::string("[{\"id\": ") + id + ", \"content\": \"x!\"}]";
                    }),
                    {id}) == "");
  }
  CHECK(memory.bytes() < 1 << 20);
}

TEST_CASE("wrong tokenizer.json files are refused by place", "[tokenizer_files]") {
  const auto set = [](std::string JsonParts::*part, const char* value) {
    return json_error([&](JsonParts& parts) { parts.*part = value; });
  };
  CHECK(complaint(set(&JsonParts::vocabulary, "[]"), {"tokenizer.json", "model.vocab", "object"}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, "null"), {"model.vocab"}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, "{}"), {"model.vocab"}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, R"({"a": "1"})"), {"model.vocab", "\"a\"", "\"1\""}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, R"({"a": -1})"), {"model.vocab", "-1"}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, R"({"a": 1.5})"), {"model.vocab", "1.5"}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, R"({"a": [1]})"), {"model.vocab", "\"a\""}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, R"({"a": 18446744073709551615})"), {"model.vocab"}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, R"({"a": 1, "a": 2})"), {"model.vocab", "\"a\""}) == "");
  CHECK(complaint(set(&JsonParts::vocabulary, R"({"a": 1, "b": 1})"),
                  {"model.vocab", "\"a\"", "\"b\"", "1"}) == "");
  for (const char* merges : {"{}", "3", "[3]", "[[\"a\"]]", "[[\"a\", \"b\", \"c\"]]", "[[\"a\", 1]]",
                             "[[[\"a\"]]]", "[{}]", "[\"ab\"]", "[\"x! y\"]"}) {
    CHECK(complaint(set(&JsonParts::merges, merges), {"tokenizer.json", "model.merges"}) == "");
  }
  CHECK(complaint(set(&JsonParts::added, "3"), {"added_tokens"}) == "");
  CHECK(complaint(set(&JsonParts::added, "[3]"), {"added_tokens[0]"}) == "");
  CHECK(complaint(set(&JsonParts::added, R"([{"id": 258}])"), {"added_tokens[0].content", "missing"}) == "");
  CHECK(complaint(set(&JsonParts::added, R"([{"content": "x"}])"), {"added_tokens[0].id", "missing"}) == "");
  CHECK(complaint(set(&JsonParts::added, R"([{"id": 258, "content": ""}])"), {"added_tokens[0].content"}) ==
        "");
  CHECK(complaint(set(&JsonParts::added, R"([{"id": 258, "content": "x!", "lstrip": 1}])"),
                  {"added_tokens[0].lstrip"}) == "");
  CHECK(complaint(set(&JsonParts::added, R"([{"id": 258, "content": "x!"}, {"id": 258, "content": "y!"}])"),
                  {"added_tokens[1]", "258"}) == "");
  CHECK(complaint(set(&JsonParts::added, R"([{"id": 9, "content": "x!"}])"), {"\"x!\"", "9"}) == "");
  CHECK(complaint(json_error([](JsonParts& parts) {
                    parts.added = R"([{"id": 400, "content": "ab"}])";
                    parts.config = "";
                  }),
                  {"\"ab\"", "256", "400"}) == "");
  CHECK(complaint(set(&JsonParts::pre, "null"), {"pre_tokenizer"}) == "");
  CHECK(complaint(set(&JsonParts::pre, R"({"type": "Whitespace"})"), {"pre_tokenizer", "ByteLevel"}) == "");
  CHECK(complaint(set(&JsonParts::pre, R"({"type": "ByteLevel", "add_prefix_space": true})"),
                  {"add_prefix_space"}) == "");
  CHECK(complaint(set(&JsonParts::pre,
                      R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "x"},
      "behavior": "Isolated"}, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})"),
                  {"pattern.Regex", "\"x\"", "qwen2", "llama-bpe"}) == "");
  CHECK(complaint(set(&JsonParts::decoder, R"({"type": "WordPiece"})"), {"decoder.type", "WordPiece"}) == "");
  CHECK(complaint(set(&JsonParts::model_extra, R"("byte_fallback": true, )"), {"model.byte_fallback"}) == "");
  CHECK(complaint(set(&JsonParts::model_extra, R"("dropout": 0.1, )"), {"model.dropout"}) == "");
  CHECK(complaint(set(&JsonParts::model_extra, R"("end_of_word_suffix": "</w>", )"),
                  {"model.end_of_word_suffix"}) == "");
  CHECK(complaint(set(&JsonParts::model_extra, R"("vocab": {}, )"), {"model", "vocab"}) == "");
  CHECK(complaint(set(&JsonParts::config, R"({"bos_token": "nobody"})"),
                  {"tokenizer_config.json", "bos_token", "nobody"}) == "");
  CHECK(complaint(set(&JsonParts::config, R"({"added_tokens_decoder": {"x": {"content": "y"}}})"),
                  {"added_tokens_decoder", "\"x\""}) == "");
  CHECK(complaint(set(&JsonParts::config, R"({"added_tokens_decoder": {"258": {"content": "y"}}})"),
                  {"258", "\"y\"", "<|im_start|>"}) == "");
  CHECK(complaint(set(&JsonParts::config, R"({"chat_template": 3})"), {"chat_template"}) == "");
  CHECK(complaint(set(&JsonParts::config, "[1"), {"tokenizer_config.json", "JSON"}) == "");
  CHECK(complaint(set(&JsonParts::generation, R"({"eos_token_id": "2"})"),
                  {"generation_config.json", "eos_token_id"}) == "");
  CHECK(complaint(set(&JsonParts::generation, R"({"eos_token_id": [2, null]})"), {"eos_token_id[1]"}) == "");
  CHECK(complaint(set(&JsonParts::generation, R"({"eos_token_id": 5000})"), {"5000"}) == "");
  CHECK(complaint(error_of([] { load_json_tokenizer("/nowhere"); }), {"/nowhere/tokenizer.json"}) == "");
}

TEST_CASE("a hostile tokenizer.json asks for no more memory than eight times its bytes",
          "[tokenizer_files]") {
  const TemporaryFolder folder;
  std::string many = "{\"added_tokens\": [";
  for (int i = 0; i < 200000; ++i) many += "0,";
  folder.write("tokenizer.json", many + "0]}");
  {
    const testing::PeakMemory memory;
    CHECK(complaint(error_of([&] { load_json_tokenizer(folder.path()); }), {"tokenizer.json"}) == "");
    CHECK(memory.bytes() < 8 * many.size() + (1 << 20));
  }
  folder.write("tokenizer.json", std::string(100000, '['));
  CHECK(complaint(error_of([&] { load_json_tokenizer(folder.path()); }), {"tokenizer.json"}) == "");
}

}  // namespace rung
