"""Uses the vault through the Python package `varlink`, which knows nothing of it but what the socket says.

    varlink-client.py unix:SOCKET

Prints OK at the end; any difference is an error.
"""
import base64
import sys

import varlink


def fails(name, call, *arguments, **parameters):
    try:
        call(*arguments, **parameters)
    except varlink.VarlinkError as error:
        assert error.error() == name, error
        return error.parameters()
    raise AssertionError(f"{name} did not come")


with varlink.Client(address=sys.argv[1]) as client:
    interfaces = client.get_interfaces()
    assert "org.vaultd.Vault" in interfaces, interfaces
    members = client.get_interface("org.vaultd.Vault").members
    assert {"Get", "Set", "Clear", "ClearNamespace", "List", "Status", "NotFound"} <= set(members), members

    with client.open("org.vaultd.Vault") as vault:
        key, every = "Back4Gram.sessionToken", bytes(range(256))
        assert fails("org.vaultd.Vault.NotFound", vault.Get, key=key) == {"key": key, "account": ""}

        entry = vault.Set(key=key, secret="r:cbca71d2")["entry"]
        assert entry["key"] == key and entry["size"] == 10, entry
        reply = vault.Get(key=key)
        assert reply["secret"] == "r:cbca71d2" and reply.get("secretBase64") is None, "not what was set"

        vault.Set(key=key, account="bytes", secretBase64=base64.b64encode(every).decode())
        reply = vault.Get(key=key, account="bytes")
        assert base64.b64decode(reply["secretBase64"]) == every, "not the bytes that were set"

        entries = vault.List(namespace="Back4Gram")["entries"]
        assert sorted(entry["account"] for entry in entries) == ["", "bytes"], entries
        assert vault.Clear(key=key) == {"cleared": True, "pending": False}
        assert vault.ClearNamespace(namespace="Back4Gram") == {"cleared": 1, "pending": False}
        fails("org.vaultd.Vault.NotFound", vault.Get, key=key, account="bytes")

        assert fails("org.vaultd.Vault.InvalidArgument", vault.Get, key="nodot")["argument"] == "key"
        assert vault.Status()["stores"], "no stores"
print("OK")
