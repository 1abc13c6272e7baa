import http from 'node:http'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { killGroup, type RunningGateway, scratch, startGateway } from '../testing.js'
import { KnownLoad } from './known-load.js'

/** Interval of readiness probes in milliseconds. */
const PROBE_MS = 40

/** A gateway process that simulates a pod, with a separate log. */
export interface Pod extends RunningGateway {
  /** Ports of its listeners. */
  readonly ports: readonly number[]
  readonly logDir: string
}

/** Starts a gateway. @param document uses LOG_DIR as its log folder. @param env additional variables */
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

/** Sends SIGTERM and returns the exit code after the drain. */
export function stopPod(pod: Pod): Promise<number | null> {
  pod.process.kill('SIGTERM')
  return pod.exited
}

/** Sends SIGKILL to all processes of the gateway, as for a container. */
export async function killPod(pod: Pod): Promise<void> {
  killGroup(pod.process)
  await pod.exited
}

/**
 * Load on the gateways of a Service, on persistent connections. As with kube-proxy, each new connection goes to a pod
 * that is ready at that time, and stays there.
 */
export class ServiceLoad extends KnownLoad<Pod> {
  readonly #ready = new Set<Pod>()
  readonly #probes: Promise<void>[] = []
  #turn = 0

  /** @param clients number of clients per listener */
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

  /** Pods that get new connections. */
  get readyPods(): readonly Pod[] {
    return [...this.#ready]
  }

  /** Tracks the readiness of another pod until its process exits. */
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

/** Returns the result of a readiness probe. */
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
