// Wrong: half of the scores are not multiplied by scale.
// Expect: attention by tiles:
  // A lane has keys lane and lane + 32.
  for (int h = 0; h < group; h += kHeads) {
    float scores[kHeads][2] = {};
    for (int piece = 0; piece < layout.pieces; ++piece) {
      const Piece<Element> first = rows[lane * layout.pieces_stride + piece],
                           second = rows[(lane + kWarp) * layout.pieces_stride + piece];
      for (int part = 0; part < kElements; part += 4) {
        for (int n = 0; n < kHeads; ++n) {
          if (h + n >= group) continue;
          const auto query =
              load_vector<4>(queries + (h + n) * layout.query_stride + piece * kElements + part);
          for (int i = 0; i < 4; ++i) {
            scores[n][0] = __fmaf_rn(query.elements[i], to_float(first.elements[part + i]), scores[n][0]);
            scores[n][1] = __fmaf_rn(query.elements[i], to_float(second.elements[part + i]), scores[n][1]);
          }
        }
      }
    }
    for (int n = 0; n < kHeads; ++n) {
      if (h + n >= group) continue;
      float first = lane < keys ? __fmul_rn(scores[n][0], scale) : -INFINITY;
      float second = lane + kWarp < keys ? scores[n][1] : -INFINITY;
      const SoftmaxState state = softmax_of_tile(first, second);
      weights[(h + n) * kTileKeys + lane] = first;
      weights[(h + n) * kTileKeys + lane + kWarp] = second;
      if (lane == 0) states[tile * shape.heads + first_head + h + n] = state;
    }
  }
  __syncwarp();  // keys have been read, and weights are there
  load_tile(rows, layout.pieces_stride, layout.pieces, v + kv_offset, sequences, sequence, begin, keys,
            shape.kv_stride(), head_dim, lane, kWarp);
  __syncwarp();

  for (int h = 0; h < group; h += kHeads) {
    float sums[kHeads][kColumns * 2] = {};
    for (int first = 0; first < keys; first += 4) {
      Vector<float, 4> weight[kHeads];
      for (int n = 0; n < kHeads; ++n) {
        if (h + n < group) weight[n] = load_vector<4>(weights + (h + n) * kTileKeys + first);
      }
      for (int key = first; key < first + 4; ++key) {
        const auto* value = reinterpret_cast<const Element*>(rows + key * layout.pieces_stride);
        for (int c = 0; c < kColumns; ++c) {
          if (64 * c + 2 * lane >= layout.query_stride) continue;
          const auto columns = load_vector<2>(value + 64 * c + 2 * lane);
          for (int i = 0; i < 2; ++i) {
            const float element = to_float(columns.elements[i]);
            for (int n = 0; n < kHeads; ++n) {
              if (h + n >= group) continue;
              sums[n][2 * c + i] = __fmaf_rn(weight[n].elements[key - first], element, sums[n][2 * c + i]);
            }
          }
        }
      }
    }
    for (int n = 0; n < kHeads; ++n) {
      if (h + n >= group) continue;
      float* to = values + (tile * shape.heads + first_head + h + n) * head_dim;
      for (int c = 0; c < kColumns * 2; ++c) {
        const int d = c / 2 * 64 + 2 * lane + c % 2;
        if (d < head_dim) to[d] = sums[n][c];
      }
    }
  }
