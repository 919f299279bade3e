// The two kernels of RoPE side by side, for both pairings.
#include "ops/rope.h"

#include "ops/rope_kernels.h"
#include "rung/bench.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

class RopeBench : public BenchPart {
 public:
  const char* name() const override { return "rope"; }
  const char* summary() const override { return "Turning the heads of Q, by kernel and by pairing"; }

  void run(Bench& bench, Cpu& device) override {
    for (const RopePairing pairing : {RopePairing::half_split, RopePairing::interleaved}) {
      Operands o(device, 512, 9, 64);
      bench.measure(device, "all heads of a token", o.shape + named(pairing), o.work(),
                    [&] { rope(device, o.x, o.positions, o.frequencies, pairing); });
    }
  }

  void run(Bench& bench, Cuda& device) override {
    Operands o(device, kCudaEmulated ? 64 : 4096, kCudaEmulated ? 9 : 32, kCudaEmulated ? 64 : 128);
    for (const RopePairing pairing : {RopePairing::half_split, RopePairing::interleaved}) {
      bench.measure(device, "one thread a pair", o.shape + named(pairing), o.work(),
                    [&] { rope_one_pair(device, o.x, o.positions, o.frequencies, pairing); });
      bench.measure(device, "one thread a pair of all heads", o.shape + named(pairing), o.work(),
                    [&] { rope_all_heads(device, o.x, o.positions, o.frequencies, pairing); });
    }
  }

 private:
  static const char* named(RopePairing pairing) {
    return pairing == RopePairing::interleaved ? ", interleaved" : ", half-split";
  }

  struct Operands {
    template <class Device>
    Operands(Device& device, int64_t tokens, int64_t heads, int head_dim)
        : x(upload(device, Tensor::host(DType::f32, {tokens, heads, head_dim}))),
          shape(std::to_string(tokens) + " x " + std::to_string(heads) + " x " + std::to_string(head_dim)) {
      Tensor host = Tensor::host(DType::i32, {tokens});
      for (int32_t i = 0; i < tokens; ++i) host.data<int32_t>()[i] = i;
      positions = upload(device, host);
      RopeParameters rope;
      rope.dims = head_dim;
      frequencies = upload(device, rope_inverse_frequencies(rope));
    }

    Work work() const {
      Work work;
      work.bytes =
          2 * static_cast<double>(x.bytes()) + static_cast<double>(positions.bytes() + frequencies.bytes());
      return work;
    }

    Tensor x, positions, frequencies;
    std::string shape;
  };
};

RUNG_BENCH(RopeBench);

}  // namespace

}  // namespace rung
