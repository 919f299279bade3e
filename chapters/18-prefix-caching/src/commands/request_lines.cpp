// Reads requests from JSON lines; a line that is none becomes an error of its own.
#include "commands/request_lines.h"

#include <iostream>
#include <limits>

#include <nlohmann/json.hpp>

#include "commands/options/prompt_option.h"
#include "rung/error.h"
#include "rung/mapped_file.h"

namespace rung {

namespace {

using Json = nlohmann::json;

std::string text_of(const std::string& field, const Json& value) {
  if (!value.is_string()) fail(field, ": expected a text");
  return value.get<std::string>();
}

bool flag_of(const std::string& field, const Json& value) {
  if (!value.is_boolean()) fail(field, ": expected true or false");
  return value.get<bool>();
}

float number_of(const std::string& field, const Json& value) {
  if (!value.is_number()) fail(field, ": expected a number");
  return value.get<float>();
}

uint64_t count_of(const std::string& field, const Json& value, uint64_t most, uint64_t least = 0) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most || value.get<uint64_t>() < least) {
    fail(field, " is ", value.dump(), ", expected a whole number from ", least, " to ", most);
  }
  return value.get<uint64_t>();
}

std::vector<std::string> texts_of(const std::string& field, const Json& value) {
  if (!value.is_array()) return {text_of(field, value)};
  std::vector<std::string> texts;
  for (const Json& text : value) texts.push_back(text_of(field, text));
  return texts;
}

// Sets what the field says; false if there is no such field.
bool set_field(GenerationRequest& request, const std::string& field, const Json& value) {
  SamplingParameters& sampling = request.sampling;
  constexpr uint64_t kMost = 1000000000;
  if (field == "n") {
    request.answers = static_cast<int64_t>(count_of(field, value, kMostAnswers, 1));
  } else if (field == "max_tokens") {
    request.max_tokens = static_cast<int64_t>(count_of(field, value, kMost));
  } else if (field == "temperature") {
    sampling.temperature = number_of(field, value);
  } else if (field == "top_k") {
    sampling.top_k = static_cast<int64_t>(count_of(field, value, kMost));
  } else if (field == "top_p") {
    sampling.top_p = number_of(field, value);
  } else if (field == "min_p") {
    sampling.min_p = number_of(field, value);
  } else if (field == "repetition_penalty") {
    sampling.repetition_penalty = number_of(field, value);
  } else if (field == "seed") {
    sampling.seed = count_of(field, value, std::numeric_limits<uint64_t>::max());
  } else if (field == "stop") {
    request.stop = texts_of(field, value);
  } else if (field == "ignore_eos") {
    request.ignore_eos = flag_of(field, value);
  } else if (field == "logprobs") {
    request.log_probabilities = flag_of(field, value);
  } else {
    return false;
  }
  return true;
}

std::vector<int32_t> prompt_of(const Json& line, const Tokenizer& tokenizer, const ChatOption& chat,
                               const std::string& source) {
  if (line.contains("prompt") == line.contains("messages"))
    fail("expected either \"prompt\" or \"messages\"");
  if (line.contains("messages"))
    return chat.ids(tokenizer, parse_messages(line["messages"].dump(), "messages"));
  const std::string text = text_of("prompt", line["prompt"]);
  if (const size_t lost = tokenizer.bytes_without_token(text); lost > 0) {
    std::cerr << "rung: warning: " << source << ": this vocabulary has no token for " << lost
              << (lost == 1 ? " byte" : " bytes") << " of the prompt, left out\n";
  }
  return tokenizer.encode(text);
}

RequestLine parse_line(const std::string& text, const std::string& source, const Tokenizer& tokenizer,
                       const ChatOption& chat, const GenerationRequest& defaults) {
  RequestLine result{defaults, {}, ""};
  try {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) fail("expected a JSON object");
    for (const auto& [field, value] : line.items()) {
      if (field == "prompt" || field == "messages") continue;
      if (!set_field(result.request, field, value)) fail("there is no field ", quoted(field));
    }
    check_sampling(result.request.sampling);
    result.request.prompt_ids = prompt_of(line, tokenizer, chat, source);
  } catch (const Error& error) {
    result.error = source + ": " + error.what();
    result.request.answers = 1;
  }
  result.results.resize(static_cast<size_t>(result.request.answers));
  if (!result.error.empty()) result.results[0] = error_json(result.error);
  return result;
}

}  // namespace

std::vector<RequestLine> read_request_lines(const std::string& path, const Tokenizer& tokenizer,
                                            const ChatOption& chat, const GenerationRequest& defaults) {
  const MappedFile file(path);
  const std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  std::vector<RequestLine> lines;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(parse_line(line, path + ", line " + std::to_string(number), tokenizer, chat, defaults));
  }
  if (lines.empty()) fail(path, ": holds no request, expected one JSON object a line");
  return lines;
}

std::string error_json(const std::string& error) {
  return Json{{"error", error}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rung
