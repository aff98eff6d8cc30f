"""Prints a valid token; renews it where it is about to end, in one program at a time.

    renew.py KEY ACCOUNT URL      POST URL with {"user_id": ACCOUNT} answers {"token": ..., "expires_in": SECONDS}"""
import base64, json, os, socket, struct, sys, urllib.request


class Refused(Exception):
    """An error that the vault answered with: its name, as `Unavailable`, and its parameters."""


class Vault:
    def __init__(self):
        folder = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ.get("VAULTD_SOCKET") or folder + "/vault/vault.sock")
        peer = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if struct.unpack("3i", peer)[1] != os.getuid():
            raise PermissionError("what listens on the vault's socket is another user's")

    def call(self, method, **parameters):
        call = {"method": "org.vaultd.Vault." + method, "parameters": parameters}
        self.socket.sendall(json.dumps(call).encode() + b"\0")
        answer = b""
        while not answer.endswith(b"\0"):
            if not (piece := self.socket.recv(65536)):
                raise ConnectionError("vaultd hung up")
            answer += piece
        answer = json.loads(answer[:-1])
        if "error" in answer:
            raise Refused(answer["error"].rpartition(".")[2], answer["parameters"])
        return answer["parameters"]


def valid_token(key, account, renew, margin=60):
    """The token under `key`. `renew()` gives a new one and the seconds that it lives; of all programs one calls it."""
    made = None
    while True:
        vault = Vault()  # The lease ends with its connection: also where this program dies.
        reply = vault.call("Refresh", key=key, account=account, minValidity=margin)
        lease = reply.get("lease")
        if lease is None:
            if "secretBase64" in reply:
                return base64.b64decode(reply["secretBase64"]).decode()
            return reply["secret"]
        try:
            made = made or renew()
            vault.call("Set", key=key, account=account, secret=made[0], expiresIn=made[1], lease=lease)
            return made[0]
        except Refused as refused:
            if refused.args[0] != "Conflict":
                raise
            # It took longer than a lease lasts. What somebody else has stored meanwhile counts; else ours is stored.
        except (ConnectionError, BrokenPipeError):
            if made is None:
                raise
            # The daemon was restarted, and its leases with it.
        # Any other way out closes the connection, which gives the lease up.


def ask_provider(url, account):
    request = urllib.request.Request(url, json.dumps({"user_id": account}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        answer = json.load(answer)
    return answer["token"], answer["expires_in"]


if __name__ == "__main__":
    key, account, url = sys.argv[1:]
    print(valid_token(key, account, lambda: ask_provider(url, account)))
