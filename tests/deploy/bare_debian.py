"""A bare Debian in a folder, and two programs that it can't have: systemd and a certificate
authority that the host trusts."""

import os
import shutil
import ssl
import subprocess
from pathlib import Path

SUITE = "bookworm"
HOST = "portal.example.com"
STAND_INS = {
    "systemctl": """#!/usr/bin/env python3
# Starts the services of units as systemd does: with their settings and account, until READY=1.
import os, pwd, re, socket, subprocess, sys
from pathlib import Path

def start(name):
    template, _, instance = name.partition("@")
    unit = Path(f"/etc/systemd/system/{template}@.service").read_text().replace("%i", instance)
    value = dict(re.findall(r"^(\\w+)=(.*)$", unit, re.MULTILINE))
    lines = Path(value["EnvironmentFile"]).read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if line and line[0] != "#")
    account = pwd.getpwnam(value["User"])
    path = f"/run/ready-{name}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(path)
        os.chown(path, account.pw_uid, account.pw_gid)
        ready.settimeout(120)
        subprocess.Popen(
            value["ExecStart"].split(), cwd="/", user=account.pw_uid, group=account.pw_gid,
            umask=0o077, start_new_session=True, stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": path, **settings},
        )
        while b"READY=1" not in ready.recv(4096):
            pass

if sys.argv[1:] == ["reload", "nginx"]:
    raise SystemExit(subprocess.call(["nginx"]))
if sys.argv[1:3] == ["enable", "--now"]:
    for each in sys.argv[3:]:
        if not each.endswith(".timer"):
            start(each)
elif sys.argv[1:] != ["daemon-reload"]:
    raise SystemExit(f"systemctl {sys.argv[1:]} has no stand-in")
""",
    "certbot": """#!/bin/sh
# A certificate as certbot leaves it, which this machine trusts.
set -e
folder=/etc/letsencrypt/live/portal.example.com
mkdir -p "$folder"
openssl req -x509 -newkey rsa:2048 -nodes -days 90 -subj /CN=portal.example.com \\
  -addext subjectAltName=DNS:portal.example.com \\
  -keyout "$folder/privkey.pem" -out "$folder/fullchain.pem" 2>/dev/null
cp "$folder/fullchain.pem" /usr/local/share/ca-certificates/portal.crt
update-ca-certificates >/dev/null
""",
}


class BareDebian:
    """The least that Debian can be, with a release in ``/srv/release``."""

    def __init__(self, folder: Path, release: Path):
        self.root = folder / "debian"
        make = ["debootstrap", "--variant=minbase", SUITE, str(self.root)]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        shutil.copytree(release, self.root / "srv" / "release")
        for name, program in STAND_INS.items():
            path = self.root / "usr" / "local" / "sbin" / name
            path.write_text(program)
            path.chmod(0o755)
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        with (self.root / "etc" / "hosts").open("a") as hosts:
            hosts.write(f"127.0.0.1 localhost {HOST}\n")
        # The certificate authorities of this machine: its connection to the registries may need one
        # of them.
        authorities = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
        shutil.copy(os.environ.get("PIP_CERT", authorities), self.root / "srv" / "authorities.pem")

    def run(self, script: str, *, alone: bool = False) -> str:
        """Run the commands and return their output. ``alone`` uses separate networks and processes,
        which end with the script."""
        (self.root / "srv" / "script").write_text(f"set -eu\n{script}")
        variables = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "DEBIAN_FRONTEND": "noninteractive",
            "PIP_CERT": "/srv/authorities.pem",
            "LC_ALL": "C.UTF-8",
        }
        variables |= {name: os.environ[name] for name in os.environ if name.endswith("_proxy")}
        start = f"mount --bind /dev {self.root}/dev; mount -t proc proc {self.root}/proc; "
        own = ["--net", "--pid", "--kill-child"] if alone else []
        if alone:
            start = f"ip link set lo up; {start}"
        command = ["unshare", "--mount", "--fork", *own, "sh", "-ec"]
        ended = subprocess.run(
            [*command, f'{start}exec chroot "{self.root}" bash /srv/script'],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-6000:]
        return ended.stdout
