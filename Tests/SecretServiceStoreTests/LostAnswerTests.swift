// Changes whose answer is lost, in every way in which that happens, and a later change of the same key: what counts is
// the later one, and there is one item. And who waits when a provider dies or returns.

import Foundation
import SecretServiceStore
import TestBus
import TestSupport
import Testing
import VaultCore
import VaultModel

@Suite struct LostAnswerTests {
  @Test(
    "a change whose answer is lost never comes back over a later one, and one item is left",
    arguments: ["CreateItem", "SetSecret", "Delete"],
    ["crash", "crash-after", "answer-lost", "never", "late:1300"])
  func lost(method: String, how: String) async throws {
    try await withStore { test, bus in
      let key = try id("Lost.key")
      if method != "CreateItem" { try await test.set(key, "old") }
      bus.fake.fault(method, how, times: 1)
      let failure = await test.writeFailure {
        if method == "Delete" {
          _ = try await test.clear(key, test.patience(0.8))
        } else {
          try await test.set(key, "lost", test.patience(0.8))
        }
      }
      #expect(failure?.error.outcome == .unavailable)
      #expect(failure?.mayTakeEffect == true)
      if how.hasPrefix("crash") { try bus.restartFake() }
      if how == "answer-lost" || how == "never" {
        // As long as it may take effect, nothing comes beside it; a provider that returns has lost it or done it.
        #expect(await test.writeFailure { try await test.set(key, "next", test.patience(0.2)) } != nil)
        #expect(await test.word(key) != "next")
        try bus.killFake()
        try bus.restartFake()
      }
      try await test.set(key, "last")
      #expect(try await test.get(key) == "last")
      #expect(bus.fake.items.map(\.secret) == [Array("last".utf8)])
    }
  }

  @Test(
    "a stopped provider that goes on carries out what it was sent before what came later",
    arguments: [false, true])
  func stopped(isNew: Bool) async throws {
    try await withStore { test, bus in
      let key = try id("Lost.stopped")
      if !isNew { try await test.set(key, "old") } else { #expect(try await test.get(key) == nil) }
      for round in 0..<10 {
        // The search is answered, the change is not.
        bus.fake.fault("SearchItems", "late:20", times: 2)
        async let lost = test.writeFailure { try await test.set(key, "lost \(round)", test.patience(0.15)) }
        try await until("the fault") { bus.fake.count("faults") >= 1 }
        kill(bus.fake.pid, SIGSTOP)
        _ = await lost
        async let last = test.set(key, "last \(round)")
        kill(bus.fake.pid, SIGCONT)
        _ = try await last
        #expect(try await test.get(key) == "last \(round)")
        #expect(bus.fake.items.map(\.secret) == [Array("last \(round)".utf8)])
        bus.fake.tell("no-faults")
      }
    }
  }

  @Test("a new item whose prompt is accepted after its request has ended is no second item")
  func latePrompt() async throws {
    try await withStore { test, bus in
      let key = try id("Lost.prompt")
      bus.fake.set("create_prompt", "manual")
      let failure = await test.writeFailure {
        try await test.set(key, "lost", test.patience(1, prompt: 1.5))
      }
      #expect(failure?.error.outcome == .locked)
      #expect(failure?.mayTakeEffect == true)
      // Others of the key join the prompt, those that want none are Locked.
      let quiet = test.patience(interactive: false)
      #expect(await test.failure { try await test.set(key, "quiet", quiet) }?.outcome == .locked)
      async let last = test.set(key, "last")
      bus.fake.tell("complete", ["dismissed": false])
      _ = try await last
      #expect(bus.fake.items.map(\.secret) == [Array("last".utf8)])
      #expect(bus.fake.count("prompts") == 1)
    }
  }

  @Test(
    "whoever waits learns at once that the provider died",
    arguments: [
      "SearchItems", "OpenSession", "GetSecrets", "Unlock", "Prompt", "ReadAlias",
    ])
  func died(method: String) async throws {
    try await withStore { test, bus in
      let key = try id("Lost.died")
      bus.fake.add(["namespace": "Lost", "name": "died", "account": ""], "value")
      if method == "Unlock" || method == "Prompt" { bus.fake.tell("lock") }
      #expect(try await test.get(id("Lost.other")) == nil)
      let faults = bus.fake.count("faults")
      bus.fake.fault(method, "never")
      let time = try await elapsed {
        let new = try id("Lost.new")
        let request = Task { @VaultActor in
          await test.failure {
            if method == "ReadAlias" { try await test.set(new, "x") } else { _ = try await test.get(key) }
          }
        }
        try await until("the fault") { bus.fake.count("faults") > faults }
        try bus.killFake()
        #expect(await request.value?.outcome == .unavailable)
      }
      #expect(time < .seconds(3))
    }
  }

  @Test("a provider that returns answers the first request at once, however it went", arguments: 0..<3)
  func returns(how: Int) async throws {
    try await withStore { test, bus in
      let key = try id("Lost.returns")
      try await test.set(key, "value")
      for _ in 0..<5 {
        switch how {
        case 0:
          try bus.killFake()
          try bus.restartFake()
        case 1:
          // Killed while it is stopped and others wait.
          kill(bus.fake.pid, SIGSTOP)
          async let waiting = tally(20) { _ in await test.word(key, test.patience(8)) }
          let short = await test.word(key, test.patience(0.05))
          #expect(short == "Unavailable")
          try bus.killFake()
          let outcomes = await waiting
          #expect(outcomes == ["Unavailable": 20])
          try bus.restartFake()
        default:
          bus.fake.tell("release")
          #expect(await test.word(key) == "Unavailable")
          bus.fake.tell("acquire")
        }
        var value: String?
        let time = try await elapsed { value = try await test.get(key) }
        #expect(value == "value")
        #expect(time < .seconds(2))
      }
    }
  }
}
