// Aligned columns for people: text to the left, numbers to the right.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rung {

class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void row(std::vector<std::string> cells);  // as many cells as the header has
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// value with a fixed number of digits behind the point: fixed(3.14159, 2) is "3.14".
std::string fixed(double value, int digits);

// bytes in the largest binary unit that leaves at least 1: "512 B", "93.8 MiB".
std::string human_bytes(double bytes);

}  // namespace rung
