import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * What the kernel may hold of one connection; it counts twice this much with its own bookkeeping (SO_RCVBUF, socket(7)),
 * and that is less than one read of uWS, 512 KB.
 */
export const RECEIVE_BUFFER_BYTES = 224 * 1024

const PROGRAM = fileURLToPath(new URL('./receive-buffer-program.js', import.meta.url))
/** Of a listening socket in /proc/net/tcp. */
const LISTENING = '0A'

/**
 * Bounds what the kernel holds of each connection that is accepted at a port of this process from now on. uWS reads a
 * connection again at once as long as each read fills 512 KB, paused or not: a sender faster than the gateway would hold
 * the event loop until its body has ended (docs/adr/0016). Accepted sockets inherit the bound. Only on Linux; elsewhere
 * nothing is done.
 * @throws Error when it could not be set.
 */
export async function boundReceiveBuffers(port: number): Promise<void> {
  if (process.platform !== 'linux') return
  const sockets = listeningSockets(port)
  if (sockets.length === 0) throw new Error(`the socket that listens on port ${port} was not found in /proc`)
  for (const fd of sockets) await setReceiveBuffer(fd)
}

/** The descriptors of this process that listen on a port. */
function listeningSockets(port: number): number[] {
  const names = new Set(['tcp', 'tcp6'].flatMap((table) => listeningIn(table, port)))
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => names.has(nameOf(fd)))
}

/** What the links in /proc/self/fd lead to for the sockets of all processes that listen on a port. */
function listeningIn(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync(`/proc/self/net/${table}`, 'utf8').split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === LISTENING)
    .map((columns) => `socket:[${columns[9]}]`)
}

/** Empty for a descriptor that was closed meanwhile. */
function nameOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

/** Options belong to the socket, not to the descriptor: a process that has inherited one can set them. */
async function setReceiveBuffer(fd: number): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, String(RECEIVE_BUFFER_BYTES)], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    env: {},
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    if (said.length < 500) said += chunk.toString()
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the receive buffer of a listener could not be bounded: ${said.trim()}`)
}
