"""A realm of Kerberos with a user and a server, for tests; Debian's `krb5-kdc` and `krb5-user`."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from support.ports import free_port
from support.xrootd import give_to_server

_NAME = "NYSSA.TEST"
#: The services of the system, such as the KDC, are not in the path of every user.
_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
#: Seconds until the KDC must answer.
_PATIENCE = 20


def is_installed() -> bool:
    """Return whether the programs of Kerberos are installed."""
    return all(
        shutil.which(name, path=_PATH) for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
    )


class Realm:
    """A running KDC (the server that gives tickets) and a user with a ticket, in a folder.

    Attributes
    ----------
    service
        The name of the XRootD server of `localhost`.
    keytab
        The file with the key of that server.
    environment
        The environment variables of those who use the realm.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        port = free_port()
        self.service = f"xrootd/localhost@{_NAME}"
        self.keytab = folder / "keytab"
        self.environment = {
            "KRB5_CONFIG": str(folder / "krb5.conf"),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{folder / 'tickets'}",
        }
        (folder / "krb5.conf").write_text(
            f"[libdefaults]\ndefault_realm = {_NAME}\ndns_lookup_kdc = false\n"
            "dns_lookup_realm = false\ndns_canonicalize_hostname = false\nrdns = false\n"
            f"[realms]\n{_NAME} = {{\n kdc = 127.0.0.1:{port}\n}}\n"
            f"[domain_realm]\nlocalhost = {_NAME}\n"
        )
        (folder / "kdc.conf").write_text(
            f"[kdcdefaults]\nkdc_listen = 127.0.0.1:{port}\nkdc_tcp_listen = 127.0.0.1:{port}\n"
            f"[realms]\n{_NAME} = {{\n database_name = {folder / 'principal'}\n"
            f" key_stash_file = {folder / 'stash'}\n}}\n"
        )
        self._run("kdb5_util", "create", "-s", "-P", "master", "-r", _NAME)
        self._run("kadmin.local", "-q", "addprinc -pw secret analyst")
        self._run("kadmin.local", "-q", f"addprinc -randkey {self.service}")
        self._run("kadmin.local", "-q", f"ktadd -k {self.keytab} {self.service}")
        give_to_server(self.keytab)
        self._kdc = subprocess.Popen(
            ["krb5kdc", "-n"],
            env=self._all(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + _PATIENCE
        while self._ask("kinit", "analyst").returncode:
            if time.monotonic() > end:
                self.close()
                raise RuntimeError("no ticket of Kerberos")
            time.sleep(0.1)

    def close(self) -> None:
        """End the KDC."""
        self._kdc.kill()
        self._kdc.wait()

    def _all(self) -> dict[str, str]:
        return {**os.environ, **self.environment, "PATH": _PATH}

    def _ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            input="secret\n",
            env=self._all(),
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )

    def _run(self, *command: str) -> None:
        done = self._ask(*command)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
