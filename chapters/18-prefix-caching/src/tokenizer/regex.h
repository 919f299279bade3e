// Regular expressions over UTF-8 text with Unicode classes: a thin face over PCRE2, so that only one source
// includes it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rung {

class Regex {
 public:
  // Throws Error naming the place if the pattern is wrong.
  explicit Regex(const std::string& pattern);
  ~Regex();
  Regex(Regex&&) noexcept;

  // Calls visit for each match and for each stretch between matches, in order, so that the pieces put
  // together are the text again. Empty matches are passed over. Precondition: text is valid UTF-8. Several
  // threads may call it at once.
  void split(std::string_view text, const std::function<void(std::string_view piece)>& visit) const;

  // Does it match anywhere in text? Precondition: text is valid UTF-8.
  bool found_in(std::string_view text) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace rung
