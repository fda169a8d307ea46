//! PyTorch's operators, under PyTorch's names and schemas.
