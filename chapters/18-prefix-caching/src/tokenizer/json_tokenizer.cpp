// Reads a tokenizer from the files that Hugging Face transformers writes beside a model's weights.
#include <algorithm>
#include <filesystem>
#include <map>

#include "rung/error.h"
#include "rung/mapped_file.h"
#include "tokenizer/tokenizer_json.h"
#include "tokenizer/vocabulary.h"

namespace rung {

namespace fs = std::filesystem;

namespace {

// Throws Error naming the place unless it is absent, null or this value.
void expect_flag(const JsonPlace& place, bool expected) {
  if (place.flag_or(expected) != expected) place.fail_expected(expected ? "true" : "false");
}

void expect_no_text(const JsonPlace& place) {
  if (!place.text_or("").empty()) place.fail_expected("none");
}

void check_model(const JsonPlace& model) {
  if (model["type"].there() && model["type"].text() != "BPE") model["type"].fail_expected("\"BPE\"");
  expect_flag(model["byte_fallback"], false);
  expect_no_text(model["continuing_subword_prefix"]);
  expect_no_text(model["end_of_word_suffix"]);
  if (model["dropout"].there())
    model["dropout"].fail_expected("null (merges dropped at random are for training)");
}

bool read_normalizer(const JsonPlace& normalizer) {
  if (!normalizer.there()) return false;
  const std::string type = normalizer["type"].text();
  if (type == "NFC") return true;
  const JsonPlace list = normalizer["normalizers"];
  if (type == "Sequence" && list.size() == 0) return false;
  if (type == "Sequence" && list.size() == 1) return read_normalizer(list[0]);
  normalizer["type"].fail_expected("\"NFC\" or no normalizer");
}

PreTokenizerKind read_pre_tokenizer(const JsonPlace& pre_tokenizer) {
  const auto type = [](const JsonPlace& place) { return place["type"].text(); };
  const auto byte_level = [&](const JsonPlace& place, bool use_regex) {
    if (type(place) != "ByteLevel") place["type"].fail_expected("\"ByteLevel\"");
    expect_flag(place["add_prefix_space"], false);
    if (place["use_regex"].flag_or(true) != use_regex) {
      place["use_regex"].fail_expected(use_regex ? "true" : "false");
    }
    if (!place["add_prefix_space"].there()) place["add_prefix_space"].fail_expected("false");
  };
  if (!pre_tokenizer.there())
    pre_tokenizer.fail_expected("a pre-tokenizer of type ByteLevel, or a Sequence with one");
  if (type(pre_tokenizer) == "ByteLevel") {
    byte_level(pre_tokenizer, true);
    return PreTokenizerKind::gpt2;
  }
  const JsonPlace list = pre_tokenizer["pretokenizers"];
  if (type(pre_tokenizer) == "Sequence" && list.size() == 2 && type(list[0]) == "Digits") {
    if (!list[0]["individual_digits"].flag_or(false)) list[0]["individual_digits"].fail_expected("true");
    byte_level(list[1], true);
    return PreTokenizerKind::smollm;
  }
  if (type(pre_tokenizer) == "Sequence" && list.size() == 2 && type(list[0]) == "Split") {
    byte_level(list[1], false);
    if (list[0]["behavior"].text() != "Isolated") list[0]["behavior"].fail_expected("\"Isolated\"");
    expect_flag(list[0]["invert"], false);
    const JsonPlace pattern = list[0]["pattern"]["Regex"];
    for (const PreTokenizerKind kind : {PreTokenizerKind::qwen2, PreTokenizerKind::llama_bpe}) {
      if (pattern.text() == published_pattern(kind)) return kind;
    }
    pattern.fail_expected("the pattern of one of: qwen2, llama-bpe");
  }
  pre_tokenizer.fail_expected(
      "ByteLevel alone (gpt-2), Digits and ByteLevel (smollm), or Split and ByteLevel with the pattern of "
      "qwen2 or llama-bpe");
}

// Tokens by id. texts of added tokens live in `added`, which must not grow any more.
struct Tables {
  std::map<int32_t, std::pair<AddedToken, bool>> added;  // by id; true: a control token
};

void add_token(Tables& tables, const JsonPlace& place, int32_t id) {
  AddedToken token;
  token.id = id;
  token.text = place["content"].text();
  if (token.text.empty()) place["content"].fail_expected("a text of at least one character");
  token.left_strip = place["lstrip"].flag_or(false);
  token.right_strip = place["rstrip"].flag_or(false);
  token.single_word = place["single_word"].flag_or(false);
  const bool special = place["special"].flag_or(false);
  token.normalized = place["normalized"].flag_or(!special);
  const auto [entry, is_new] = tables.added.try_emplace(id, std::move(token), special);
  if (!is_new && entry->second.first.text != place["content"].text()) {
    fail(place["content"].where(), " is ", quoted(place["content"].text()), " for token ", id,
         ", which was added as ", quoted(entry->second.first.text), " before");
  }
}

void read_added_tokens(const JsonPlace& top, Tables& tables) {
  const JsonPlace list = top["added_tokens"];
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t before = tables.added.size();
    add_token(tables, list[i], list[i]["id"].id());
    if (tables.added.size() == before) list[i]["id"].fail_expected("each added token once");
  }
}

void read_added_tokens_decoder(const JsonPlace& config, Tables& tables) {
  const JsonPlace list = config["added_tokens_decoder"];
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string& id = list.name(i);
    const bool digits =
        !id.empty() && id.size() < 10 && id.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) fail(list[i].where(), " has the name ", quoted(id), ", expected a token id");
    add_token(tables, list[i], std::stoi(id));
  }
}

// Lays tokens out by id. Throws Error for an id that stands there twice or is no row of the embedding table.
void place_tokens(const TokenizerJson& json, const Tables& tables, int rows,
                  Tokenizer::Vocabulary& vocabulary) {
  const auto listed = json.vocabulary();
  // Ids may have gaps, but a file of a few tokens must not ask for memory for billions.
  const size_t limit = rows > 0 ? rows : 4 * (listed.size() + tables.added.size()) + 1024;
  size_t size = rows > 0 ? rows : 0;
  const auto check = [&](int32_t id, std::string_view text) {
    if (static_cast<size_t>(id) >= limit) {
      fail(json.path(), ": token ", quoted(text), " has the id ", id, ", expected one below ", limit,
           rows > 0 ? ", the rows of the embedding table" : ", four times the number of tokens");
    }
    size = std::max(size, static_cast<size_t>(id) + 1);
  };
  for (const auto& [text, id] : listed) check(id, text);
  for (const auto& [id, token] : tables.added) check(id, token.first.text);
  vocabulary.tokens.resize(size);
  vocabulary.types.resize(size, TokenType::unused);
  for (const auto& [text, id] : listed) {
    if (vocabulary.types[id] != TokenType::unused) {
      fail(json.path(), ": model.vocab gives the id ", id, " to ", quoted(vocabulary.tokens[id]), " and ",
           quoted(text), ", expected each id once");
    }
    vocabulary.tokens[id] = text;
    vocabulary.types[id] = TokenType::normal;
  }
  for (const auto& [id, entry] : tables.added) {
    const AddedToken& token = entry.first;
    if (vocabulary.types[id] == TokenType::normal && vocabulary.tokens[id] != token.text) {
      fail(json.path(), ": the added token ", quoted(token.text), " has the id ", id,
           ", which model.vocab gives to ", quoted(vocabulary.tokens[id]));
    }
    vocabulary.tokens[id] = token.text;
    vocabulary.types[id] = entry.second ? TokenType::control : TokenType::added;
    vocabulary.added.push_back(token);
  }
}

int32_t find_token(const Tables& tables, const JsonPlace& place, const std::string& text) {
  for (const auto& [id, token] : tables.added) {
    if (token.first.text == text) return id;
  }
  place.fail_expected("the text of an added token");
}

// A token that tokenizer_config.json names: a string, an object with its content, or null.
int32_t read_named_token(const JsonPlace& place, const Tables& tables) {
  if (!place.there()) return -1;
  return find_token(tables, place, place.is_string() ? place.text() : place["content"].text());
}

// What TemplateProcessing puts around a text: BOS in front, EOS behind.
bool read_post_processor(const JsonPlace& post, const Tables& tables, Tokenizer::Vocabulary& vocabulary) {
  if (!post.there()) return false;
  const std::string type = post["type"].text();
  if (type == "ByteLevel") return false;
  if (type == "Sequence") {
    bool found = false;
    const JsonPlace list = post["processors"];
    for (size_t i = 0; i < list.size(); ++i) found |= read_post_processor(list[i], tables, vocabulary);
    return found;
  }
  if (type != "TemplateProcessing") {
    post["type"].fail_expected("\"TemplateProcessing\", \"ByteLevel\" or a \"Sequence\" of them");
  }
  const JsonPlace list = post["single"];
  bool behind = false;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i]["Sequence"].there()) {
      if (behind) list.fail_expected("the text once");
      behind = true;
      continue;
    }
    const JsonPlace token = list[i]["SpecialToken"]["id"];
    bool& flag = behind ? vocabulary.add_eos : vocabulary.add_bos;
    if (flag) list.fail_expected("at most one token before and one behind the text");
    flag = true;
    (behind ? vocabulary.eos : vocabulary.bos) = find_token(tables, token, token.text());
  }
  if (!behind) list.fail_expected("a template that holds the text");
  return true;
}

std::string read_text_file(const std::string& path) {
  const MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string read_chat_template(const std::string& folder, const JsonPlace& config) {
  const fs::path own_file = fs::path(folder) / "chat_template.jinja";
  if (fs::exists(own_file)) return read_text_file(own_file.string());
  const JsonPlace place = config["chat_template"];
  if (!place.is_array()) return place.text_or("");
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i]["name"].text() == "default") return place[i]["template"].text();
  }
  return "";
}

// The number or list of numbers under eos_token_id in generation_config.json or, failing that, config.json.
std::vector<int32_t> read_ends(const std::string& folder) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    const std::string path = (fs::path(folder) / name).string();
    if (!fs::exists(path)) continue;
    const JsonNode root = read_json_file(path, {"eos_token_id"});
    const JsonPlace place = JsonPlace(path, root)["eos_token_id"];
    if (!place.there()) continue;
    if (!place.is_array()) return {place.id()};
    std::vector<int32_t> ids;
    for (size_t i = 0; i < place.size(); ++i) ids.push_back(place[i].id());
    return ids;
  }
  return {};
}

}  // namespace

Tokenizer load_json_tokenizer(const std::string& folder, int rows) {
  const TokenizerJson json((fs::path(folder) / "tokenizer.json").string());
  const std::string config_path = (fs::path(folder) / "tokenizer_config.json").string();
  JsonNode config_root;
  config_root.kind = JsonNode::Kind::object;
  if (fs::exists(config_path)) {
    config_root = read_json_file(config_path, {"chat_template", "bos_token", "eos_token", "add_bos_token",
                                               "add_eos_token", "added_tokens_decoder"});
  }
  const JsonPlace top = json.top(), config(config_path, config_root);

  Tokenizer::Vocabulary vocabulary;
  vocabulary.source = json.path();
  vocabulary.tokens_key = "model.vocab";
  vocabulary.merges_key = "model.merges";
  check_model(top["model"]);
  vocabulary.normalize = read_normalizer(top["normalizer"]);
  vocabulary.pre_tokenizer = read_pre_tokenizer(top["pre_tokenizer"]);
  vocabulary.ignore_merges = top["model"]["ignore_merges"].flag_or(false);
  if (top["decoder"].there() && top["decoder"]["type"].text() != "ByteLevel") {
    top["decoder"]["type"].fail_expected("\"ByteLevel\"");
  }

  Tables tables;
  read_added_tokens(top, tables);
  read_added_tokens_decoder(config, tables);
  place_tokens(json, tables, rows, vocabulary);
  vocabulary.merges = json.merges();

  vocabulary.bos = read_named_token(config["bos_token"], tables);
  vocabulary.eos = read_named_token(config["eos_token"], tables);
  if (!read_post_processor(top["post_processor"], tables, vocabulary)) {
    vocabulary.add_bos = vocabulary.bos >= 0 && config["add_bos_token"].flag_or(false);
    vocabulary.add_eos = vocabulary.eos >= 0 && config["add_eos_token"].flag_or(false);
  }
  vocabulary.ends = read_ends(folder);
  if (vocabulary.eos < 0 && !vocabulary.ends.empty()) vocabulary.eos = vocabulary.ends[0];
  if (vocabulary.eos < 0) {
    vocabulary.warnings.push_back(
        folder + ": no file names an end-of-sequence token: generation will end only at its limit");
  }
  vocabulary.chat_template = read_chat_template(folder, config);
  return Tokenizer(std::move(vocabulary));
}

}  // namespace rung
