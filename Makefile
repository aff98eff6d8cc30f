# The two commands of the project, and what they are made of.
#
#   make run      installs what is missing, builds, starts vaultd for this user, and shows a token set, read and cleared
#   make test     installs what the tests need, builds, and runs every test
#
#   make build    the two programs, in build/          make lint     formatting and rules
#   make install  PREFIX=/usr/local DESTDIR=           make bench    speed against the programs that do the same, BENCH_FLAGS
#   make uninstall, make clean                        make fuzz     bytes from outside, FUZZ_SECONDS (60) for each reader

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
DOCDIR ?= $(PREFIX)/share/doc/vault
MANDIR ?= $(PREFIX)/share/man
# Where each shell looks for completions by itself.
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# systemd looks for a user's own units under share, for everybody's under lib.
UNITDIR ?= $(PREFIX)/$(if $(filter $(HOME)/.local,$(PREFIX)),share,lib)/systemd/user

PAGES = $(notdir $(wildcard man/*.[1-9]))

BUILD_PACKAGES = make gcc g++ pkg-config libsecret-1-dev libssl-dev libsqlite3-dev rapidjson-dev
TEST_PACKAGES = gnome-keyring libsecret-tools dbus dbus-user-session libglib2.0-bin systemd util-linux procps \
  python3 python3-venv python3-cryptography python3-gi gdb strace socat netcat-openbsd bash zsh fish \
  bash-completion man-db mandoc keepassxc xvfb libkf5wallet-bin libqca-qt5-2-plugins redis-server
BENCH_PACKAGES = libsecret-tools gnome-keyring dbus redis-server

# The command has to start fast: it is one file without a shared library. The daemon links the libraries of
# Debian and brings Swift's own along. Flags differ, so each has a folder of its own to build in.
# Modules are small and call each other for every byte: they are optimised as one.
WHOLE = -Xswiftc -cross-module-optimization
# Calls of libraries are bound when the daemon starts: at its first use the loader would save all registers on the stack,
# and what was copied last, a token it may be, is in them.
BOUND = -Xlinker -z -Xlinker now
VAULTD_BUILD = $(SWIFT) build -c release $(WHOLE) $(BOUND) --product vaultd --static-swift-stdlib --scratch-path .build/vaultd
VAULT_BUILD = $(SWIFT) build -c release $(WHOLE) --product vault -Xswiftc -static-executable --scratch-path .build/vault

.PHONY: build run test fuzz bench lint install uninstall clean deps test-deps bench-deps need-swift

build: need-swift
	$(VAULTD_BUILD)
	$(VAULT_BUILD)
	@mkdir -p build
	@scripts/put .build/vaultd/release/vaultd build/vaultd
	@scripts/put .build/vault/release/vault build/vault

# Only where they are missing: `sudo make install` builds nothing as root that was built before.
build/vaultd build/vault:
	$(MAKE) build

run: deps
	@$(MAKE) --no-print-directory build
	@scripts/run

test: deps test-deps
	@$(MAKE) --no-print-directory build
	$(SWIFT) build --build-tests
	@SWIFT=$(SWIFT) scripts/test
	@SWIFT=$(SWIFT) scripts/fuzz

fuzz: deps
	@SWIFT=$(SWIFT) scripts/fuzz

bench: deps bench-deps
	@$(MAKE) --no-print-directory build
	VAULT_BINARIES=$(CURDIR)/build $(SWIFT) run -c release $(WHOLE) --scratch-path .build/vaultd Benchmarks $(BENCH_FLAGS)

lint: need-swift
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks Fuzz

deps:
	@scripts/install-packages $(BUILD_PACKAGES)

test-deps:
	@scripts/install-packages $(TEST_PACKAGES)

bench-deps:
	@scripts/install-packages $(BENCH_PACKAGES)

need-swift:
	@command -v $(SWIFT) >/dev/null || { echo "Swift 6.3 is not on PATH: install it from swift.org first" >&2; exit 1; }

install: build/vaultd build/vault
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(UNITDIR)" "$(DESTDIR)$(DOCDIR)/examples"
	install -m 0755 build/vaultd build/vault "$(DESTDIR)$(BINDIR)"
	scripts/unit systemd/vaultd.service "$(BINDIR)/vaultd" >"$(DESTDIR)$(UNITDIR)/vaultd.service"
	install -m 0644 systemd/vaultd.socket "$(DESTDIR)$(UNITDIR)"
	chmod 0644 "$(DESTDIR)$(UNITDIR)/vaultd.service"
	install -m 0644 README.md $(wildcard docs/*.md) Sources/VaultWire/org.vaultd.Vault.varlink "$(DESTDIR)$(DOCDIR)"
	install -m 0644 $(wildcard docs/examples/*.*) "$(DESTDIR)$(DOCDIR)/examples"
	for page in $(PAGES); do install -D -m 0644 man/$$page "$(DESTDIR)$(MANDIR)/man$${page##*.}/$$page" || exit; done
	install -d "$(DESTDIR)$(BASHDIR)" "$(DESTDIR)$(ZSHDIR)" "$(DESTDIR)$(FISHDIR)"
	build/vault completions bash >"$(DESTDIR)$(BASHDIR)/vault"
	build/vault completions zsh >"$(DESTDIR)$(ZSHDIR)/_vault"
	build/vault completions fish >"$(DESTDIR)$(FISHDIR)/vault.fish"
	chmod 0644 "$(DESTDIR)$(BASHDIR)/vault" "$(DESTDIR)$(ZSHDIR)/_vault" "$(DESTDIR)$(FISHDIR)/vault.fish"

uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/vaultd" "$(DESTDIR)$(BINDIR)/vault"
	rm -f "$(DESTDIR)$(UNITDIR)/vaultd.service" "$(DESTDIR)$(UNITDIR)/vaultd.socket"
	rm -rf "$(DESTDIR)$(DOCDIR)"
	for page in $(PAGES); do rm -f "$(DESTDIR)$(MANDIR)/man$${page##*.}/$$page"; done
	rm -f "$(DESTDIR)$(BASHDIR)/vault" "$(DESTDIR)$(ZSHDIR)/_vault" "$(DESTDIR)$(FISHDIR)/vault.fish"

clean:
	rm -rf .build build
