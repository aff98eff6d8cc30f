// Reads JSON in place. The caller's buffer keeps the text: strings are decoded where they stand, and what
// comes back is a tape of tokens, in the order of the text, that say where. A tape holds places and counts
// and not one byte of the text, so it needs no wiping; its memory is used again for the next text.
#ifndef CJSON_H
#define CJSON_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CJSON_NULL,
  CJSON_FALSE,
  CJSON_TRUE,
  CJSON_NUMBER,
  CJSON_STRING,
  CJSON_OBJECT,
  CJSON_ARRAY,
};

typedef struct {
  /// One of the constants above. The name of a member is a CJSON_STRING before the member's value.
  uint32_t kind;
  /// Of a string, decoded, or a number, as it was written: the bytes. Of an object: the members. Of an array: the elements.
  uint32_t count;
  /// Of a string or a number: where it begins in the buffer. Of an object or an array: the token behind its last one.
  uint32_t place;
} cjson_token;

typedef enum {
  CJSON_READ,
  CJSON_MALFORMED,
  CJSON_NO_MEMORY,
} cjson_outcome;

/// A reader with the memory for its tape.
typedef struct cjson_reader cjson_reader;

/// A new reader; NULL where there is no memory. Give it back with cjson_free.
cjson_reader *cjson_new(void);

/// Gives back a reader; does nothing with NULL.
void cjson_free(cjson_reader *reader);

/// Reads one JSON text (RFC 8259) of `size` bytes: valid UTF-8, no half of a surrogate pair, nothing before
/// or behind it but white space. Reads and writes no byte outside `text`, which need not end with a NUL.
/// A text with more than `depth` arrays and objects inside each other or more than `limit` tokens is
/// malformed, and so is a number that a double cannot hold (1e999). Names that appear twice are no concern of
/// this layer. After anything but CJSON_READ the tape is empty.
cjson_outcome cjson_read(cjson_reader *reader, uint8_t *text, size_t size, uint32_t depth, uint32_t limit);

/// The tape of the last text, and how many tokens it has. Valid until the next cjson_read.
const cjson_token *cjson_tape(const cjson_reader *reader, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
