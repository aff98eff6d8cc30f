// RapidJSON's in-situ reader behind the C interface in cjson.h. It calls itself for what is inside: the tape ends the
// reading at the depth limit, so the stack is bounded. RapidJSON 1.1 leaves three things to us: it expects a NUL behind the text and may look past it
// (BoundedStream), it takes `\udc00`, a second half without a first (holdsSurrogate), and its conversion of
// numbers to doubles overflows an int for exponents near -2^31 (we take numbers as text).
#include "cjson.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include <rapidjson/reader.h>

namespace {

/// A stream that reads NULs behind the end of the text and never writes there. While RapidJSON decodes a
/// string, `to` follows behind `from`: decoded text is never longer than its escapes.
struct BoundedStream {
  typedef char Ch;

  Ch Peek() const { return from != end ? *from : '\0'; }
  Ch Take() { return from != end ? *from++ : '\0'; }
  size_t Tell() const { return static_cast<size_t>(from - begin); }
  Ch *PutBegin() { return to = from; }
  void Put(Ch byte) {
    if (to != end) *to++ = byte;
  }
  size_t PutEnd(Ch *start) { return static_cast<size_t>(to - start); }
  void Flush() {}

  Ch *begin;
  Ch *from;
  Ch *to;
  const Ch *end;
};

/// Whether decoded text holds a surrogate, which valid UTF-8 never does: ED A0 80 to ED BF BF.
bool holdsSurrogate(const char *text, size_t size) {
  const char *end = text + size;
  while ((text = static_cast<const char *>(memchr(text, 0xED, static_cast<size_t>(end - text)))) != nullptr) {
    if (++text != end && static_cast<unsigned char>(*text) >= 0xA0) return true;
  }
  return false;
}

/// Takes RapidJSON's events and writes the tape. An event that returns false ends the reading.
struct Tape : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Tape> {
  bool Null() { return add(CJSON_NULL, 0, 0); }
  bool Bool(bool value) { return add(value ? CJSON_TRUE : CJSON_FALSE, 0, 0); }
  bool RawNumber(const char *text, uint32_t size, bool) { return add(CJSON_NUMBER, size, placeOf(text)); }
  bool String(const char *text, uint32_t size, bool) {
    return !holdsSurrogate(text, size) && add(CJSON_STRING, size, placeOf(text));
  }
  bool Key(const char *text, uint32_t size, bool copy) { return String(text, size, copy); }
  bool StartObject() { return open(CJSON_OBJECT); }
  bool EndObject(uint32_t members) { return close(members); }
  bool StartArray() { return open(CJSON_ARRAY); }
  bool EndArray(uint32_t elements) { return close(elements); }

  /// While a container is open, `place` of its token is the token of the container around it.
  bool open(uint32_t kind) {
    if (depth == depthLimit || !add(kind, 0, innermost)) return false;
    depth += 1;
    innermost = count - 1;
    return true;
  }

  bool close(uint32_t size) {
    cjson_token &token = tokens[innermost];
    innermost = token.place;
    token.count = size;
    token.place = count;
    depth -= 1;
    return true;
  }

  bool add(uint32_t kind, uint32_t size, uint32_t place) {
    if (count == limit || (count == capacity && !grow())) return false;
    tokens[count++] = cjson_token{kind, size, place};
    return true;
  }

  bool grow() {
    size_t wanted = capacity == 0 ? 64 : size_t{capacity} * 2;
    if (wanted > limit) wanted = limit;
    void *larger = realloc(tokens, wanted * sizeof(cjson_token));
    if (larger == nullptr) {
      noMemory = true;
      return false;
    }
    tokens = static_cast<cjson_token *>(larger);
    capacity = static_cast<uint32_t>(wanted);
    return true;
  }

  uint32_t placeOf(const char *text) const { return static_cast<uint32_t>(text - base); }

  cjson_token *tokens = nullptr;
  uint32_t count = 0;
  uint32_t capacity = 0;
  uint32_t limit = 0;
  uint32_t depth = 0;
  uint32_t depthLimit = 0;
  uint32_t innermost = 0;
  const char *base = nullptr;
  bool noMemory = false;
};

}  // namespace

namespace rapidjson {
/// Lets the parser keep the stream in registers; numbers are handed out by where they began in the original.
template <>
struct StreamTraits<BoundedStream> {
  enum { copyOptimization = 1 };
};
}  // namespace rapidjson

struct cjson_reader {
  rapidjson::Reader reader;
  Tape tape;
};

cjson_reader *cjson_new(void) {
  void *memory = malloc(sizeof(cjson_reader));
  return memory == nullptr ? nullptr : new (memory) cjson_reader;
}

void cjson_free(cjson_reader *reader) {
  if (reader == nullptr) return;
  free(reader->tape.tokens);
  reader->~cjson_reader();
  free(reader);
}

cjson_outcome cjson_read(cjson_reader *reader, uint8_t *text, size_t size, uint32_t depth, uint32_t limit) {
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseValidateEncodingFlag |
                             rapidjson::kParseNumbersAsStringsFlag;
  Tape &tape = reader->tape;
  char *begin = reinterpret_cast<char *>(text);
  tape.count = 0;
  tape.limit = limit;
  tape.depth = 0;
  tape.depthLimit = depth;
  tape.innermost = 0;
  tape.base = begin;
  tape.noMemory = false;
  if (size == 0 || size > UINT32_MAX) return CJSON_MALFORMED;
  BoundedStream stream{begin, begin, begin, begin + size};
  bool read = !reader->reader.Parse<flags>(stream, tape).IsError() && stream.from == stream.end;
  tape.base = nullptr;
  if (read) return CJSON_READ;
  tape.count = 0;
  return tape.noMemory ? CJSON_NO_MEMORY : CJSON_MALFORMED;
}

const cjson_token *cjson_tape(const cjson_reader *reader, size_t *count) {
  *count = reader->tape.count;
  return reader->tape.tokens;
}
