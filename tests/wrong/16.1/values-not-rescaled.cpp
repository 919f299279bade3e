// Wrong: the values so far are not scaled to the new maximum.
// Expect: online softmax:
// Region: 2
      SoftmaxState total;
      for (int64_t key = 0; key < shape.keys_of(token); ++key) {
        const int64_t kv_row = key * shape.kv_stride() + head / shape.group() * shape.head_dim;
        float score = 0;
        for (int64_t d = 0; d < shape.head_dim; ++d) score += query[d] * k.data<float>()[kv_row + d];
        const MergeFactors factors = merge(total, {score * shape.scale(), 1});
        for (int64_t d = 0; d < shape.head_dim; ++d) {
          values[d] = values[d] + v.data<float>()[kv_row + d] * factors.added;
        }
      }
      for (int64_t d = 0; d < shape.head_dim; ++d) values[d] /= total.sum;
