import { setTimeout as sleep } from 'node:timers/promises'
import calculateSlot from '@redis/client/dist/lib/utils/calculate-slot.js'
import { StateUnavailable } from '@sluice/core'
import { readLayout, readRedirect, SLOTS, type SlotRange } from './cluster-layout.js'
import { type Argument, NOT_CONNECTED } from './connection.js'
import {
  type SendOptions,
  type ServerOptions,
  ServerRefused,
  ValkeyServer,
  type ValkeyServers,
} from './server.js'

/** Options for `ValkeyCluster`. */
export interface ClusterOptions extends Omit<ServerOptions, 'plan' | 'onChange'> {
  readonly plan: Omit<ServerOptions['plan'], 'url'>
  /** Seed nodes, all with the same scheme. */
  readonly urls: readonly string[]
}

/** Maximum number of redirects per call. */
const MAX_REDIRECTS = 5
/** Maximum number of calls waiting for a connection to a new node. */
const MAX_FOLLOWING = 1000
/** Maximum number of nodes. */
const MAX_NODES = 256
/** Time in milliseconds that a redirect target is kept without being in the layout. */
const REDIRECTED_MS = 60_000
/** Maximum number of nodes asked in turn for the layout. */
const MAX_ASKED = 5
/**
 * Refresh interval of the layout while a node is unavailable, and minimum pause between refreshes, in
 * milliseconds.
 */
const LEARN_AGAIN_MS = 500
const LEARN_PAUSE_MS = 100
/** Longest wait for all nodes before a worker becomes ready, in milliseconds. */
const OPENED_WITHIN_MS = 2000

/**
 * Not the package `cluster-key-slot`, from which this was derived: it treats `{}` in a key as the start of a
 * tag.
 */
const slotOf = calculateSlot.default

/**
 * The primaries of a Valkey or Redis cluster, with a connection to each. The layout is read from any node,
 * and again when a node reports a change or becomes unavailable. Discovered nodes are contacted over TLS if
 * the configured ones are.
 *
 * The library's cluster client is not used. A node that accepts connections without answering makes it wait forever, and
 * an answer with invalid slots crashes the process.
 */
export class ValkeyCluster implements ValkeyServers {
  readonly opened: Promise<void>
  readonly #options: ClusterOptions
  readonly #protocol: string
  /**
   * Nodes by host and port: the primaries. Also the configured nodes until the primaries are known, and while
   * none of them answers.
   */
  readonly #nodes = new Map<string, ValkeyServer>()
  readonly #owners: (ValkeyServer | null)[] = new Array(SLOTS).fill(null)
  /** Time when a node was last the target of a redirect, by address. */
  readonly #redirectedMono = new Map<string, number>()
  #isKnown = false
  /** Problem of the layout; null if every slot has a node. */
  #layoutProblem: string | null = 'has not been discovered yet'
  #learning: Promise<void> | null = null
  #learnedMono = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null
  #onKnown = (): void => {}
  #following = 0
  #isClosed = false

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#protocol = new URL(options.urls[0]!).protocol
    const known = new Promise<void>((resolve) => {
      this.#onKnown = resolve
    })
    this.#openSeeds()
    const tried = this.#allOpened().then(() => this.#learn())
    this.opened = Promise.race([
      Promise.race([known, tried]).then(() => this.#allOpened()),
      sleep(OPENED_WITHIN_MS, undefined, { ref: false }),
    ])
  }

  get problem(): string | null {
    for (const { problem, address } of this.#nodes.values())
      if (problem !== null) return `${address} ${problem}`
    return this.#layoutProblem
  }

  get isSlow(): boolean {
    return [...this.#nodes.values()].some(({ isSlow }) => isSlow)
  }

  async send(key: Argument, args: readonly Argument[], options: SendOptions = {}): Promise<unknown> {
    const slot = slotOf(key)
    const startedMono = performance.now()
    let server = this.#ownerOf(slot)
    let isAsking = false
    for (let redirects = 0; ; redirects++) {
      try {
        return await server.ask(args, { ...options, startedMono, isAsking })
      } catch (error) {
        const redirect = error instanceof ServerRefused ? readRedirect(error.words, server.address) : null
        if (redirect === null || redirect.slot !== slot || redirects === MAX_REDIRECTS)
          throw this.#failureOf(error, server)
        server = this.#targetOf(redirect.address)
        await this.#connected(server, startedMono)
        isAsking = redirect.kind === 'ASK'
        if (!isAsking) this.#owners[slot] = server
      }
    }
  }

  all(): readonly ValkeyServer[] {
    if (this.#layoutProblem !== null) throw this.#unavailable(`the cluster: ${this.problem}`)
    return [...new Set(this.#owners)].filter((owner) => owner !== null)
  }

  close(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const node of this.#nodes.values()) node.close()
  }

  async #allOpened(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map(({ opened }) => opened))
  }

  #openSeeds(): void {
    for (const url of this.#options.urls) this.#openNode(url)
  }

  #openNode(url: string): ValkeyServer {
    const { host } = new URL(url)
    const known = this.#nodes.get(host)
    if (known !== undefined) return known
    const { plan, urls, ...shared } = this.#options
    const onChange = (): void => this.#learnSoon(LEARN_PAUSE_MS)
    const node = new ValkeyServer({ ...shared, plan: { ...plan, url }, onChange })
    this.#nodes.set(host, node)
    return node
  }

  #ownerOf(slot: number): ValkeyServer {
    const owner = this.#owners[slot]
    if (owner != null) return owner
    this.#options.counts.refused++
    throw this.#unavailable(this.#isKnown ? `no node has slot ${slot}` : `the cluster: ${this.problem}`)
  }

  /** Returns the target of a redirect. A node that is receiving its first slots is not in the layout yet. */
  #targetOf(address: string): ValkeyServer {
    if (this.#isClosed) throw new StateUnavailable('the store is closed')
    if (!this.#nodes.has(address) && this.#nodes.size >= MAX_NODES)
      throw this.#unavailable(`the cluster lists more than ${MAX_NODES} nodes`)
    this.#redirectedMono.set(address, performance.now())
    this.#learnSoon(LEARN_PAUSE_MS)
    return this.#openNode(`${this.#protocol}//${address}`)
  }

  /** Waits for the connection to a new node, at most for the timeout of a call. */
  async #connected(server: ValkeyServer, startedMono: number): Promise<void> {
    if (server.problem !== NOT_CONNECTED) return
    if (this.#following >= MAX_FOLLOWING) throw this.#unavailable('too many calls are waiting for a new node')
    this.#following++
    const leftMs = startedMono + this.#options.timeoutMs - performance.now()
    await Promise.race([server.opened, sleep(Math.max(1, leftMs), undefined, { ref: false })])
    this.#following--
  }

  #learnSoon(waitMs: number): void {
    if (this.#isClosed) return
    const learn = (): void => {
      this.#timer = null
      void this.#learn()
    }
    this.#timer ??= setTimeout(learn, waitMs).unref()
  }

  /** Reads the layout. Concurrent callers share one answer. Never rejects. */
  #learn(): Promise<void> {
    this.#learning ??= this.#learnNow().finally(() => {
      this.#learning = null
      this.#learnedMono = performance.now()
      if (this.problem !== null) this.#learnSoon(LEARN_AGAIN_MS)
    })
    return this.#learning
  }

  async #learnNow(): Promise<void> {
    const pauseMs = this.#learnedMono + LEARN_PAUSE_MS - performance.now()
    if (pauseMs > 0) await sleep(pauseMs, undefined, { ref: false })
    if (this.#isClosed) return
    for (const node of this.#nodesToAsk()) {
      try {
        const layout = readLayout(await node.ask(['CLUSTER', 'SLOTS']), node.address)
        if (!this.#isClosed) this.#apply(layout)
        return
      } catch (error) {
        if (this.#isClosed) return
        this.#noteFailure(`${node.address} ${(error as Error).message}`)
      }
    }
  }

  /**
   * Returns nodes to ask for the layout, in random order. Any node can answer, but one cut off from the
   * others may be outdated.
   */
  #nodesToAsk(): ValkeyServer[] {
    const there = [...this.#nodes.values()].filter(({ problem }) => problem === null)
    if (there.length === 0) this.#openSeeds()
    const begin = Math.floor(Math.random() * there.length)
    return [...there.slice(begin), ...there.slice(0, begin)].slice(0, MAX_ASKED)
  }

  #noteFailure(problem: string): void {
    if (this.#isKnown || problem === this.#layoutProblem) return
    this.#layoutProblem = problem
    this.#options.report('state_unavailable', { server: 'cluster', problem })
  }

  #apply(layout: readonly SlotRange[]): void {
    this.#closeAllBut(new Set(layout.map(({ address }) => address)))
    this.#owners.fill(null)
    let missing = SLOTS
    for (const { from, to, address } of layout) {
      this.#owners.fill(this.#openNode(`${this.#protocol}//${address}`), from, to + 1)
      missing -= to - from + 1
    }
    this.#isKnown = true
    this.#layoutProblem = missing > 0 ? `has no node for ${missing} slots` : null
    this.#onKnown()
  }

  #closeAllBut(named: ReadonlySet<string>): void {
    const keptMono = performance.now() - REDIRECTED_MS
    for (const [address, node] of this.#nodes) {
      if (named.has(address) || (this.#redirectedMono.get(address) ?? Number.NEGATIVE_INFINITY) > keptMono)
        continue
      node.close()
      this.#nodes.delete(address)
      this.#redirectedMono.delete(address)
    }
  }

  #failureOf(error: unknown, server: ValkeyServer): StateUnavailable {
    const { message } = error as Error
    // In a partitioned cluster, nodes that answer this are in the minority.
    if (message.includes('CLUSTERDOWN')) this.#learnSoon(LEARN_PAUSE_MS)
    return this.#unavailable(`${server.address}: ${message}`)
  }

  /** Creates the error of a failed call. It is partial while any node is available. */
  #unavailable(message: string): StateUnavailable {
    const isPartial = this.#isKnown && [...this.#nodes.values()].some(({ problem }) => problem === null)
    return new StateUnavailable(message, isPartial)
  }
}
