// The flag --weights and what its words mean.
#include "commands/options/weight_option.h"

namespace rung {

void WeightOption::add(CommandLine& line) {
  line.option("--weights", text,
              "On CUDA: keep matrices as stored (block formats expanded to "
              "float32), or convert them to f16 or bf16");
  line.choices({"stored", "f16", "bf16"});
}

WeightType WeightOption::type() const {
  return text == "f16" ? WeightType::f16 : text == "bf16" ? WeightType::bf16 : WeightType::stored;
}

}  // namespace rung
