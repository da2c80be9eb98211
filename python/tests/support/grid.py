"""Makes a certificate authority, a host and a user with a proxy, as the grid has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

_HOST = "basicConstraints=CA:FALSE\nkeyUsage=digitalSignature,keyEncipherment\n"
_PROXY = (
    "proxyCertInfo=critical,language:id-ppl-inheritAll\n"
    "keyUsage=critical,digitalSignature,keyEncipherment\n"
)


class Grid:
    """Makes certificates by openssl in a folder.

    Attributes
    ----------
    authorities
        The folder of the certificate of the authority.
    host, host_key
        The certificate of `localhost` and its key.
    proxy
        The file with the proxy of a user: both certificates and the key.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.authorities = folder / "authorities"
        self.authorities.mkdir()
        authority = ["-x509", "-nodes", "-days", "10", "-subj", "/O=nyssa/CN=Test CA"]
        authority += ["-addext", "keyUsage=critical,keyCertSign,cRLSign"]
        self._new("authority", authority)
        certificate = (folder / "authority.pem").read_text()
        name = _openssl("x509", "-hash", "-noout", "-in", str(folder / "authority.pem")).strip()
        (self.authorities / f"{name}.0").write_text(certificate)
        (self.authorities / f"{name}.signing_policy").write_text(
            'access_id_CA X509 "/O=nyssa/CN=Test CA"\npos_rights globus CA:sign\n'
            "cond_subjects globus '\"/O=nyssa/*\"'\n"
        )
        self.host = self._sign("host", "/O=nyssa/CN=localhost", _HOST, "authority")
        self.host_key = folder / "host.key"
        self._sign("user", "/O=nyssa/CN=A User", _HOST, "authority")
        proxy = self._sign("proxy", "/O=nyssa/CN=A User/CN=4", _PROXY, "user")
        self.proxy = folder / "x509up"
        parts = [proxy, folder / "proxy.key", folder / "user.pem"]
        self.proxy.write_text("".join(part.read_text() for part in parts))
        for private in (self.proxy, self.host_key):
            private.chmod(0o400)

    def _new(self, name: str, arguments: list[str]) -> None:
        key, out = self._folder / f"{name}.key", self._folder / f"{name}.pem"
        new_key = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(out)]
        _openssl("req", *new_key, *arguments)

    def _sign(self, name: str, subject: str, extensions: str, issuer: str) -> Path:
        path = self._folder / f"{name}.pem"
        self._new(name, ["-subj", subject])
        (self._folder / "extensions").write_text(extensions)
        _openssl(
            *["x509", "-req", "-in", str(path), "-days", "5", "-set_serial", str(len(name))],
            *["-CA", str(self._folder / f"{issuer}.pem")],
            *["-CAkey", str(self._folder / f"{issuer}.key")],
            *["-extfile", str(self._folder / "extensions"), "-out", str(path)],
        )
        return path


def _openssl(*arguments: str) -> str:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stderr}")
    return done.stdout
