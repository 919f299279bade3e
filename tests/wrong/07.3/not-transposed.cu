// Wrong: x^T times the weight as it lies in memory: OP_N where OP_T is needed.
// Expect: first difference at index 0: got 15, expected 8
  // Read column by column, as cuBLAS does, our row-major y [rows, out] is y^T, a matrix of out rows and
  // `rows` columns. y^T = weight * x^T: x in memory is x^T already (in x rows), weight is its own transpose
  // (in x out), hence OP_T.
  RUNG_CUBLAS_CHECK(cublasGemmEx(device.cublas(), CUBLAS_OP_N, CUBLAS_OP_N, out, rows, in, &one,  //
                                 weight.raw(), type, in, inputs, type, in, &zero,                 //
                                 y.raw(), CUDA_R_32F, out, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
