import http from 'node:http'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { killGroup, type RunningGateway, scratch, startGateway } from '../testing.js'
import { KnownLoad } from './known-load.js'

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

/**
 * A load on the gateways of a Service, on kept connections that go to pods as kube-proxy leads them: each to one that is
 * ready when it is made, and there it stays.
 */
export class ServiceLoad extends KnownLoad<Pod> {
  readonly #ready = new Set<Pod>()
  readonly #probes: Promise<void>[] = []
  #turn = 0

  /** @param clients on each listener. */
  constructor(pods: readonly Pod[], clients: number) {
    const podOf = new WeakMap<net.Socket, Pod>()
    const connectTo = (listener: number) => (): net.Socket => {
      const ready = this.readyPods
      const pod = ready[this.#turn++ % ready.length]!
      const socket = net.connect(pod.ports[listener]!, listener === 0 ? '127.0.0.1' : '127.0.0.2')
      podOf.set(socket, pod)
      return socket
    }
    super(
      pods[0]!.ports.map((_, listener) => connectTo(listener)),
      { clients, serverOf: (socket) => podOf.get(socket)! },
    )
    for (const pod of pods) {
      this.#ready.add(pod)
      this.add(pod)
    }
    this.begin()
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
    while (!this.isOver) {
      if (await isReady(pod)) this.#ready.add(pod)
      else {
        this.#ready.delete(pod)
        if (pod.process.exitCode !== null || pod.process.signalCode !== null) return
      }
      await delay(PROBE_MS)
    }
  }

  override async stop(): Promise<void> {
    await super.stop()
    await Promise.all(this.#probes)
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
