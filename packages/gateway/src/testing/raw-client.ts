import net from 'node:net'

/** Data received on a raw connection. */
export interface RawAnswer {
  /** Everything received, as latin1. */
  readonly text: string
  readonly isClosed: boolean
  /** Milliseconds from the first byte sent until the connection closed or the wait ended. */
  readonly ms: number
}

export interface RawOptions {
  /** Time limit in milliseconds. By default 1,500 ms after the first bytes, or 10 s without any. */
  readonly waitMs?: number
  /** Pause between the pieces in milliseconds. */
  readonly gapMs?: number
  /** Ends the wait as soon as the received text satisfies it. */
  readonly until?: (text: string) => boolean
  readonly host?: string
  /** Called after every read; its first non-null result is sent. */
  readonly reply?: (text: string) => string | null
}

/**
 * Waits in milliseconds: a busy machine may be slow to answer, but an answer that has begun finishes soon.
 */
const NOTHING_MS = 10_000
const MORE_MS = 1500

/** Sends bytes piece by piece, and collects the response until the other side closes. */
export function sendRaw(
  port: number,
  pieces: readonly (string | Buffer)[],
  options: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = net.connect(port, options.host ?? '127.0.0.1')
    const startedMono = performance.now()
    let text = ''
    let hasReplied = false
    const finish = (isClosed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, isClosed, ms: performance.now() - startedMono })
    }
    let timer = setTimeout(() => finish(false), options.waitMs ?? NOTHING_MS)
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      if (text === '' && options.waitMs === undefined) {
        clearTimeout(timer)
        timer = setTimeout(() => finish(false), MORE_MS)
      }
      text += chunk.toString('latin1')
      const reply = hasReplied ? null : (options.reply?.(text) ?? null)
      if (reply !== null) {
        hasReplied = true
        socket.write(reply)
      }
      if (options.until?.(text) === true) finish(false)
    })
    socket.on('error', () => {})
    socket.on('close', () => finish(true))
    socket.on('connect', () => void writePieces(socket, pieces, options.gapMs ?? 0))
  })
}

async function writePieces(
  socket: net.Socket,
  pieces: readonly (string | Buffer)[],
  gapMs: number,
): Promise<void> {
  for (const [i, piece] of pieces.entries()) {
    if (i > 0 && gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs))
    if (socket.destroyed) return
    socket.write(piece as Buffer)
  }
}

/** Returns the statuses of the responses in a raw text, in order. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
}
