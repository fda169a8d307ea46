// PyTorch's calls on tensors of one element, in C++. `../peer/src/lib.rs` has the protocol.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <string>

using Job = std::function<void()>;

static std::map<std::string, Job> jobs() {
    const auto a = at::full({1}, 1.5f), b = at::full({1}, 2.5f), target = at::full({1}, 1.5f);
    const auto leaf = at::full({1}, 1.5f).requires_grad_();
    const auto row = at::full({1, 1}, 1.5f), column = at::full({1, 1}, 2.5f);
    auto out = at::zeros({1});
    return {
        {"empty function", [] {}},
        {"add", [=] { at::add(a, b); }},
        {"add out=", [=]() mutable { at::add_out(out, a, b); }},
        {"add_", [=] { target.add_(b); }},
        {"add, recorded", [=] { at::add(leaf, b); }},
        {"relu", [=] { at::relu(a); }},
        {"mm 1x1", [=] { at::mm(row, column); }},
        {"empty({1})", [] { at::empty({1}); }},
        {"view", [=] { a.view({1, 1}); }},
    };
}

int main(int argc, char** argv) {
    at::set_num_threads(1);
    const auto workloads = jobs();
    if (argc == 3 && std::string(argv[1]) == "count") {
        const auto found = workloads.find(argv[2]);
        if (found == workloads.end()) {
            return 1;
        }
        raise(SIGSTOP);
        for (const int calls : {100, 2, 12}) {
            for (int i = 0; i < calls; i++) {
                found->second();
            }
            raise(SIGSTOP);
        }
        return 0;
    }
    for (std::string line; std::getline(std::cin, line);) {
        const auto found = workloads.find(line.substr(line.find(' ') + 1));
        if (found == workloads.end()) {
            std::puts("-");
        } else {
            const long calls = std::stol(line);
            const auto start = std::chrono::steady_clock::now();
            for (long i = 0; i < calls; i++) {
                found->second();
            }
            const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
            std::printf("%.9f\n", elapsed.count());
        }
        std::fflush(stdout);
    }
}
