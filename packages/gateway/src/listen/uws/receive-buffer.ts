import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Receive buffer per connection in bytes (SO_RCVBUF, socket(7)). The kernel reserves twice as much with its own
 * overhead, which is still less than one uWS read of 512 KB.
 */
export const RECEIVE_BUFFER_BYTES = 224 * 1024

const PROGRAM = fileURLToPath(new URL('./receive-buffer-program.js', import.meta.url))
/** Timeout of the helper program, in milliseconds. It takes 50 ms, and keeps the sockets open while it runs. */
const PROGRAM_MS = 10_000
const TABLES = ['tcp', 'tcp6']
/** State of a listening socket in /proc/net/tcp. */
const LISTENING = '0A'
/** Size of a read. The kernel generates only as many rows as are read at a time. */
const PIECE_BYTES = 4096

/**
 * Limits the kernel's receive buffer for connections accepted at these ports from now on; they inherit it from the
 * listening socket. uWS keeps reading a connection while each read fills 512 KB, even if it is paused. Without the
 * limit, a fast sender would block the event loop until its body has ended (docs/internals/adr/0016). Does nothing on systems
 * other than Linux.
 * @param except descriptors of other sockets that listen on these ports.
 * @throws Error if the buffer cannot be set.
 */
export async function limitReceiveBuffers(
  ports: readonly number[],
  except: ReadonlySet<number> = new Set(),
): Promise<void> {
  if (process.platform !== 'linux' || ports.length === 0) return
  const sockets = listeningSockets(ports).filter((fd) => !except.has(fd))
  if (sockets.length < ports.length)
    throw new Error(`no socket listening on port ${ports.join(' or ')} found in /proc`)
  await setReceiveBuffers(sockets)
}

/** Returns the descriptors of this process that listen on these ports. */
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

/** A row of /proc/net/tcp. */
interface SocketRow {
  /** Local address and port in hexadecimal. */
  readonly local: string
  readonly state: string
  readonly inode: string
}

/** Reads the listening sockets of all processes. They come first in the table, so reading stops soon after them. */
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

/** Opens a table, or returns null if it does not exist, for example because IPv6 is disabled. */
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

/** Returns the name of a descriptor, or an empty string if it was closed meanwhile. */
function nameOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

/** Sets the buffers in a child process. Options belong to the socket, so a process that inherits it can set them. */
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
  const reason = signal === null ? said.trim() : `its helper program was killed by ${signal}`
  throw new Error(`cannot limit the receive buffer of a listener: ${reason}`)
}
