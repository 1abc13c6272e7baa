import { createHash } from 'node:crypto'

/** What differs between the units of two gateways on one machine. Paths are absolute. */
export interface UnitFacts {
  /** Of the unit, of its folder in /etc and of that in /var/lib. */
  readonly name: string
  readonly user: string
  /** What starts gw: its path, behind that of Node.js where systemd does not find it. */
  readonly command: string
  readonly document: string
}

const MARK = '# Written by gw service install. SHA-256 of the lines below: '

/** The unit of a gateway that can do nothing but serve, see systemd.exec(5). */
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
# What the document does not name is kept here: data/ with the last good document, the history and the traffic log.
StateDirectory=${name}
StateDirectoryMode=0750
WorkingDirectory=/var/lib/${name}
# Variables of the document, \${env:NAME}; readable by root only. A minus: it need not be there.
EnvironmentFile=-/etc/${name}/environment
Environment=NODE_ENV=production
# Nothing checks the document before: with a mistake in it the last good one serves, also after a reboot.
ExecStart=${command} start ${document}
# Reads the document and what its references name again; a document with a mistake changes nothing.
ExecReload=/bin/kill -HUP $MAINPID
# The supervisor alone is asked to drain; its workers end with it. Longer than drain.delay and drain.timeout together.
KillMode=mixed
TimeoutStopSec=60
Restart=on-failure
RestartSec=1
# A document with a mistake and no good one before it (3), and wrong usage (64), are not cured by another start.
RestartPreventExitStatus=3 64
# A worker that the kernel kills for its memory is replaced by the supervisor; the others go on.
OOMPolicy=continue
# In each process: a connection takes a descriptor, and each upstream connection another.
LimitNOFILE=65536
# Processes and threads, about twelve for a worker.
TasksMax=2048
# An image of the memory would hold keys and requests.
LimitCORE=0
UMask=0077

# Ports below 1024, and no other privilege.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
# Files: all read-only but its own; uploads that wait are in a temporary directory of its own.
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
# MemoryDenyWriteExecute is not here: the compiler of Node.js writes the code that it runs.

[Install]
WantedBy=multi-user.target
`)
}

/** Whether a unit is as a version of gw has written it; not so when somebody has changed it, or written another. */
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
