// Wrong: half of the scores are not multiplied by scale.
// Expect: attention by tiles:
  for (int h = warp; h < group; h += warps) {  // a lane has keys lane and lane + 32
    float first = 0, second = 0;
    for (int piece = 0; piece < layout.pieces; ++piece) {
      const Piece<Element> near = keys[lane * layout.pieces_stride + piece],
                           far = keys[(lane + kWarp) * layout.pieces_stride + piece];
      for (int part = 0; part < kElements; part += 4) {
        const auto four = load_vector<4>(queries + h * layout.query_stride + piece * kElements + part);
        for (int i = 0; i < 4; ++i) {
          first = __fmaf_rn(four.elements[i], to_float(near.elements[part + i]), first);
          second = __fmaf_rn(four.elements[i], to_float(far.elements[part + i]), second);
        }
      }
    }
    first = lane < count ? __fmul_rn(first, scale) : -INFINITY;
    second = lane + kWarp < count ? second : -INFINITY;
    const SoftmaxState state = softmax_of_tile(first, second);
    weights[h * kTileKeys + lane] = first;
    weights[h * kTileKeys + lane + kWarp] = second;
    if (lane == 0) states[tile * shape.heads + first_head + h] = state;
  }
  if (!apart) {
    __syncthreads();  // the keys have been read
    load(values, v);
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // the values are there, and the weights

  for (int h = warp; h < group; h += warps) {  // a lane has columns 2 lane and 2 lane + 1 of every 64
    float total[kColumns * 2] = {};
    for (int first = 0; first < count; first += 4) {
      const auto weight = load_vector<4>(weights + h * kTileKeys + first);
      for (int i = 0; i < 4; ++i) {
        const auto* value = reinterpret_cast<const Element*>(values + (first + i) * layout.pieces_stride);
        for (int c = 0; c < kColumns; ++c) {
          const auto columns = load_vector<2>(value + min(64 * c + 2 * lane, layout.query_stride - 2));
          total[2 * c] = __fmaf_rn(weight.elements[i], to_float(columns.elements[0]), total[2 * c]);
          total[2 * c + 1] = __fmaf_rn(weight.elements[i], to_float(columns.elements[1]), total[2 * c + 1]);
        }
      }
    }
    float* to = sums + (tile * shape.heads + first_head + h) * head_dim;
    for (int c = 0; c < kColumns * 2; ++c) {
      const int d = c / 2 * 64 + 2 * lane + c % 2;
      if (d < head_dim) to[d] = total[c];
    }
  }
