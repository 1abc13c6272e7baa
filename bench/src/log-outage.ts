import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogIdentity } from '@sluice/core'
import { type ElasticsearchNode, startElasticsearch } from '@sluice/logger/testing/elasticsearch'
import { ADMIN_PORT_OFFSET, startGateway, startOrigin } from './contestant.js'
import { processTree } from './process-cpu.js'
import { type Span, SteadyLoad } from './steady-load.js'

/**
 * What an outage of Elasticsearch costs the clients and the log: a constant rate of calls, the node ended in the middle
 * and started again, then the wait until every record is there. `--rate N --before S --outage S`.
 */
const PORTS = { origin: 19_110, sluice: 19_112, elasticsearch: 19_192 }
const STREAM = 'logs-gateway-outage'
const DRAIN_S = 240

await main()

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-outage-'))
  const options = { dir: join(dir, 'elasticsearch'), port: PORTS.elasticsearch, jvmOptions: [] }
  let node = await startElasticsearch(options)
  const origin = await startOrigin(dir, PORTS.origin)
  const log = `{ sink: elasticsearch, fields: standard, elasticsearch: { nodes: ["${node.url}"], dataStream: ${STREAM}, replicas: 0, spool: { dir: "${dir}/spool" } } }`
  const gateway = await startGateway(dir, PORTS.sluice, PORTS.origin, log)
  const load = new SteadyLoad(PORTS.sluice, number('--rate', 5000))
  const pids = processTree(gateway.pid)
  try {
    await load.start()
    await seconds(10)
    load.span()
    const before = await phase('before', load, pids, number('--before', 30))
    await node.kill()
    await phase('outage', load, pids, number('--outage', 60))
    const restarted = performance.now()
    node = await startElasticsearch(options)
    console.log(`the node took ${Math.round((performance.now() - restarted) / 1000)} s to start`)
    load.span()
    await drain(load, pids, before)
    await load.stop()
    await settled()
    await report(node, load.total)
  } finally {
    await Promise.all([gateway.stop(), origin.stop()])
    await node.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function phase(
  name: string,
  load: SteadyLoad,
  pids: readonly number[],
  forSeconds: number,
): Promise<Span> {
  let peak = 0
  for (let i = 0; i < forSeconds; i++) {
    await seconds(1)
    peak = Math.max(peak, rss(pids))
  }
  const span = load.span()
  const { requests, failed, p50Ms, p99Ms } = span
  console.log(
    `${name}: ${requests} calls, ${failed} failed, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, resident at most ${Math.round(peak / 1024 ** 2)} MB, ${JSON.stringify(await identity())}`,
  )
  return span
}

/** Until the spool is as small as it was before the outage, while calls go on. */
async function drain(load: SteadyLoad, pids: readonly number[], before: Span): Promise<void> {
  const startedMono = performance.now()
  const isDrained = async (): Promise<boolean> => (await identity()).onDisk < (before.requests / 30) * 3
  for (let i = 0; i < DRAIN_S && !(await isDrained()); i++) await seconds(1)
  console.log(`drained after ${Math.round((performance.now() - startedMono) / 1000)} s`)
  await phase('after', load, pids, 5)
}

async function settled(): Promise<void> {
  for (let i = 0; i < DRAIN_S; i++) {
    const { onDisk, inMemory } = await identity()
    if (onDisk + inMemory === 0) return
    await seconds(1)
  }
}

async function report(node: ElasticsearchNode, sent: number): Promise<void> {
  await node.request('POST', `/${STREAM}/_refresh`)
  const { body } = await node.request('GET', `/${STREAM}/_count`)
  console.log(
    `${sent} calls, ${(body as { count: number }).count} documents, ${JSON.stringify(await identity())}`,
  )
}

async function identity(): Promise<LogIdentity> {
  // Heartbeats bring the numbers; one of them is waited for.
  await seconds(1)
  const response = await fetch(`http://127.0.0.1:${PORTS.sluice + ADMIN_PORT_OFFSET}/v1/log`)
  return (await response.json()) as LogIdentity
}

function rss(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + rssOf(pid), 0)
}

function rssOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096
  } catch {
    return 0
  }
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000))
}

function number(name: string, otherwise: number): number {
  const at = process.argv.indexOf(name)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
