//! PTX: the reader, and what a kernel does with its parameters.
