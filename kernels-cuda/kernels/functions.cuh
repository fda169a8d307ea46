// Functions of numbers that C++ does not have.
#pragma once
#include "opdispatch.cuh"
