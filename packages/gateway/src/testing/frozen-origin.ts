import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import type { TestContext } from 'node:test'

/** An HTTP server in its own process, which can be suspended. */
export interface FrozenOrigin {
  readonly url: string
  readonly port: number
  /** Suspends the process: its sockets stay open, but nothing reads or writes them. */
  freeze(): void
  thaw(): void
  /** Suspends the process, and opens connections until the kernel accepts no more for it. */
  fillBacklog(): Promise<void>
}

/** Program of the origin. `/drip` responds endlessly, a few bytes at a time; anything else at once. */
const PROGRAM = `
  const http = require('node:http')
  const server = http.createServer((req, res) => {
    if (req.url !== '/drip') return res.end('ok')
    const timer = setInterval(() => res.write('drip'), 20)
    res.on('close', () => clearInterval(timer))
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))
`

/** Upper limit of connections in the smallest backlog. */
const MAX_BACKLOG = 16
/**
 * Connection timeout in milliseconds. On this machine the kernel accepts a connection at once or not at all.
 */
const PATIENCE_MS = 500

export async function frozenOrigin(t: TestContext): Promise<FrozenOrigin> {
  const child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] })
  const sockets: net.Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    child.kill('SIGKILL')
  })
  const port = await portOf(child)
  const freeze = (): void => {
    child.kill('SIGSTOP')
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    freeze,
    thaw: () => {
      for (const socket of sockets.splice(0)) socket.destroy()
      child.kill('SIGCONT')
    },
    fillBacklog: async () => {
      freeze()
      for (let i = 0; i < MAX_BACKLOG; i++) {
        const socket = net.connect(port, '127.0.0.1').on('error', () => {})
        sockets.push(socket)
        if (!(await isConnected(socket))) return
      }
      throw new Error(`the backlog took ${MAX_BACKLOG} connections and is not full`)
    },
  }
}

async function portOf(child: ChildProcess): Promise<number> {
  const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
  return Number(chunk.toString())
}

function isConnected(socket: net.Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS, false)
    socket.once('connect', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
