// Stored weights as float32 vectors, decoded in registers: sixteen elements at a time, whatever their type.
// Included once for each SIMD target by Highway's foreach_target.h.
//
// Every decoded value has the bits that decode_row() gives. Where a type needs q * d + m, a fused
// multiply-add is used although decode_row() rounds twice: d has 11 significant bits and q at most 8, so that
// the product is exact in float32 and both round once.
#if defined(RUNG_OPS_BLOCK_DECODE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_OPS_BLOCK_DECODE_INL_H
#undef RUNG_OPS_BLOCK_DECODE_INL_H
#else
#define RUNG_OPS_BLOCK_DECODE_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace rung {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Sixteen floats in as many registers as this target needs: one with AVX-512, two with AVX2, four with SSE4
// or NEON.
constexpr size_t kGroup = 16;
using DF = hn::CappedTag<float, kGroup>;
using VF = hn::Vec<DF>;
constexpr size_t kLanes = hn::MaxLanes(DF());
constexpr size_t kVectors = kGroup / kLanes;
struct Group {
  VF v[kVectors];
};

using Bytes = hn::Vec<hn::Full128<uint8_t>>;

HWY_INLINE Group load_group(const float* x) {
  Group group;
  group.v[0] = hn::LoadU(DF(), x);
  if constexpr (kVectors > 1) group.v[1] = hn::LoadU(DF(), x + kLanes);
  if constexpr (kVectors > 2) group.v[2] = hn::LoadU(DF(), x + 2 * kLanes);
  if constexpr (kVectors > 2) group.v[3] = hn::LoadU(DF(), x + 3 * kLanes);
  return group;
}

HWY_INLINE void store_group(const Group& group, float* y) {
  hn::StoreU(group.v[0], DF(), y);
  if constexpr (kVectors > 1) hn::StoreU(group.v[1], DF(), y + kLanes);
  if constexpr (kVectors > 2) hn::StoreU(group.v[2], DF(), y + 2 * kLanes);
  if constexpr (kVectors > 2) hn::StoreU(group.v[3], DF(), y + 3 * kLanes);
}

// sum + a * b, fused where the target can.
HWY_INLINE Group multiply_add(const Group& a, const Group& b, Group sum) {
  sum.v[0] = hn::MulAdd(a.v[0], b.v[0], sum.v[0]);
  if constexpr (kVectors > 1) sum.v[1] = hn::MulAdd(a.v[1], b.v[1], sum.v[1]);
  if constexpr (kVectors > 2) sum.v[2] = hn::MulAdd(a.v[2], b.v[2], sum.v[2]);
  if constexpr (kVectors > 2) sum.v[3] = hn::MulAdd(a.v[3], b.v[3], sum.v[3]);
  return sum;
}

HWY_INLINE Group multiply_add(const Group& a, VF scale, VF offset) {
  Group result;
  result.v[0] = hn::MulAdd(a.v[0], scale, offset);
  if constexpr (kVectors > 1) result.v[1] = hn::MulAdd(a.v[1], scale, offset);
  if constexpr (kVectors > 2) result.v[2] = hn::MulAdd(a.v[2], scale, offset);
  if constexpr (kVectors > 2) result.v[3] = hn::MulAdd(a.v[3], scale, offset);
  return result;
}

HWY_INLINE Group multiply(const Group& a, VF scale) {
  Group result;
  result.v[0] = hn::Mul(a.v[0], scale);
  if constexpr (kVectors > 1) result.v[1] = hn::Mul(a.v[1], scale);
  if constexpr (kVectors > 2) result.v[2] = hn::Mul(a.v[2], scale);
  if constexpr (kVectors > 2) result.v[3] = hn::Mul(a.v[3], scale);
  return result;
}

// Bytes kPart * kLanes … of sixteen, in a vector of kLanes bytes.
template <int kPart, class V>
HWY_INLINE auto bytes_of_part(V bytes) {
  if constexpr (kVectors == 1) {
    return bytes;
  } else {
    const auto moved = hn::ShiftRightBytes<kPart * kLanes>(hn::DFromV<V>(), bytes);
    if constexpr (kVectors == 2) {
      return hn::LowerHalf(moved);
    } else {
      return hn::LowerHalf(hn::LowerHalf(moved));
    }
  }
}

template <int kPart, class V>
HWY_INLINE VF floats_of_part(V bytes) {
  const hn::Rebind<int32_t, DF> integers;
  return hn::ConvertTo(DF(), hn::PromoteTo(integers, bytes_of_part<kPart>(bytes)));
}

// Sixteen signed or unsigned bytes as floats.
template <class V>
HWY_INLINE Group to_floats(V bytes) {
  Group group;
  group.v[0] = floats_of_part<0>(bytes);
  if constexpr (kVectors > 1) group.v[1] = floats_of_part<1>(bytes);
  if constexpr (kVectors > 2) group.v[2] = floats_of_part<2>(bytes);
  if constexpr (kVectors > 2) group.v[3] = floats_of_part<3>(bytes);
  return group;
}

HWY_INLINE Bytes load_bytes(const uint8_t* bytes) {
  return hn::LoadU(hn::Full128<uint8_t>(), bytes);
}
HWY_INLINE Bytes low_nibbles(Bytes bytes) {
  return hn::And(bytes, hn::Set(hn::Full128<uint8_t>(), 0x0F));
}
HWY_INLINE Bytes high_nibbles(Bytes bytes) {
  const hn::Full128<uint16_t> words;
  return low_nibbles(hn::BitCast(hn::Full128<uint8_t>(), hn::ShiftRight<4>(hn::BitCast(words, bytes))));
}

// Lanes of 16-bit floats widened to float32, exactly.
template <class D, class V>
HWY_INLINE hn::Vec<D> widen_f16(D floats, V bits) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSE4
  // The exponent's bias grows from 15 to 127 by multiplying with 2^112, which is right for subnormal numbers
  // too; infinity and NaN keep an exponent of all ones.
  const hn::RebindToUnsigned<D> words;
  const auto wide = hn::PromoteTo(words, bits);
  const auto magnitude = hn::And(wide, hn::Set(words, 0x7FFF));
  const auto scaled = hn::BitCast(
      words, hn::Mul(hn::BitCast(floats, hn::ShiftLeft<13>(magnitude)), hn::Set(floats, 0x1p112f)));
  const auto special =
      hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(words, 0x7BFF)), hn::Set(words, 0x7F800000));
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(words, 0x8000)));
  return hn::BitCast(floats, hn::Or(sign, hn::Or(scaled, special)));
#else
  return hn::PromoteTo(floats, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
#endif
}

template <int kLane>
HWY_INLINE VF broadcast_lane(hn::Vec<hn::Full128<float>> four) {
  return hn::Set(DF(), hn::ExtractLane(four, kLane));
}

// The four 16-bit floats at `bits`.
HWY_INLINE hn::Vec<hn::Full128<float>> load_four_f16(const uint8_t* bits) {
  return widen_f16(hn::Full128<float>(),
                   hn::BitCast(hn::FixedTag<uint16_t, 4>(), hn::LoadU(hn::FixedTag<uint8_t, 8>(), bits)));
}

// Interleaved order. Sixteen weights stored in sixteen bytes are four 32-bit words. Masking out byte 0 of
// each word, then byte 1, 2 and 3, puts each weight into a 32-bit lane of its own without moving it; its
// place in the word is a power of two, which the scale makes good. The weights then come out as 0 4 8 12, 1 5
// 9 13, 2 6 10 14, 3 7 11 15, and x is brought into that order once, instead of every block of weights into
// x's.
using Words = hn::Vec<hn::RebindToUnsigned<DF>>;
alignas(64) constexpr uint32_t kNibbleOfWord[kGroup] = {  //
    0xF,     0xF,     0xF,     0xF,     0xF00,     0xF00,     0xF00,     0xF00,
    0xF0000, 0xF0000, 0xF0000, 0xF0000, 0xF000000, 0xF000000, 0xF000000, 0xF000000};
alignas(64) constexpr float kUnitOfByte[kGroup] = {  //
    1,        1,        1,        1,        0x1p-8f,  0x1p-8f,  0x1p-8f,  0x1p-8f,
    0x1p-16f, 0x1p-16f, 0x1p-16f, 0x1p-16f, 0x1p-24f, 0x1p-24f, 0x1p-24f, 0x1p-24f};

// The same sixteen bytes in every 128 bits.
HWY_INLINE Words load_words(const uint8_t* bytes) {
  const hn::Repartition<uint8_t, DF> tag;
  return hn::BitCast(hn::RebindToUnsigned<DF>(), hn::LoadDup128(tag, bytes));
}

template <size_t part>
HWY_INLINE VF nibble_floats(Words words) {
  const hn::RebindToUnsigned<DF> tag;
  const auto masked = hn::And(words, hn::Load(tag, kNibbleOfWord + part * kLanes));
  return hn::ConvertTo(DF(), hn::BitCast(hn::RebindToSigned<DF>(), masked));
}

HWY_INLINE Group low_nibble_group(Words words) {
  Group group;
  group.v[0] = nibble_floats<0>(words);
  if constexpr (kVectors > 1) group.v[1] = nibble_floats<1>(words);
  if constexpr (kVectors > 2) group.v[2] = nibble_floats<2>(words);
  if constexpr (kVectors > 2) group.v[3] = nibble_floats<3>(words);
  return group;
}

HWY_INLINE Group high_nibble_group(Words words) {
  return low_nibble_group(hn::ShiftRight<4>(words));
}

// A scale for each byte's place in its word.
HWY_INLINE Group scale_of_bytes(VF scale) {
  return multiply(load_group(kUnitOfByte), scale);
}

HWY_INLINE Group multiply_add(const Group& a, const Group& scale, VF offset) {
  Group result;
  result.v[0] = hn::MulAdd(a.v[0], scale.v[0], offset);
  if constexpr (kVectors > 1) result.v[1] = hn::MulAdd(a.v[1], scale.v[1], offset);
  if constexpr (kVectors > 2) result.v[2] = hn::MulAdd(a.v[2], scale.v[2], offset);
  if constexpr (kVectors > 2) result.v[3] = hn::MulAdd(a.v[3], scale.v[3], offset);
  return result;
}

// Each type below describes how its weights are stored: kElements of them in kBytes bytes, worked on in
// kUnits parts of kGroups groups. Constructing one reads the scales of a unit; group<g>() decodes its g-th
// sixteen elements.

struct BlockF32 {
  static constexpr size_t kElements = 16, kBytes = 64, kUnits = 1, kGroups = 1;
  const uint8_t* data;
  HWY_INLINE BlockF32(const uint8_t* block, size_t) : data(block) {}
  template <int g>
  HWY_INLINE Group group() const {
    return load_group(reinterpret_cast<const float*>(data));
  }
};

struct BlockF16 {
  static constexpr size_t kElements = 16, kBytes = 32, kUnits = 1, kGroups = 1;
  using Halves = hn::Rebind<uint16_t, DF>;
  const uint16_t* data;
  HWY_INLINE BlockF16(const uint8_t* block, size_t) : data(reinterpret_cast<const uint16_t*>(block)) {}
  template <int g>
  HWY_INLINE Group group() const {
    Group group;
    group.v[0] = widen_f16(DF(), hn::LoadU(Halves(), data));
    if constexpr (kVectors > 1) group.v[1] = widen_f16(DF(), hn::LoadU(Halves(), data + kLanes));
    if constexpr (kVectors > 2) group.v[2] = widen_f16(DF(), hn::LoadU(Halves(), data + 2 * kLanes));
    if constexpr (kVectors > 2) group.v[3] = widen_f16(DF(), hn::LoadU(Halves(), data + 3 * kLanes));
    return group;
  }
};

struct BlockBF16 {
  static constexpr size_t kElements = 16, kBytes = 32, kUnits = 1, kGroups = 1;
  const uint16_t* data;
  HWY_INLINE BlockBF16(const uint8_t* block, size_t) : data(reinterpret_cast<const uint16_t*>(block)) {}
  static HWY_INLINE VF widen(const uint16_t* bits) {
    const hn::RebindToUnsigned<DF> words;
    const auto wide = hn::PromoteTo(words, hn::LoadU(hn::Rebind<uint16_t, DF>(), bits));
    return hn::BitCast(DF(), hn::ShiftLeft<16>(wide));
  }
  template <int g>
  HWY_INLINE Group group() const {
    Group group;
    group.v[0] = widen(data);
    if constexpr (kVectors > 1) group.v[1] = widen(data + kLanes);
    if constexpr (kVectors > 2) group.v[2] = widen(data + 2 * kLanes);
    if constexpr (kVectors > 2) group.v[3] = widen(data + 3 * kLanes);
    return group;
  }
};

struct BlockQ8_0 {  // d, 32 signed bytes: q * d
  static constexpr size_t kElements = 32, kBytes = 34, kUnits = 1, kGroups = 2;
  VF d;
  const int8_t* q;
  HWY_INLINE BlockQ8_0(const uint8_t* block, size_t)
      : d(broadcast_lane<0>(load_four_f16(block))), q(reinterpret_cast<const int8_t*>(block + 2)) {}
  template <int g>
  HWY_INLINE Group group() const {
    return multiply(to_floats(hn::LoadU(hn::Full128<int8_t>(), q + 16 * g)), d);
  }
};

struct BlockQ4_0 {  // d, 16 bytes of nibbles: (q - 8) * d; the low nibbles are the first half
  static constexpr size_t kElements = 32, kBytes = 18, kUnits = 1, kGroups = 2;
  VF d;
  Bytes q;
  HWY_INLINE BlockQ4_0(const uint8_t* block, size_t)
      : d(broadcast_lane<0>(load_four_f16(block))), q(load_bytes(block + 2)) {}
  template <int g>
  HWY_INLINE Group group() const {
    const hn::Full128<int8_t> signs;
    const Bytes nibbles = g == 0 ? low_nibbles(q) : high_nibbles(q);
    return multiply(to_floats(hn::Sub(hn::BitCast(signs, nibbles), hn::Set(signs, 8))), d);
  }
};

// d, m, 16 bytes of nibbles: q * d + m. Interleaved.
struct BlockQ4_1 {
  static constexpr size_t kElements = 32, kBytes = 20, kUnits = 1, kGroups = 2;
  Group scale;
  VF offset;
  Words q;
  HWY_INLINE BlockQ4_1(const uint8_t* block, size_t) : q(load_words(block + 4)) {
    const auto scales = load_four_f16(block);
    scale = scale_of_bytes(broadcast_lane<0>(scales));
    offset = broadcast_lane<1>(scales);
  }
  template <int g>
  HWY_INLINE Group group() const {
    return multiply_add(g == 0 ? low_nibble_group(q) : high_nibble_group(q), scale, offset);
  }
};

// The fifth bits of sixteen elements, which stand in two bytes, as 16 or 0 in sixteen bytes.
HWY_INLINE Bytes fifth_bits(const uint8_t* bits) {
  const hn::Full128<uint8_t> bytes;
  alignas(16) static constexpr uint8_t kByteOfLane[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  alignas(16) static constexpr uint8_t kBitOfLane[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                         1, 2, 4, 8, 16, 32, 64, 128};
  uint16_t both;
  std::memcpy(&both, bits, sizeof both);
  const Bytes pair = hn::BitCast(bytes, hn::Set(hn::Full128<uint16_t>(), both));
  const Bytes spread = hn::TableLookupBytes(pair, hn::Load(bytes, kByteOfLane));
  const Bytes bit = hn::Load(bytes, kBitOfLane);
  return hn::IfThenElseZero(hn::Eq(hn::And(spread, bit), bit), hn::Set(bytes, 16));
}

struct BlockQ5_0 {  // d, 32 fifth bits, 16 bytes of nibbles: (q - 16) * d
  static constexpr size_t kElements = 32, kBytes = 22, kUnits = 1, kGroups = 2;
  VF d;
  const uint8_t* high;
  Bytes q;
  HWY_INLINE BlockQ5_0(const uint8_t* block, size_t)
      : d(broadcast_lane<0>(load_four_f16(block))), high(block + 2), q(load_bytes(block + 6)) {}
  template <int g>
  HWY_INLINE Group group() const {
    const hn::Full128<int8_t> signs;
    const Bytes value = hn::Or(g == 0 ? low_nibbles(q) : high_nibbles(q), fifth_bits(high + 2 * g));
    return multiply(to_floats(hn::Sub(hn::BitCast(signs, value), hn::Set(signs, 16))), d);
  }
};

struct BlockQ5_1 {  // d, m, 32 fifth bits, 16 bytes of nibbles: q * d + m
  static constexpr size_t kElements = 32, kBytes = 24, kUnits = 1, kGroups = 2;
  VF d, m;
  const uint8_t* high;
  Bytes q;
  HWY_INLINE BlockQ5_1(const uint8_t* block, size_t) : high(block + 4), q(load_bytes(block + 8)) {
    const auto scales = load_four_f16(block);
    d = broadcast_lane<0>(scales);
    m = broadcast_lane<1>(scales);
  }
  template <int g>
  HWY_INLINE Group group() const {
    return multiply_add(
        to_floats(hn::Or(g == 0 ? low_nibbles(q) : high_nibbles(q), fifth_bits(high + 2 * g))), d, m);
  }
};

// The 6-bit scale and minimum of sub-block j (0 to 7) of Q4_K and Q5_K, packed in twelve bytes: the first
// four of each have their bits in bytes j and j + 4, the others theirs in nibbles of byte j + 4 and the top
// bits of j - 4 and j.
HWY_INLINE void unpack_scale(const uint8_t* packed, size_t j, float& scale, float& minimum) {
  if (j < 4) {
    scale = packed[j] & 63;
    minimum = packed[j + 4] & 63;
  } else {
    scale = (packed[j + 4] & 15) | (packed[j - 4] >> 6 << 4);
    minimum = (packed[j + 4] >> 4) | (packed[j] >> 6 << 4);
  }
}

// d, dmin, 12 bytes of scales, then 128 bytes of nibbles: q * (d * scale) - dmin * minimum, in eight
// sub-blocks of 32. A unit is two of them: the low nibbles of 32 bytes, then the high ones.
struct ScalesOfK {
  VF scale[2], offset[2];
  HWY_INLINE ScalesOfK(const uint8_t* block, size_t unit) {
    const auto d = load_four_f16(block);
    float scales[2], minima[2];
    unpack_scale(block + 4, 2 * unit, scales[0], minima[0]);
    unpack_scale(block + 4, 2 * unit + 1, scales[1], minima[1]);
    for (int i = 0; i < 2; ++i) {
      scale[i] = hn::Mul(broadcast_lane<0>(d), hn::Set(DF(), scales[i]));
      offset[i] = hn::Neg(hn::Mul(broadcast_lane<1>(d), hn::Set(DF(), minima[i])));
    }
  }
};

struct BlockQ4_K : ScalesOfK {
  static constexpr size_t kElements = 256, kBytes = 144, kUnits = 4, kGroups = 4;
  const uint8_t* q;
  HWY_INLINE BlockQ4_K(const uint8_t* block, size_t unit)
      : ScalesOfK(block, unit), q(block + 16 + 32 * unit) {}
  template <int g>
  HWY_INLINE Group group() const {
    const Bytes bytes = load_bytes(q + 16 * (g % 2));
    return multiply_add(to_floats(g < 2 ? low_nibbles(bytes) : high_nibbles(bytes)), scale[g / 2],
                        offset[g / 2]);
  }
};

struct BlockQ5_K : ScalesOfK {  // as Q4_K, with a plane of fifth bits: bit j of byte i belongs to sub-block j
  static constexpr size_t kElements = 256, kBytes = 176, kUnits = 4, kGroups = 4;
  const uint8_t *q, *high;
  uint8_t bit;
  HWY_INLINE BlockQ5_K(const uint8_t* block, size_t unit)
      : ScalesOfK(block, unit),
        q(block + 48 + 32 * unit),
        high(block + 16),
        bit(static_cast<uint8_t>(1 << (2 * unit))) {}
  template <int g>
  HWY_INLINE Group group() const {
    const hn::Full128<uint8_t> tag;
    const Bytes bytes = load_bytes(q + 16 * (g % 2));
    const Bytes mask = hn::Set(tag, static_cast<uint8_t>(g < 2 ? bit : bit << 1));
    const Bytes set = hn::And(load_bytes(high + 16 * (g % 2)), mask);
    const Bytes fifth = hn::IfThenElseZero(hn::Eq(set, mask), hn::Set(tag, 16));
    return multiply_add(to_floats(hn::Or(g < 2 ? low_nibbles(bytes) : high_nibbles(bytes), fifth)),
                        scale[g / 2], offset[g / 2]);
  }
};

// 128 bytes of low nibbles, 64 of upper bit pairs, 16 signed scales, d: (q - 32) * (d * scale), a scale for
// each sixteen. A unit is half a block: four runs of 32 elements, from low and high nibbles of two 32-byte
// pieces.
struct BlockQ6_K {
  static constexpr size_t kElements = 256, kBytes = 210, kUnits = 2, kGroups = 8;
  const uint8_t *low, *high;
  const int8_t* scales;
  VF d;
  HWY_INLINE BlockQ6_K(const uint8_t* block, size_t unit)
      : low(block + 64 * unit),
        high(block + 128 + 32 * unit),
        scales(reinterpret_cast<const int8_t*>(block + 192 + 8 * unit)),
        d(broadcast_lane<3>(load_four_f16(block + 202))) {}
  template <int g>
  HWY_INLINE Group group() const {
    constexpr int run = g / 2;
    const hn::Full128<uint8_t> tag;
    const hn::Full128<uint16_t> words;
    const hn::Full128<int8_t> signs;
    const Bytes bytes = load_bytes(low + 32 * (run % 2) + 16 * (g % 2));
    const Bytes nibbles = run < 2 ? low_nibbles(bytes) : high_nibbles(bytes);
    const auto pairs = hn::BitCast(words, load_bytes(high + 16 * (g % 2)));
    const Bytes top =
        hn::And(hn::BitCast(tag, hn::ShiftLeft<4>(hn::ShiftRight<2 * run>(pairs))), hn::Set(tag, 0x30));
    const auto value = hn::Sub(hn::BitCast(signs, hn::Or(nibbles, top)), hn::Set(signs, 32));
    return multiply(to_floats(value), hn::Mul(d, hn::Set(DF(), static_cast<float>(scales[g]))));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace rung
HWY_AFTER_NAMESPACE();

#endif
