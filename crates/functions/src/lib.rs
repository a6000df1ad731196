//! SQL functions: one file each, with signature, docs and tests beside the code
