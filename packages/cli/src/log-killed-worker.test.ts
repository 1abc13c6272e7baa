import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { identityOf } from './testing/elasticsearch-fixture.js'
import { origin, type RunningGateway, scratch, startGateway, statusOf, until } from './testing.js'

// A worker shares a CPU with busy programs and is killed again and again.

const KILLS = 5
const CLIENTS = 16
/** Responses after which a worker is killed at the latest. */
const MAX_RESPONSES = 600
const BUSY_PROGRAMS = 3
const skip =
  existsSync('/dev/shm') && spawnSync('taskset', ['--version']).status === 0
    ? false
    : 'needs /dev/shm and taskset'

/** Elasticsearch as far as the log needs it. It counts how often each request was stored. */
async function bulkServer(t: TestContext) {
  const stored = new Map<number, number>()
  const known = new Set<string>()
  const store = (action: string, record: string): object => {
    const { _id } = JSON.parse(action).create
    if (known.has(_id)) return { create: { status: 409 } }
    known.add(_id)
    const { url } = JSON.parse(record)
    if (url !== undefined) {
      const id = Number(/^\/r\/(\d+)$/.exec(url.path)![1])
      stored.set(id, (stored.get(id) ?? 0) + 1)
    }
    return { create: { status: 201 } }
  }
  const server = http.createServer((req, res) => {
    let text = ''
    req.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    req.on('end', () => {
      const lines = text.trimEnd().split('\n')
      const items = lines.flatMap((line, i) => (i % 2 === 0 ? [store(line, lines[i + 1]!)] : []))
      const fields = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' }
      res.writeHead(200, fields).end(JSON.stringify({ errors: true, items }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  return { stored, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Numbered requests on persistent connections. */
class NumberedLoad {
  sent = 0
  answered = 0
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** Sends requests until all connections fail. */
  async run(onAnswer: () => void): Promise<void> {
    const agent = new http.Agent({ keepAlive: true })
    const client = async (): Promise<void> => {
      while (await this.#ask(agent, onAnswer));
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    agent.destroy()
  }

  #ask(agent: http.Agent, onAnswer: () => void): Promise<boolean> {
    return new Promise((resolve) => {
      const request = http.get(`${this.#url}/r/${this.sent++}`, { agent }, (res) => {
        this.answered++
        onAnswer()
        res.resume().on('end', () => resolve(true))
      })
      request.on('error', () => resolve(false))
    })
  }
}

function firstCore(): string {
  return /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!
}

function keepBusy(t: TestContext, core: string): void {
  const program = ['-c', core, 'sh', '-c', 'while :; do :; done']
  const busy: ChildProcess[] = Array.from({ length: BUSY_PROGRAMS }, () => spawn('taskset', program))
  t.after(() => {
    for (const child of busy) child.kill('SIGKILL')
  })
}

async function readyWorker(gateway: RunningGateway, before: number): Promise<number> {
  let pid = 0
  await until(async () => {
    const worker = (await statusOf(gateway.admin)).workers[0]!
    pid = worker.pid ?? 0
    return worker.state === 'ready' && pid !== before
  })
  return pid
}

function documentTo(t: TestContext, node: string, engine: string, routes: string): string {
  const settings = { nodes: [node], manage: false, spool: { dir: join(scratch(t), 'spool') } }
  return `version: 1
listeners: [{ address: "127.0.0.1:0", engine: ${engine} }]
admin: { address: "127.0.0.1:0" }
workers: 1
${routes}
log: { sink: elasticsearch, elasticsearch: ${JSON.stringify(settings)} }
`
}

test('a request under way in a killed worker counts as a lost record, and a recorded one does not', {
  skip,
}, async (t) => {
  const target = await bulkServer(t)
  let isHeld = false
  const upstream = await origin(t, (req, res) => {
    if (req.url === '/r/0') res.end()
    else isHeld = true
  })
  const routes = `routes: [{ id: all, match: { path: /* }, upstream: up }]
upstreams: { up: { targets: ["${upstream}"] } }`
  const gateway = await startGateway(t, documentTo(t, target.url, 'node', routes))
  const pid = await readyWorker(gateway, 0)
  await (await fetch(`${gateway.url}/r/0`)).text()
  await until(() => target.stored.size === 1)
  const held = assert.rejects(fetch(`${gateway.url}/r/1`))
  await until(() => isHeld)
  process.kill(pid, 'SIGKILL')
  await held
  await until(async () => (await identityOf(gateway.admin)).dropped > 0)
  assert.deepEqual((await identityOf(gateway.admin)).droppedBy, { process_lost: 1 })
  assert.deepEqual([...target.stored], [[0, 1]])
})

for (const engine of ['uws', 'node']) {
  test(`every answered request of a killed worker is stored or counted, with engine ${engine}`, {
    skip,
  }, async (t) => {
    const target = await bulkServer(t)
    const routes = 'routes: [{ id: all, match: { path: /* }, respond: { status: 200 } }]'
    const gateway = await startGateway(t, documentTo(t, target.url, engine, routes))
    const core = firstCore()
    keepBusy(t, core)
    const load = new NumberedLoad(gateway.url)
    let pid = 0
    for (let kills = 0; kills < KILLS; kills++) {
      pid = await readyWorker(gateway, pid)
      spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', core, String(pid)])
      const last = load.answered + 1 + Math.floor(Math.random() * MAX_RESPONSES)
      // A response has just left the worker, which may not have recorded it yet.
      await load.run(() => load.answered === last && process.kill(pid, 'SIGKILL'))
      await until(
        async () => {
          const { dropped, onDisk, inMemory } = await identityOf(gateway.admin)
          return onDisk + inMemory === 0 && target.stored.size + dropped >= load.answered
        },
        () => `${load.answered} answered, ${target.stored.size} stored, then ${gateway.logText()}`,
      )
    }
    const { dropped, droppedBy } = await identityOf(gateway.admin)
    assert.deepEqual(droppedBy, dropped === 0 ? {} : { process_lost: dropped })
    assert.ok(target.stored.size + dropped <= load.sent, `${dropped} lost of ${load.sent}`)
    assert.ok([...target.stored.values()].every((times) => times === 1))
    t.diagnostic(
      `${load.sent} sent, ${load.answered} answered, ${target.stored.size} stored, ${dropped} lost`,
    )
  })
}
