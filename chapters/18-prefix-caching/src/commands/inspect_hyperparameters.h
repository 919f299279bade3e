// The part of `inspect` that shows a model's hyperparameters, the same for every format.
#pragma once

#include <iosfwd>

#include "model_file/hyperparameters.h"

namespace rung {

// "[hyperparameters]" and a line for each: `name: value`.
void print_hyperparameters(std::ostream& out, const Hyperparameters& hyperparameters);

// `"hyperparameters": {…}`: a member of a JSON object.
void print_hyperparameters_json(std::ostream& out, const Hyperparameters& hyperparameters);

}  // namespace rung
