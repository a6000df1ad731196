//! Compiled expressions over slots: batch kernels and the row interpreter they must agree with
