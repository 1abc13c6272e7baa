import { readdir, readFile, readlink } from 'node:fs/promises'
import { readStat } from '@sluice/core/process-stat'

/** Value for listening sockets in `/proc/net/tcp`. */
const LISTENING = '0A'
/** Maximum number of processes and of descriptors per process to look at. */
const MAX_ENTRIES = 10_000
/** Maximum length of a command line in a message. */
const MAX_COMMAND_CHARS = 200
/** `gw start` starts supervisors, which start workers. */
const MAX_ANCESTORS = 3

/** Returns ` by` and the process that listens on a port, for a message that it is in use. Empty if it is unknown. */
export async function byHolder(port: number): Promise<string> {
  const holder = await portHolder(port)
  return holder === null ? '' : ` by ${holder}`
}

/**
 * Describes the process that listens on a TCP port, such as `nginx (pid 7)`. Returns null if it is unknown: it belongs to
 * another user, or the system is not Linux.
 */
async function portHolder(port: number): Promise<string | null> {
  try {
    const inodes = await listeningInodes(port)
    const pid = inodes.size === 0 ? null : await ownerOf(inodes)
    return pid === null ? null : await describe(pid)
  } catch {
    return null
  }
}

/** Returns the socket inodes of the listeners on a port, as `/proc/PID/fd` shows them. */
async function listeningInodes(port: number): Promise<Set<string>> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const tables = ['tcp', 'tcp6'].map((name) => readFile(`/proc/self/net/${name}`, 'latin1').catch(() => ''))
  const lines = (await Promise.all(tables)).flatMap((table) => table.split('\n').slice(1))
  const found = lines.map((line) => line.trim().split(/\s+/)).filter((fields) => fields.length > 9)
  return new Set(
    found
      .filter(([, local = '', , state]) => state === LISTENING && local.endsWith(`:${hex}`))
      .map((fields) => `socket:[${fields[9]}]`),
  )
}

async function ownerOf(inodes: ReadonlySet<string>): Promise<number | null> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).slice(0, MAX_ENTRIES)
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
    for (const descriptor of descriptors.slice(0, MAX_ENTRIES)) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')
      if (inodes.has(target)) return Number(pid)
    }
  }
  return null
}

/** Arguments of other programs may contain secrets, so only those of `gw start` are shown. */
async function describe(pid: number): Promise<string> {
  let at: number | null = pid
  let gateway: string | null = null
  for (let i = 0; i <= MAX_ANCESTORS && at !== null && at > 1; i++) {
    const words = (await readFile(`/proc/${at}/cmdline`, 'utf8').catch(() => '')).split('\0')
    const start = words.indexOf('start')
    if (start > 0 && /(^|\/)(gw|gw\.mjs)$/.test(words[start - 1]!))
      gateway = `another Sluice gateway (pid ${at}, gw ${words.slice(start).join(' ').trim().slice(0, MAX_COMMAND_CHARS)})`
    at = parentOf(at)
  }
  const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim()
  return gateway ?? `${name} (pid ${pid})`
}

function parentOf(pid: number): number | null {
  try {
    return Number(readStat(`/proc/${pid}/stat`).fields[1])
  } catch {
    return null
  }
}
