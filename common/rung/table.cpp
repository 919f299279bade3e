// Column widths and alignment, and numbers as text.
#include "rung/table.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ostream>

namespace rung {

namespace {

// Columns that text takes on a terminal: code points, which is right for everything Rung prints in tables.
size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_number(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-' ||
                           text[0] == '+' || text[0] == '.');
}

}  // namespace

Table::Table(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void Table::row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out) const {
  const size_t count = rows_[0].size();
  std::vector<size_t> widths(count, 0);
  std::vector<bool> right(count, rows_.size() > 1);
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t c = 0; c < count; ++c) {
      widths[c] = std::max(widths[c], columns(rows_[r][c]));
      if (r > 0 && !is_number(rows_[r][c])) right[c] = false;
    }
  }
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t c = 0; c < count; ++c) {
      const std::string padding(widths[c] - columns(row[c]), ' ');
      line += right[c] ? padding + row[c] : row[c] + padding;
      if (c + 1 < count) line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string human_bytes(double bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fixed(bytes, unit == 0 ? 0 : 1) + " " + units[unit];
}

}  // namespace rung
