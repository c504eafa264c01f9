//! Everything that talks to the CUDA driver.
