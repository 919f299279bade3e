// A text without memory of its own, for code that may leave a fiber for good: destructors do not run there.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace simt {

struct Message {
  char buffer[512];

  const char* c_str() const { return buffer; }
};

/// printf into a Message.
__attribute__((format(printf, 1, 2))) inline Message text(const char* format, ...) {
  Message message;  // filled below
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message.buffer, sizeof(message.buffer), format, arguments);
  va_end(arguments);
  return message;
}

inline std::string operator+(const std::string& left, const Message& right) {
  return left + right.c_str();
}

}  // namespace simt
