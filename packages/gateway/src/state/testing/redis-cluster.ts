import type { TestContext } from 'node:test'
import calculateSlot from '@redis/client/dist/lib/utils/calculate-slot.js'
import { until } from '../../testing/gateway.js'
import { closedPort } from '../../testing/origin.js'
import { RedisServer } from './redis-server.js'

/** First and last slots of the three primaries. */
const RANGES = [
  [0, 5460],
  [5461, 10_922],
  [10_923, 16_383],
] as const

/** Options of test nodes: they fail over on command, not because this machine is slow. */
const NODE = [
  ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '60000', '--cluster-require-full-coverage', 'no'],
  ...['--repl-diskless-sync-delay', '0'],
]

type Ending = Pick<TestContext, 'after'>

/** Starts a cluster node. */
export async function startNode(t: Ending, args: readonly string[] = []): Promise<RedisServer> {
  const own = [...NODE, '--cluster-port', String(await closedPort())]
  return RedisServer.start(t, [...own, ...args])
}

/** A cluster of three primaries, and more nodes without slots. */
export class RedisCluster {
  readonly primaries: readonly RedisServer[]
  readonly others: readonly RedisServer[]

  private constructor(primaries: readonly RedisServer[], others: readonly RedisServer[]) {
    this.primaries = primaries
    this.others = others
  }

  static async start(t: Ending, others = 0): Promise<RedisCluster> {
    const nodes = await Promise.all(Array.from({ length: RANGES.length + others }, () => startNode(t)))
    const primaries = nodes.slice(0, RANGES.length)
    const meetings = nodes.map((node) => `cluster meet 127.0.0.1 ${node.port} ${busPortOf(node)}`)
    for (const [i, node] of nodes.entries()) {
      const slots = i < RANGES.length ? [`cluster addslotsrange ${RANGES[i]!.join(' ')}`] : []
      // Introduce every pair: otherwise nodes learn of each other only over time.
      const others = meetings.filter((_, at) => at !== i)
      node.commands([...slots, `cluster set-config-epoch ${i + 1}`, ...others])
    }
    const cluster = new RedisCluster(primaries, nodes.slice(RANGES.length))
    await cluster.hasSettled()
    return cluster
  }

  /** Waits until all nodes know all others and all slots. */
  async hasSettled(): Promise<void> {
    const nodes = [...this.primaries, ...this.others]
    for (const node of nodes) {
      await until(() => {
        const info = node.cli('cluster', 'info')
        const signs = ['state:ok', 'slots_ok:16384', `known_nodes:${nodes.length}`]
        return signs.every((sign) => info.includes(`cluster_${sign}\r`))
      })
    }
  }

  get urls(): string[] {
    return this.primaries.map(({ port }) => `redis://127.0.0.1:${port}`)
  }
}

/** Returns the cluster bus port of a node. */
function busPortOf(node: RedisServer): string {
  return node.cli('config', 'get', 'cluster-port').split('\n')[1]!
}

/** Starts a cluster of one node, which has all slots. */
export async function startWholeNode(t: Ending, args: readonly string[] = []): Promise<RedisServer> {
  const node = await startNode(t, args)
  node.cli('cluster', 'addslotsrange', '0', '16383')
  await until(() => node.cli('cluster', 'info').includes('cluster_state:ok'))
  return node
}

/** Returns the id of a node in its cluster. */
export function idOf(node: RedisServer): string {
  return node.cli('cluster', 'myid')
}

/** Returns the slot of a key. */
export function slotOf(key: string): number {
  return calculateSlot.default(key)
}

/**
 * Returns a key whose slot, with the prefix, belongs to one of the three primaries.
 * @param at index of the primary.
 */
export function keyOn(at: number, prefix: string): string {
  const [from, to] = RANGES[at]!
  for (let i = 0; ; i++) {
    const slot = slotOf(`${prefix}k${i}`)
    if (slot >= from && slot <= to) return `k${i}`
  }
}
