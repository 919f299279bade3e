// Atomics, bit intrinsics, vector types and rounded arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::DeviceArray;

namespace {

__global__ void count_everything(int* ints, unsigned* unsigneds, unsigned long long* longs, float* floats,
                                 double* doubles) {
  const int me = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&ints[0], 1);
  atomicMax(&ints[1], me);
  atomicMin(&ints[2], -me);
  atomicSub(&ints[3], 2);
  atomicAdd(&unsigneds[0], 3u);
  atomicOr(&unsigneds[1], 1u << (me % 32));
  atomicAnd(&unsigneds[2], ~(1u << (me % 32)));
  atomicXor(&unsigneds[3], 1u);
  atomicInc(&unsigneds[4], 9);
  atomicAdd(&longs[0], 1ull << 33);
  atomicMax(&longs[1], static_cast<unsigned long long>(me));
  atomicAdd(floats, 0.5f);
  atomicAdd(doubles, 0.25);
}

__global__ void lock_free_max(float* out) {
  const float mine = static_cast<float>((threadIdx.x * 37) % 64);
  int* bits = reinterpret_cast<int*>(out);
  int old = atomicAdd(bits, 0);
  while (__int_as_float(old) < mine) {
    const int seen = atomicCAS(bits, old, __float_as_int(mine));
    if (seen == old) break;
    old = seen;
  }
}

// Each block adds its sum; the last one to come writes the total.
__device__ unsigned arrived;
__global__ void last_block(float* partial, float* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<float>(blockIdx.x);
    __threadfence();
    is_last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    *total = sum;
    atomicExch(&arrived, 0u);
  }
}

__global__ void bits(unsigned* out) {
  out[0] = static_cast<unsigned>(__popc(0xf0f0f0f0u));
  out[1] = static_cast<unsigned>(__clz(1));
  out[2] = static_cast<unsigned>(__clz(0));
  out[3] = static_cast<unsigned>(__ffs(8));
  out[4] = static_cast<unsigned>(__ffs(0));
  out[5] = __brev(1u);
  out[6] = __byte_perm(0x33221100u, 0x77665544u, 0x7410u);
  out[7] = static_cast<unsigned>(__dp4a(static_cast<int>(0xff7f0180u), static_cast<int>(0x02fe7f01u), 5));
  out[8] = __dp4a(0xff7f0180u, 0x02fe7f01u, 5u);
  out[9] = __umulhi(0x80000000u, 6u);
  out[10] = static_cast<unsigned>(__mulhi(-2, 3));
  out[11] = __float_as_uint(1.0f);
  out[12] = __funnelshift_l(0x80000000u, 1u, 1u);
  out[13] = static_cast<unsigned>(__popcll(~0ull));
}

__global__ void arithmetic(float* out, float x, const float* constants) {
  out[0] = __fadd_rn(x, 1e-8f);
  out[1] = __fmul_rn(x, 3.0f);
  out[2] = __fmaf_rn(x, 3.0f, 1.0f);
  out[3] = rsqrtf(4.0f);
  out[4] = fmaxf(x, 2.0f);
  out[5] = min(1.5f, 2.5f) + static_cast<float>(max(3, 4)) + static_cast<float>(min(5u, 6u));
  out[6] = static_cast<float>(__float2int_rn(2.5f)) + static_cast<float>(__float2int_rz(-2.9f));
  out[7] = __expf(1.0f);
  out[8] = __fdividef(1.0f, 4.0f);
  out[9] = __frcp_rn(8.0f);
  out[10] = __saturatef(-3.0f) + __saturatef(3.0f);
  out[11] = __ldg(constants + 1);
}

__global__ void add_vectors(const float4* a, const float4* b, float4* out) {
  const float4 x = a[threadIdx.x], y = b[threadIdx.x];
  out[threadIdx.x] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

}  // namespace

TEST_CASE("atomics from many blocks lose nothing", "[simt]") {
  DeviceArray<int> ints(std::vector<int>(4, 0));
  DeviceArray<unsigned> unsigneds(std::vector<unsigned>{0, 0, 0xffffffffu, 0, 0});
  DeviceArray<unsigned long long> longs(std::vector<unsigned long long>(2, 0));
  DeviceArray<float> floats(std::vector<float>(1, 0));
  DeviceArray<double> doubles(std::vector<double>(1, 0));
  count_everything<<<20, 100>>>(ints.get(), unsigneds.get(), longs.get(), floats.get(), doubles.get());
  REQUIRE(ints.values() == std::vector<int>{2000, 1999, -1999, -4000});
  REQUIRE(unsigneds.values() == std::vector<unsigned>{6000, 0xffffffffu, 0, 0, 0});
  REQUIRE(longs.values() == std::vector<unsigned long long>{2000ull << 33, 1999});
  REQUIRE(floats.values()[0] == 1000.0f);
  REQUIRE(doubles.values()[0] == 500.0);
}

TEST_CASE("compare-and-swap finds a maximum", "[simt]") {
  DeviceArray<float> out(std::vector<float>{0});
  lock_free_max<<<4, 64>>>(out.get());
  REQUIRE(out.values()[0] == 63.0f);
}

TEST_CASE("the last block to arrive sees what the others wrote", "[simt]") {
  DeviceArray<float> partial(50), total(1);
  for (int i = 0; i < 3; ++i) {
    last_block<<<50, 32>>>(partial.get(), total.get());
    REQUIRE(total.values()[0] == 1225.0f);
  }
}

TEST_CASE("bit intrinsics", "[simt]") {
  DeviceArray<unsigned> out(14);
  bits<<<1, 1>>>(out.get());
  // dp4a signed: -128*1 + 1*127 + 127*-2 + -1*2 + 5 = -252
  REQUIRE(out.values() ==
          std::vector<unsigned>{16, 31, 32, 4, 0, 0x80000000u, 0x77441100u, static_cast<unsigned>(-252),
                                128 + 127 + 127 * 254 + 255 * 2 + 5, 3, 0xffffffffu, 0x3f800000u, 3, 64});
}

TEST_CASE("float arithmetic", "[simt]") {
  DeviceArray<float> out(12), constants(std::vector<float>{7, 0.25f});
  arithmetic<<<1, 1>>>(out.get(), 1.0f, constants.get());
  const std::vector<float> v = out.values();
  REQUIRE(v[0] == 1.0f);
  REQUIRE(v[1] == 3.0f);
  REQUIRE(v[2] == 4.0f);
  REQUIRE(std::fabs(v[3] - 0.5f) < 1e-6f);
  REQUIRE(v[4] == 2.0f);
  REQUIRE(v[5] == 1.5f + 4.0f + 5.0f);
  REQUIRE(v[6] == 0.0f);
  REQUIRE(std::fabs(v[7] - 2.718281828f) < 3e-5f);
  REQUIRE(v[8] == 0.25f);
  REQUIRE(v[9] == 0.125f);
  REQUIRE(v[10] == 1.0f);
  REQUIRE(v[11] == 0.25f);
}

TEST_CASE("vectors have CUDA's size and alignment", "[simt]") {
  STATIC_REQUIRE(sizeof(float3) == 12);
  STATIC_REQUIRE(alignof(float3) == 4);
  STATIC_REQUIRE(sizeof(float4) == 16);
  STATIC_REQUIRE(alignof(float4) == 16);
  STATIC_REQUIRE(alignof(uchar4) == 4);
  STATIC_REQUIRE(alignof(int2) == 8);
  STATIC_REQUIRE(alignof(double2) == 16);
  STATIC_REQUIRE(sizeof(__half2) == 4);
  STATIC_REQUIRE(alignof(__nv_bfloat162) == 4);
  DeviceArray<float> a(simt_tests::iota<float>(16)), b(std::vector<float>(16, 1.0f)), out(16);
  add_vectors<<<1, 4>>>(reinterpret_cast<float4*>(a.get()), reinterpret_cast<float4*>(b.get()),
                        reinterpret_cast<float4*>(out.get()));
  REQUIRE(out.values() == simt_tests::iota<float>(16, 1.0f));
}
