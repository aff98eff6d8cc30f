#!/usr/bin/python3
"""An independent reader of the vault file, written from docs/vault-file.md alone.

    read_vault.py FILE (--key-file PATH | --passphrase-file PATH | --credential-file PATH)

Opens the file with a slot of that kind, authenticates every record and the set, and prints one JSON object. Shares no
code with the product, and exists so that the description of the format is known to be enough. Needs python3-cryptography.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import sqlite3
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

PRIME = 2**127 - 1
PENDING, TOMBSTONE = 1, 2


def u64(number):
    return (number % 2**64).to_bytes(8, "big")


def counted(run):
    return u64(len(run)) + run


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def checksum(message):
    return mac(b"vault file checksum", message)[:16]


def hkdf(key, salt, label):
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=label).derive(key)


def unseal(key, sealed, associated):
    return AESGCM(key).decrypt(sealed[:12], sealed[12:], associated)


class NotSound(Exception):
    pass


def read_header(db):
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (user_version,) = db.execute("PRAGMA user_version").fetchone()
    if application != 0x564C5446:
        raise NotSound("not a vault file")
    form, vault, check = db.execute("SELECT format, vault, checksum FROM header WHERE id = 1").fetchone()
    if form != user_version or check != checksum(u64(form) + vault):
        raise NotSound("header damaged")
    if form != 1:
        raise NotSound("format %d is not known" % form)
    return vault


def read_slots(db):
    for number, kind, detail, created, salt, log_n, r, p, wrapped, check in db.execute(
        "SELECT number, kind, detail, created, salt, log_n, r, p, wrapped, checksum FROM slot ORDER BY number"
    ):
        image = u64(number) + counted(kind.encode()) + counted(detail.encode()) + u64(created) + counted(salt)
        image += u64(log_n) + u64(r) + u64(p)
        if check != checksum(image + wrapped):
            raise NotSound("slot %d damaged" % number)
        yield number, kind, salt, (log_n, r, p), image, wrapped, check


def open_slot(vault, slots, kind, secret):
    for number, its_kind, salt, (log_n, r, p), image, wrapped, check in slots:
        if its_kind != kind:
            continue
        if kind == "key_file":
            key = hkdf(bytes.fromhex(secret.decode().strip()), salt, b"vault file 1: key file")
        else:
            key = Scrypt(salt=salt, length=32, n=2**log_n, r=r, p=p).derive(secret)
        try:
            return unseal(key, wrapped, b"slot" + vault + image)
        except InvalidTag:
            continue
    raise NotSound("no slot opens with this")


def read_state(key, vault, sealed):
    plain = unseal(key, sealed, b"state" + vault)
    at = 0

    def take(count):
        nonlocal at
        at += count
        return plain[at - count : at]

    def number(count=8):
        return int.from_bytes(take(count), "big")

    if number() != 1:
        raise NotSound("form of the state is not known")
    state = {"sequence": number(), "highest": number(), "doubted": number(), "slots_made": number()}
    state["slots"] = [(number(), take(16)) for _ in range(number())]
    state["buckets"] = [(number(), number(16), number(16)) for _ in range(64)]
    if at != len(plain):
        raise NotSound("state too long")
    return state


def check_anchor(path, key, vault, sequence):
    """The file must have come at least as far as the anchor beside it says."""
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        anchor = file.read()
    if len(anchor) != 64 or anchor[:24] != u64(1) + vault or anchor[32:] != mac(key, anchor[:32]):
        return
    if sequence < int.from_bytes(anchor[24:32], "big"):
        raise NotSound("acknowledged changes are gone")


FIELDS = {
    1: ("key", "text"),
    2: ("account", "text"),
    3: ("version", "number"),
    4: ("created", "number"),
    5: ("modified", "number"),
    6: ("expires", "number"),
    7: ("idle", "number"),
    8: ("untilLogout", "mark"),
    9: ("label", "text"),
    10: ("size", "number"),
    11: ("pending", "mark"),
    14: ("purged", "mark"),
}


def read_entry(plain):
    if plain[0] != 1:
        raise NotSound("form of an entry is not known")
    entry, at = {"untilLogout": False, "pending": False, "purged": False}, 1
    while at < len(plain):
        tag, length = plain[at], int.from_bytes(plain[at + 1 : at + 3], "big")
        value = plain[at + 3 : at + 3 + length]
        at += 3 + length
        if tag not in FIELDS:
            continue
        name, kind = FIELDS[tag]
        if kind == "text":
            entry[name] = value.decode()
        elif kind == "number":
            entry[name] = int.from_bytes(value, "big", signed=True)
        else:
            entry[name] = True
    return entry


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--key-file")
    parser.add_argument("--passphrase-file")
    parser.add_argument("--credential-file")
    arguments = parser.parse_args()
    ways = {
        "key_file": arguments.key_file,
        "passphrase": arguments.passphrase_file,
        "credential": arguments.credential_file,
    }
    kind, path = next((kind, path) for kind, path in ways.items() if path)
    with open(path, "rb") as file:
        secret = file.read()

    db = sqlite3.connect("file:%s?mode=ro" % arguments.file, uri=True)
    vault = read_header(db)
    slots = list(read_slots(db))
    data_key = open_slot(vault, slots, kind, secret)
    keys = {
        name: hkdf(data_key, vault, b"vault file 1: " + name.encode())
        for name in ("names", "entries", "secrets", "state", "set", "anchor")
    }
    state = read_state(keys["state"], vault, db.execute("SELECT sealed FROM state WHERE id = 1").fetchone()[0])
    check_anchor(os.path.splitext(arguments.file)[0] + ".anchor", keys["anchor"], vault, state["sequence"])
    if [(slot[0], slot[6]) for slot in slots] != state["slots"]:
        raise NotSound("slots that were not added by a holder of the key")

    sums, entries = [[0, 0, 0] for _ in range(64)], []
    for id, version, marks, namespace, entry, secret in db.execute(
        "SELECT id, version, marks, namespace, entry, secret FROM record"
    ):
        name = u64(id)
        bucket = sums[name[0] >> 2]
        if version <= 0:
            raise NotSound("a record was set aside")
        multiplier = int.from_bytes(mac(keys["set"], name)[:16], "big") % PRIME
        bucket[0] += 1
        bucket[1] = (bucket[1] + multiplier) % PRIME
        bucket[2] = (bucket[2] + version * multiplier) % PRIME

        associated = vault + name + u64(namespace) + u64(version) + bytes([marks])
        fields = read_entry(unseal(keys["entries"], entry, b"\x01" + associated))
        plain = unseal(keys["secrets"], secret, b"\x02" + associated)
        key, account = fields["key"].encode(), fields["account"].encode()
        right = [
            mac(keys["names"], u64(1) + counted(key) + counted(account))[:8] == name,
            mac(keys["names"], u64(2) + counted(key.rpartition(b".")[0]))[:8] == u64(namespace),
            fields["version"] == version <= state["highest"],
            (0 if fields["purged"] else fields["size"]) == len(plain),
            fields["pending"] == bool(marks & PENDING),
        ]
        if not all(right):
            raise NotSound("a record is not what it says")
        if not marks & TOMBSTONE:
            entries.append(dict(fields, secretBase64=base64.b64encode(plain).decode()))
    if [tuple(bucket) for bucket in sums] != state["buckets"]:
        raise NotSound("the set of records is not the one that was written")
    json.dump({"entries": entries, "sequence": state["sequence"], "highest": state["highest"]}, sys.stdout)


if __name__ == "__main__":
    try:
        main()
    except NotSound as reason:
        sys.exit("not sound: %s" % reason)
