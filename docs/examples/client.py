"""A whole client of the vault, with nothing but Python's own library.

    client.py get KEY [ACCOUNT] | set KEY [ACCOUNT] <SECRET | clear KEY [ACCOUNT] | list"""
import base64, json, os, socket, struct, sys


class Refused(Exception):
    """An error that the vault answered with: its name, as `NotFound`, and its parameters."""


class Vault:
    """A connection. Calls go one after the other; a second thread makes a second connection."""

    def __init__(self, path=os.environ.get("VAULTD_SOCKET")):
        folder = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path or folder + "/vault/vault.sock")
        peer = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if struct.unpack("3i", peer)[1] != os.getuid():
            raise PermissionError("what listens on the vault's socket is another user's")
        self.received = bytearray()

    def replies(self, method, more=False, **parameters):
        """Makes a call and yields the parameters of each reply. What is None is not given."""
        call = {"method": "org.vaultd.Vault." + method, "more": more, "parameters": parameters}
        self.socket.sendall(json.dumps(call).encode() + b"\0")
        reply = {"continues": True}
        while reply.get("continues"):
            while 0 not in self.received:
                if not (piece := self.socket.recv(65536)):
                    raise ConnectionError("vaultd hung up")
                self.received += piece
            frame, _, self.received = self.received.partition(b"\0")
            reply = json.loads(frame)
            if "error" in reply:
                raise Refused(reply["error"].rpartition(".")[2], reply.get("parameters", {}))
            yield reply.get("parameters", {})

    def call(self, method, **parameters):
        return next(self.replies(method, **parameters))

    def get(self, key, account="", min_validity=None):
        return secret(self.call("Get", key=key, account=account, minValidity=min_validity))

    def set(self, key, token, account="", **more):
        """`more`: expires, expiresIn, idle, untilLogout, label, ifVersion, lease."""
        token = base64.b64encode(token).decode()
        return self.call("Set", key=key, account=account, secretBase64=token, **more)["entry"]

    def renew(self, key, make, account="", min_validity=60, **more):
        """The token. Where less than `min_validity` seconds are left of it, one of all the callers that ask,
        in whatever program, makes a new one with `make()`, and the others wait for it."""
        reply = self.call("Refresh", key=key, account=account, minValidity=min_validity)
        if not reply.get("lease"):
            return secret(reply)
        try:
            token = make()
        except BaseException:
            self.call("GiveUp", lease=reply["lease"])
            raise
        self.set(key, token, account, lease=reply["lease"], **more)
        return token


def secret(reply):
    encoded = reply.get("secretBase64")
    return base64.b64decode(encoded) if encoded else reply["secret"].encode()


if __name__ == "__main__":
    vault, command, words = Vault(), sys.argv[1], sys.argv[2:]
    if command == "get":
        sys.stdout.buffer.write(vault.get(*words))
    elif command == "set":
        vault.set(words[0], sys.stdin.buffer.read(), *words[1:])
    elif command == "clear":
        vault.call("Clear", key=words[0], account=(words + [""])[1])
    elif command == "list":
        print(*(entry["key"] for entry in vault.call("List")["entries"]), sep="\n")
