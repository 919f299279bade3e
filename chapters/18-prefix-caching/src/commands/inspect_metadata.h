// The parts of `inspect` that show a GGUF file's header and metadata.
#pragma once

#include <iosfwd>

#include "model_file/gguf_metadata.h"

namespace rung {

// "[header]" and its four fields.
void print_header(std::ostream& out, const GgufHeader& header);

// "[metadata]" and a line for each entry: `key: value`. Control characters are escaped. Unless full, long
// strings are cut and arrays show their first elements; either way an array's line ends with its length and
// element type.
void print_metadata(std::ostream& out, const GgufMetadata& metadata, bool full);

// `"header": {…}, "metadata": {…}`: members of a JSON object, everything in full.
void print_metadata_json(std::ostream& out, const GgufMetadata& metadata);

}  // namespace rung
