//! One suite that every backend is held to: calls recorded from PyTorch, and what follows from them.
