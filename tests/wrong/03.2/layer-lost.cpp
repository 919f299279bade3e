// Wrong: every layer is translated to layer 0.
// Expect: "blk.0.attn_q.weight" == "blk.7.attn_q.weight"
// Splits "blk.12.attn_q.weight" behind its prefix into "12" and "attn_q.weight". False unless the number is
// one or more digits without leading zeros and a point follows.
bool split_layer(std::string_view name, std::string_view prefix, std::string_view& number,
                 std::string_view& rest) {
  if (name.substr(0, prefix.size()) != prefix) return false;
  name.remove_prefix(prefix.size());
  const size_t point = name.find_first_not_of("0123456789");
  if (point == 0 || point == name.npos || name[point] != '.' || (name[0] == '0' && point > 1)) return false;
  number = name.substr(0, point);
  rest = name.substr(point + 1);
  return true;
}

// The name in column `to` of the row whose column `from` is `name`, layer numbers kept; empty if there is
// none.
std::string translate(std::string_view name, Column from, Column to) {
  for (const Names& names : kModel) {
    if (names.*from == name) return std::string(names.*to);
  }
  std::string_view number, rest;
  if (!split_layer(name, kLayerPrefix.*from, number, rest)) return "";
  for (const Names& names : kLayer) {
    if (names.*from != rest) continue;
    std::string result(kLayerPrefix.*to);
    return result.append("0").append(".").append(names.*to);
  }
  return "";
}
