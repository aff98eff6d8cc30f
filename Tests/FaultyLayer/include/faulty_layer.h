// A file layer (VFS) for tests, over the system's, that counts the steps by which SQLite changes files and
// makes one of them fail.
#ifndef FAULTY_LAYER_H
#define FAULTY_LAYER_H
#include <stdbool.h>

enum { FAULTY_LAYERS = 8 };

/// Registers the layer with a number below FAULTY_LAYERS, as `faulty-N`. Again does nothing.
void faulty_layer_register(int number);

/// Counts steps from 0 again. The step with the number `step`, from 1, fails with SQLite's code `code`; with
/// `lasting` every later one too. No step fails where `step` is 0.
void faulty_layer_arm(int number, int step, int code, bool lasting);

/// How many writes, syncs and truncations there were since `arm`.
int faulty_layer_steps(int number);

#endif
