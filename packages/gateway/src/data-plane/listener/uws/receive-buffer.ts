import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * What the kernel may hold of one connection; it counts twice this much with its own bookkeeping (SO_RCVBUF, socket(7)),
 * and that is less than one read of uWS, 512 KB.
 */
export const RECEIVE_BUFFER_BYTES = 224 * 1024

const PROGRAM = fileURLToPath(new URL('./receive-buffer-program.js', import.meta.url))
/** It takes 50 ms; while it lives it holds the sockets, whatever becomes of this process. */
const PROGRAM_MS = 10_000
const TABLES = ['tcp', 'tcp6']
/** Of a listening socket in /proc/net/tcp. */
const LISTENING = '0A'
/** The kernel makes no more rows at a time than are asked for. */
const PIECE_BYTES = 4096

/**
 * Bounds what the kernel holds of each connection that is accepted at ports of this process from now on. uWS reads a
 * connection again at once as long as each read fills 512 KB, paused or not: a sender faster than the gateway would hold
 * the event loop until its body has ended (docs/internals/adr/0016). Accepted sockets inherit the bound. Only on Linux; elsewhere
 * nothing is done.
 * @throws Error when it could not be set.
 */
export async function boundReceiveBuffers(ports: readonly number[]): Promise<void> {
  if (process.platform !== 'linux' || ports.length === 0) return
  const sockets = listeningSockets(ports)
  if (sockets.length < ports.length)
    throw new Error(`a socket that listens on port ${ports.join(' or ')} was not found in /proc`)
  await setReceiveBuffers(sockets)
}

/** The descriptors of this process that listen on these ports. */
export function listeningSockets(ports: readonly number[], tables: readonly string[] = TABLES): number[] {
  const suffixes = ports.map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`)
  const rows = tables
    .flatMap(listeningRows)
    .filter(({ local }) => suffixes.some((suffix) => local.endsWith(suffix)))
  const names = new Set(rows.map(({ inode }) => `socket:[${inode}]`))
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => names.has(nameOf(fd)))
}

/** A socket of /proc/net/tcp. */
interface SocketRow {
  /** Address and port, in hexadecimal. */
  readonly local: string
  readonly state: string
  readonly inode: string
}

/** The listening sockets of all processes. They come first: of the connections behind them no more than a piece is read. */
function listeningRows(table: string): SocketRow[] {
  const fd = openTable(table)
  if (fd === null) return []
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    let text = ''
    for (;;) {
      const length = readSync(fd, piece)
      text += piece.toString('latin1', 0, length)
      const rows = text.split('\n').slice(1, -1).map(rowOf)
      const listening = rows.filter(({ state }) => state === LISTENING)
      if (length === 0 || listening.length < rows.length) return listening
    }
  } finally {
    closeSync(fd)
  }
}

/** Null where there is no such table: IPv6 may be switched off. */
function openTable(table: string): number | null {
  try {
    return openSync(`/proc/self/net/${table}`, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function rowOf(line: string): SocketRow {
  const columns = line.trim().split(/\s+/)
  return { local: columns[1] ?? '', state: columns[3] ?? '', inode: columns[9] ?? '' }
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
async function setReceiveBuffers(sockets: readonly number[]): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, String(RECEIVE_BUFFER_BYTES), String(sockets.length)], {
    stdio: ['ignore', 'ignore', 'pipe', ...sockets],
    env: {},
    timeout: PROGRAM_MS,
    killSignal: 'SIGKILL',
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    if (said.length < 500) said += chunk.toString()
  })
  const [code, signal] = await once(child, 'close')
  if (code === 0) return
  const reason = signal === null ? said.trim() : `its program was ended by ${signal}`
  throw new Error(`the receive buffer of a listener could not be bounded: ${reason}`)
}
