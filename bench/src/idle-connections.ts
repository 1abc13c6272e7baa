import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGateway, startOrigin } from './contestant.js'
import { cpuMicros, processTree } from './process-cpu.js'

/**
 * What an idle kept connection costs the gateway: each has served one request. Memory is that of the gateway's
 * processes, before and with the connections, and the CPU time what they used while nothing happened. `--connections N`.
 */
const PORTS = { origin: 19_120, sluice: 19_122 }
/** Shorter than the time after which the listener closes idle connections. */
const IDLE_MS = 5000
const AT_A_TIME = 200
const REQUEST = 'GET /get HTTP/1.1\r\nHost: a\r\n\r\n'

await main()

async function main(): Promise<void> {
  const at = process.argv.indexOf('--connections')
  const count = at < 0 ? 5000 : Number(process.argv[at + 1])
  const dir = mkdtempSync(join(tmpdir(), 'sluice-idle-'))
  const origin = await startOrigin(dir, PORTS.origin)
  const gateway = await startGateway(dir, PORTS.sluice, PORTS.origin)
  const pids = processTree(gateway.pid)
  const sockets: net.Socket[] = []
  try {
    // The first ones make the program warm; what it keeps of them is not the next ones' cost.
    await openAll(sockets, AT_A_TIME * 5)
    for (const socket of sockets.splice(0)) socket.destroy()
    const shareWithout = await idleShare(pids)
    const bytesWithout = residentBytes(pids)
    await openAll(sockets, count)
    const bytes = residentBytes(pids) - bytesWithout
    const share = await idleShare(pids)
    const lost = sockets.filter((socket) => socket.destroyed).length
    console.log(
      `${count} idle connections: ${Math.round(bytes / count)} bytes each, ` +
        `${share.toFixed(1)} % of a core while idle, ${shareWithout.toFixed(1)} % without them, ${lost} closed meanwhile`,
    )
  } finally {
    for (const socket of sockets) socket.destroy()
    await Promise.all([gateway.stop(), origin.stop()])
    rmSync(dir, { recursive: true, force: true })
  }
}

/** What the processes use of a core while nothing is asked of them, in percent. */
async function idleShare(pids: readonly number[]): Promise<number> {
  const used = (): number => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0)
  const before = used()
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  return (used() - before) / IDLE_MS / 10
}

async function openAll(sockets: net.Socket[], count: number): Promise<void> {
  for (let i = 0; i < count; i += AT_A_TIME) {
    sockets.push(...(await Promise.all(Array.from({ length: AT_A_TIME }, open))))
  }
}

/** A connection that has had its answer. */
function open(): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(PORTS.sluice, '127.0.0.1', () => socket.write(REQUEST))
    socket.once('data', () => {
      socket.on('error', () => {})
      socket.resume()
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return sum + Number(resident ?? 0) * 1024
  }, 0)
}
