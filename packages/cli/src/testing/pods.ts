import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { killGroup, type RunningGateway, scratch, startGateway, until } from '../testing.js'

/** Each loop of the load waits so long between an answer and its next request: the machine has gateways to start. */
const PAUSE_MS = 10
/** Every so many requests one ends its connection, and another finds pods that are new. */
const RENEW_EVERY = 25
/** How often readiness is asked for; endpoints follow at once. */
const PROBE_MS = 40

/** A gateway in place of a pod, with a log of its own. */
export interface Pod extends RunningGateway {
  /** Of its listeners. */
  readonly ports: readonly number[]
  readonly logDir: string
}

/** @param document finds the folder of its log in LOG_DIR. @param env what its Secret has. */
export async function startPod(
  t: TestContext,
  document: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Pod> {
  const logDir = scratch(t)
  const gateway = await startGateway(t, document, [], { env: { LOG_DIR: logDir, ...env } })
  const urls = [...gateway.outputText().matchAll(/^listening on (\S+)/gm)].map(([, url]) => new URL(url!))
  return { ...gateway, ports: urls.map(({ port }) => Number(port)), logDir }
}

/** SIGTERM, and the exit code once it has drained. */
export function stopPod(pod: Pod): Promise<number | null> {
  pod.process.kill('SIGTERM')
  return pod.exited
}

/** SIGKILL for all its processes, as for those of a container. */
export async function killPod(pod: Pod): Promise<void> {
  killGroup(pod.process)
  await pod.exited
}

/** A request that was not answered with 200. */
export interface Failure {
  readonly id: number
  readonly pod: Pod
  readonly why: string
}

/**
 * A load that knows its requests, on kept connections that go to pods as kube-proxy leads them: each to one that is ready
 * when it is made, and there it stays. Request n asks for the path `/r/n`.
 */
export class ServiceLoad {
  readonly failures: Failure[] = []
  /** Who answered each request that got 200. */
  readonly answered = new Map<number, Pod>()
  readonly #ready = new Set<Pod>()
  readonly #probes: Promise<void>[] = []
  readonly #podOf = new WeakMap<net.Socket, Pod>()
  readonly #agents: http.Agent[] = []
  readonly #loops: Promise<void>[]
  #next = 0
  #turn = 0
  #isOver = false

  /** @param clients on each listener. */
  constructor(pods: readonly Pod[], clients: number) {
    for (const pod of pods) {
      this.#ready.add(pod)
      this.add(pod)
    }
    this.#loops = pods[0]!.ports.flatMap((_, listener) => {
      const agent = this.#agent(listener)
      return Array.from({ length: clients }, () => this.#ask(agent))
    })
  }

  /** Those that get new connections. */
  get readyPods(): readonly Pod[] {
    return [...this.#ready]
  }

  /** Follows the readiness of one more pod, until its process has gone. */
  add(pod: Pod): void {
    this.#probes.push(this.#probe(pod))
  }

  async #probe(pod: Pod): Promise<void> {
    while (!this.#isOver) {
      if (await isReady(pod)) this.#ready.add(pod)
      else {
        this.#ready.delete(pod)
        if (pod.process.exitCode !== null || pod.process.signalCode !== null) return
      }
      await delay(PROBE_MS)
    }
  }

  #agent(listener: number): http.Agent {
    const agent = new http.Agent({ keepAlive: true })
    agent.createConnection = () => {
      const pods = this.readyPods
      const pod = pods[this.#turn++ % pods.length]!
      const socket = net.connect(pod.ports[listener]!, listener === 0 ? '127.0.0.1' : '127.0.0.2')
      this.#podOf.set(socket, pod)
      return socket
    }
    this.#agents.push(agent)
    return agent
  }

  async #ask(agent: http.Agent): Promise<void> {
    while (!this.#isOver) {
      const id = this.#next++
      await this.#call(id, agent)
      await delay(PAUSE_MS)
    }
  }

  #call(id: number, agent: http.Agent): Promise<void> {
    return new Promise((resolve) => {
      let pod!: Pod
      const fail = (why: string): void => {
        this.failures.push({ id, pod, why })
        resolve()
      }
      const headers = id % RENEW_EVERY === 0 ? { connection: 'close' } : {}
      const request = http.get({ agent, path: `/r/${id}`, host: 'service', headers }, (res) => {
        res.resume()
        res.on('error', ({ message }) => fail(message))
        res.on('end', () => {
          if (res.statusCode !== 200) return fail(String(res.statusCode))
          this.answered.set(id, pod)
          resolve()
        })
      })
      request.on('socket', (socket) => (pod = this.#podOf.get(socket as net.Socket)!))
      request.on('error', ({ message }) => fail(message))
    })
  }

  answeredBy(pod: Pod): number[] {
    return [...this.answered].filter(([, by]) => by === pod).map(([id]) => id)
  }

  /** Waits until so many more requests were answered by each of these. */
  async served(pods: readonly Pod[], requests: number): Promise<void> {
    const first = this.#next
    await until(() => pods.every((pod) => this.#answersOf(pod, first) >= requests))
  }

  #answersOf(pod: Pod, first: number): number {
    let answers = 0
    for (let id = first; id < this.#next; id++) if (this.answered.get(id) === pod) answers++
    return answers
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all([...this.#loops, ...this.#probes])
    for (const agent of this.#agents) agent.destroy()
  }
}

/** What a readiness probe hears. */
function isReady(pod: Pod): Promise<boolean> {
  return new Promise((resolve) => {
    http
      .get(`${pod.admin}/readyz`, { agent: false }, (res) => {
        res.resume()
        resolve(res.statusCode === 200)
      })
      .on('error', () => resolve(false))
  })
}

/** How often each request is in the log of a pod. */
export function countRecords({ logDir }: Pod): Map<number, number> {
  const counts = new Map<number, number>()
  for (const name of readdirSync(logDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ndjson')) continue
    for (const [, id] of readFileSync(join(logDir, name), 'utf8').matchAll(/"path":"\/r\/(\d+)"/g)) {
      counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1)
    }
  }
  return counts
}
