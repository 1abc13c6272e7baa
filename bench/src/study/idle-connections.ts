import net from 'node:net'
import { treeCpuMicros, treeRssBytes } from '../measure/process-use.js'
import { optionsOf } from './options.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * What an idle kept connection costs the gateway: each has served one request. Memory is that of the gateway's
 * processes, before and with the connections, and the CPU time what they used while nothing happened. `--connections N`.
 */
const { connections: count } = optionsOf({ connections: 5000 })
/** Shorter than the time after which the listener closes idle connections. */
const IDLE_MS = 5000
const AT_A_TIME = 200
const REQUEST = 'GET /get HTTP/1.1\r\nHost: a\r\n\r\n'

await onTestBed(study)

async function study(bed: TestBed): Promise<void> {
  const gateway = await bed.gateway((await bed.origin()).url)
  const port = Number(new URL(gateway.url).port)
  // The first ones make the program warm; what it keeps of them is not the next ones' cost.
  closeAll(await openAll(port, AT_A_TIME * 5))
  const shareWithout = await idleShare(gateway.pid)
  const bytesWithout = treeRssBytes(gateway.pid)
  const sockets = await openAll(port, count)
  const bytes = treeRssBytes(gateway.pid) - bytesWithout
  const share = await idleShare(gateway.pid)
  const lost = sockets.filter((socket) => socket.destroyed).length
  console.log(
    `${count} idle connections: ${Math.round(bytes / count)} bytes each, ` +
      `${share.toFixed(1)} % of a core while idle, ${shareWithout.toFixed(1)} % without them, ${lost} closed meanwhile`,
  )
  closeAll(sockets)
}

/** What the processes use of a core while nothing is asked of them, in percent. */
async function idleShare(root: number): Promise<number> {
  const before = treeCpuMicros(root)
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  return (treeCpuMicros(root) - before) / IDLE_MS / 10
}

async function openAll(port: number, wanted: number): Promise<net.Socket[]> {
  const sockets: net.Socket[] = []
  while (sockets.length < wanted) {
    const next = Array.from({ length: Math.min(AT_A_TIME, wanted - sockets.length) }, () => open(port))
    sockets.push(...(await Promise.all(next)))
  }
  return sockets
}

function closeAll(sockets: readonly net.Socket[]): void {
  for (const socket of sockets) socket.destroy()
}

/** A connection that has had its answer. */
function open(port: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(REQUEST))
    socket.once('data', () => {
      socket.on('error', () => {})
      socket.resume()
      resolve(socket)
    })
    socket.once('error', reject)
  })
}
