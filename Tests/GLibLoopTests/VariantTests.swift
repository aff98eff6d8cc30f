// Values of D-Bus: what is made is read again, and nothing is read as what it is not.

import GLibLoop
import Testing

@Suite struct VariantTests {
  @Test("what is made is of its type and reads as it was")
  func roundTrip() throws {
    let value = Variant.tuple([
      .string("grüße"), .boolean(true), .uint32(7), .paths(["/a", "no path", "/b/c"]),
      .strings(["k": "v", "a": ""]), .properties(["p": .string("x")]),
    ])
    #expect(value.type == "(sbuaoa{ss}a{sv})")
    #expect(value[0]?.string == "grüße")
    #expect(value[1]?.boolean == true)
    #expect(value[2]?.integer == 7)
    #expect(value[3]?.texts == ["/a", "/b/c"])
    #expect(value[4]?.entries.map(\.key) == ["a", "k"])
    #expect(value[4]?.entries.last?.value.string == "v")
    #expect(value[5]?.entries.first?.value.string == "x")
    #expect(value.parts.count == 6)
  }

  @Test("what is of another type, or not there, is nothing")
  func mistaken() {
    let text = Variant.string("s")
    #expect(text.boolean == nil)
    #expect(text.integer == nil)
    #expect(text.unboxed == nil)
    #expect(text[0] == nil)
    #expect(text.parts.isEmpty)
    #expect(text.texts.isEmpty)
    #expect(text.entries.isEmpty)
    let tuple = Variant.tuple([text])
    #expect(tuple[1] == nil)
    #expect(tuple[-1] == nil)
    #expect(tuple.string == nil)
    #expect(Variant.path("x") == nil)
    #expect(Variant.box(text).unboxed?.string == "s")
    #expect(Variant.tuple([]).type == "()")
  }
}
