// Tables and numbers for people.
#include "rung/table.h"

#include <sstream>

#include "testing/catch.h"

namespace {

std::string printed(const rung::Table& table) {
  std::ostringstream out;
  table.print(out);
  return out.str();
}

}  // namespace

TEST_CASE("text stands to the left and numbers to the right, and no line ends in spaces") {
  rung::Table table({"name", "bytes", "what"});
  table.row({"a", "5", "x"});
  table.row({"longer", "-12.5", ""});
  table.row({"b", ".5", "yes"});
  CHECK(printed(table) ==
        "name    bytes  what\n"
        "a           5  x\n"
        "longer  -12.5\n"
        "b          .5  yes\n");
}

TEST_CASE("one word among the numbers makes the column text") {
  rung::Table table({"n", "x"});
  table.row({"1", "1"});
  table.row({"none", "22"});
  CHECK(printed(table) == "n      x\n1      1\nnone  22\n");
}

TEST_CASE("columns are as wide as characters, not as bytes") {
  rung::Table table({"größe", "µs"});
  table.row({"é", "1"});
  CHECK(printed(table) == "größe  µs\né       1\n");
}

TEST_CASE("a table without rows is its header") {
  CHECK(printed(rung::Table({"a", "b"})) == "a  b\n");
}

TEST_CASE("fixed and human_bytes") {
  CHECK(rung::fixed(3.14159, 2) == "3.14");
  CHECK(rung::fixed(-0.5, 0) == "-0");
  CHECK(rung::fixed(2, 3) == "2.000");
  CHECK(rung::human_bytes(0) == "0 B");
  CHECK(rung::human_bytes(1023) == "1023 B");
  CHECK(rung::human_bytes(1024) == "1.0 KiB");
  CHECK(rung::human_bytes(98362432) == "93.8 MiB");
  CHECK(rung::human_bytes(1.5 * 1024 * 1024 * 1024) == "1.5 GiB");
  CHECK(rung::human_bytes(5e15) == "4547.5 TiB");
}
