// The numbers that describe a model's shape and arithmetic, complete and checked, from either file format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rung {

enum class Architecture : uint8_t { llama, qwen2, qwen3 };
const char* name(Architecture architecture);

// Which two elements of a head RoPE turns together: 2i and 2i + 1, or i and i + head_dim / 2. Decided by file
// format AND architecture: GGUF stores the Q and K rows of llama permuted for interleaved pairs; everything
// else is half-split.
enum class RopePairing : uint8_t { interleaved, half_split };

const char* name(RopePairing pairing);

enum class RopeScaling : uint8_t { none, linear, llama3 };
const char* name(RopeScaling scaling);

struct RopeParameters {
  float base = 10000;
  int dims = 0;  // leading elements of each head that turn; head_dim unless the file says less
  RopePairing pairing = RopePairing::half_split;
  RopeScaling scaling = RopeScaling::none;
  float factor = 1;  // linear and llama3
  // llama3 only (config.json: rope_scaling):
  float low_frequency_factor = 1, high_frequency_factor = 4;
  int original_context_length = 0;
  // One divisor per pair where the file stores them (GGUF's rope_freqs.weight, which holds llama3's scaling
  // worked out): applied instead of factor. Empty otherwise.
  std::vector<float> frequency_factors;
};

struct Hyperparameters {
  Architecture architecture = Architecture::llama;
  std::string model_name;  // for people; may be empty
  int layers = 0;
  int hidden = 0;        // embedding length, the width of the residual stream
  int feed_forward = 0;  // width between gate/up and down
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int vocabulary = 0;
  int context_length = 0;
  float rms_epsilon = 0;
  bool tied_embeddings = false;  // the LM head is the embedding table
  bool qkv_bias = false;         // qwen2
  bool qk_norm = false;          // qwen3: RMSNorm over each head of Q and K before RoPE
  RopeParameters rope;

  int query_width() const { return heads * head_dim; }
  int kv_width() const { return kv_heads * head_dim; }
};

// Equal in everything but model_name, which a folder's name decides for safetensors.
bool operator==(const Hyperparameters& a, const Hyperparameters& b);

// Throws Error naming `source` and the field if a value is out of range, heads do not divide by kv_heads, …
void check_hyperparameters(const Hyperparameters& hyperparameters, const std::string& source);

}  // namespace rung
