import { createHash } from 'node:crypto'

/** Values of the unit of a gateway. Paths are absolute. */
export interface UnitFacts {
  /** Name of the unit and of its folders in /etc and /var/lib. */
  readonly name: string
  readonly user: string
  /** Command that starts gw: its path, preceded by that of Node.js if systemd does not find it. */
  readonly command: string
  readonly document: string
}

const MARK = '# Written by gw service install. SHA-256 of the lines below: '

/** Returns the unit of a gateway with all restrictions that still allow it to serve, see systemd.exec(5). */
export function unitText({ name, user, command, document }: UnitFacts): string {
  return marked(`[Unit]
Description=Sluice API gateway
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
User=${user}
Group=${user}
# Default location of data/, with the last valid document, the deploy history and the traffic log.
StateDirectory=${name}
StateDirectoryMode=0750
WorkingDirectory=/var/lib/${name}
# Variables for \${env:NAME} in the document; readable by root only. The minus makes the file optional.
EnvironmentFile=-/etc/${name}/environment
Environment=NODE_ENV=production
# The document is not validated first: if it is invalid, the last valid one is used, also after a reboot.
ExecStart=${command} start ${document}
# Reloads the document and its references; an invalid document changes nothing.
ExecReload=/bin/kill -HUP $MAINPID
# Only the supervisor gets the signal; it drains its workers. Longer than drain.delay plus drain.timeout.
KillMode=mixed
TimeoutStopSec=60
Restart=on-failure
RestartSec=1
# A restart does not help if the document is invalid and there is no earlier one (3), or with wrong usage (64).
RestartPreventExitStatus=3 64
# The supervisor replaces a worker that the kernel kills for lack of memory; the others continue.
OOMPolicy=continue
# Per process: each client connection and each upstream connection needs a descriptor.
LimitNOFILE=65536
# Processes and threads, about twelve per worker.
TasksMax=2048
# A core dump would contain keys and requests.
LimitCORE=0
UMask=0077

# Allows ports below 1024, and nothing else.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
# All files are read-only except its own. Buffered uploads are in a private temporary directory.
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateIPC=yes
PrivateMounts=yes
ProtectProc=invisible
ProtectControlGroups=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute is not set: Node.js compiles code at run time.

[Install]
WantedBy=multi-user.target
`)
}

/** True if a unit is unchanged since a version of gw wrote it. */
export function isAsWritten(text: string): boolean {
  const end = text.indexOf('\n') + 1
  return text.slice(0, end) === `${MARK}${digestOf(text.slice(end))}\n`
}

function marked(text: string): string {
  return `${MARK}${digestOf(text)}\n${text}`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
