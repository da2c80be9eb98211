"""Makes a link of two TUN devices, each in a network namespace of its own.

The kernel sends packets into one device. A process (`relay.py`) holds each packet for half a round
trip and the time that the bandwidth gives it, and writes it into the other device. So the server
and the jobs have real TCP between them, with its slow start and its windows. The link loses no
packets.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from link import Counts
from relay import CLIENT, DEVICE, MTU, SERVER

RELAY = Path(__file__).with_name("relay.py")


def why_not() -> str | None:
    """Returns why this machine cannot have such a link; `None` if it can."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    missing = [name for name in ("unshare", "nsenter", "ip") if shutil.which(name) is None]
    if missing:
        return f"the programs {', '.join(missing)} are missing (util-linux, iproute2)"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun cannot be opened"
    try:
        Tunnel(1e9).close()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        return str(error)
    return None


class _Namespace:
    """A network namespace.

    It lives as long as a process in it, which ends with this one.
    """

    def __init__(self) -> None:
        command = ["unshare", "--net", "sh", "-c", "echo ready; exec cat"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self.process.stdout is None or not self.process.stdout.readline():
            self.process.kill()
            raise RuntimeError("unshare makes no network namespace")

    def command(self, command: list[str]) -> list[str]:
        return ["nsenter", f"--net=/proc/{self.process.pid}/ns/net", *command]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class Tunnel:
    """A link of TUN devices. `bandwidth` is in bytes a second."""

    def __init__(self, bandwidth: float) -> None:
        self.description = (
            "packets between two network namespaces, each delayed by half a round trip "
            f"(TUN devices with an MTU of {MTU} bytes, so TCP starts slowly and has its windows)"
        )
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self._ends = [_Namespace() for _ in range(2)]
            for end in self._ends:
                stack.callback(end.close)
            pids = [str(end.process.pid) for end in self._ends]
            command = [sys.executable, str(RELAY), *pids, str(bandwidth)]
            self._relay = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            stack.callback(self._relay.wait)
            stack.callback(self._relay.kill)
            if self._ask("counts") is None:
                raise RuntimeError("the relay of packets does not start")
            for end, address, peer in zip(
                self._ends, (SERVER, CLIENT), (CLIENT, SERVER), strict=True
            ):
                for setting in (
                    f"link set dev {DEVICE} mtu {MTU} txqueuelen 20000",
                    f"address add {address} peer {peer} dev {DEVICE}",
                    f"link set dev {DEVICE} up",
                    "link set dev lo up",
                ):
                    subprocess.run(end.command(["ip", *setting.split()]), check=True)
            self._closing = stack.pop_all()

    def server_command(self, command: list[str]) -> list[str]:
        """Returns the command in the namespace of the server."""
        return self._ends[0].command(command)

    def client_command(self, command: list[str]) -> list[str]:
        """Returns the command in the namespace of the jobs."""
        return self._ends[1].command(command)

    def connect(self, port: int) -> str:
        """Returns the address of the server and its port."""
        return f"{SERVER}:{port}"

    def set_round_trip(self, seconds: float) -> None:
        """Tells the relay the delay of packets from now on."""
        self._ask(f"delay {seconds / 2}")

    def take_counts(self) -> Counts:
        """Asks the relay for what it has counted."""
        return Counts(**json.loads(self._ask("counts") or "{}"))

    def close(self) -> None:
        """Ends the relay; the namespaces and devices go with the processes in them."""
        self._closing.close()

    def _ask(self, question: str) -> str | None:
        assert self._relay.stdin is not None
        assert self._relay.stdout is not None
        try:
            self._relay.stdin.write(f"{question}\n")
            self._relay.stdin.flush()
        except BrokenPipeError:
            return None
        return self._relay.stdout.readline() or None
