import { messageOf } from '@sluice/core'
import { chunkDigest } from '../manifest/chunks.js'
import { MAX_BUNDLE_BYTES, manifestDigest, manifestProblem } from '../manifest/manifest.js'
import type { ControllerMessage, MemberMessage, MemberState } from '../protocol/messages.js'
import { PROTOCOL_VERSION } from '../protocol/messages.js'
import type { ActiveBundle, BundleFolder } from './bundle-folder.js'
import { type ConnectionOptions, type ConnectionStatus, ControlConnection } from './control-connection.js'
import type { ManagedGateway, PlacedBundle } from './managed-gateway.js'

type Order = Extract<ControllerMessage, { readonly type: 'prepare' | 'serve' }>

/** Options of `Member`. */
export interface MemberOptions extends Pick<ConnectionOptions, 'urls' | 'credentials' | 'times'> {
  readonly group: string
  /** Name for people. */
  readonly name: string
  readonly version: string
  /** Returns the URL of the admin API, or null if other machines cannot reach it. */
  readonly adminUrl: () => string | null
  readonly gateway: ManagedGateway
  readonly folder: BundleFolder
  /** Called with changes of the connection, and with the outcome of each order. */
  readonly onEvent: (event: MemberEvent) => void
  /** Maximum time between two chunks in milliseconds. */
  readonly chunkMs?: number
}

/** Something to log. */
export type MemberEvent =
  | ({ readonly kind: 'connection' } & ConnectionStatus)
  | { readonly kind: 'failure'; readonly error: unknown }
  | {
      readonly kind: 'order'
      readonly type: string
      readonly deploy: number
      readonly answer: string
      readonly reasons: readonly string[]
    }

/** A bundle whose chunks are being received. */
interface Reception {
  readonly order: Order
  readonly wanted: Set<string>
  readonly received: Map<string, Buffer>
  bytes: number
  timer: NodeJS.Timeout | undefined
}

const CHUNK_MS = 30_000
const MAX_WANTED = 20_000
/** Maximum number of orders that wait while one is carried out. */
const MAX_WAITING = 16
const DEFAULT_REPORT_MS = 5000

/**
 * A gateway's side of the protocol. Orders are handled one at a time. A new order to prepare or serve takes the place
 * of one that is not complete.
 * ```
 * prepare ─► want ─► chunks ─► disk ─► vote ─► activate ─► pointer on disk ─► outcome
 *                                          └─► discard, or the end of the hold time
 * serve ───► want ─► chunks ─► disk ────────► pointer on disk ─► outcome
 * ```
 */
export class Member {
  readonly #options: MemberOptions
  readonly #connection: ControlConnection
  #store: string | null = null
  #reception: Reception | null = null
  /** Deploy and digest of the bundle that the gateway holds, or null. */
  #prepared: { readonly deploy: number; readonly digest: string } | null = null
  /** Chunks that were requested for the order before. They may still arrive. */
  #staleChunks: ReadonlySet<string> = new Set()
  /** Deploy that was discarded last. */
  #discarded = 0
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #reports: NodeJS.Timeout | undefined
  #isReporting = false

  constructor(options: MemberOptions) {
    this.#options = options
    const { urls, credentials, times = {} } = options
    this.#connection = new ControlConnection({
      urls,
      credentials,
      times,
      hello: () => this.#hello(),
      onMessage: (message) => this.#onMessage(message),
      onChunk: (bytes) => this.#onChunk(bytes),
      onChange: (status) => this.#onChange(status),
    })
  }

  /** Connects to a controller, and again whenever the connection breaks. */
  open(): void {
    this.#connection.open()
  }

  get status(): ConnectionStatus & { readonly silenceMs: number | null } {
    return { ...this.#connection.status, silenceMs: this.#connection.silenceMs }
  }

  /** Closes the connection. `isLeaving`: the controller forgets this gateway, so that deploys do not wait for it. */
  close(options?: { readonly isLeaving: boolean }): void {
    clearInterval(this.#reports)
    this.#forget()
    this.#connection.close(options)
  }

  /** Sends a report now, in addition to the regular ones. */
  async report(): Promise<void> {
    if (this.#isReporting) return
    this.#isReporting = true
    try {
      this.#connection.send({ type: 'status', ...(await this.#state()) })
    } finally {
      this.#isReporting = false
    }
  }

  /** Active bundle of this group, or null. */
  get #active(): ActiveBundle | null {
    const { folder, group } = this.#options
    return folder.active?.group === group ? folder.active : null
  }

  async #hello(): Promise<MemberMessage> {
    const { folder, group, name, version, adminUrl } = this.#options
    const own = { member: folder.member, name, group, version, adminUrl: adminUrl() }
    return { type: 'hello', protocol: PROTOCOL_VERSION, ...own, ...(await this.#state()) }
  }

  async #state(): Promise<MemberState> {
    const state = await this.#options.gateway.state()
    const { digest = null, deploy = 0 } = this.#active ?? {}
    return { ...state, digest, deploy, at: new Date().toISOString() }
  }

  #onChange(status: ConnectionStatus): void {
    if (!status.isConnected) {
      clearInterval(this.#reports)
      this.#forget()
    }
    this.#options.onEvent({ kind: 'connection', ...status })
  }

  #onMessage(message: ControllerMessage): void {
    if (message.type === 'welcome') this.#onWelcome(message)
    else if (message.type === 'prepare' || message.type === 'serve') this.#begin(message)
    else if (message.type === 'activate') this.#inTurn(() => this.#activate(message.deploy))
    else if (message.type === 'discard') this.#discard(message.deploy)
    else if (this.#reception?.order.deploy === message.deploy)
      this.#refuse(this.#reception.order, 'the controller does not have all chunks of the bundle')
  }

  #onWelcome({ protocol, store, reportMs }: Extract<ControllerMessage, { readonly type: 'welcome' }>): void {
    if (protocol !== PROTOCOL_VERSION)
      throw new Error(
        `the controller has protocol version ${protocol}, not ${PROTOCOL_VERSION}; upgrade the older one`,
      )
    this.#store = store
    this.#reportEvery(reportMs)
  }

  #reportEvery(reportMs = DEFAULT_REPORT_MS): void {
    clearInterval(this.#reports)
    this.#reports = setInterval(() => void this.report(), reportMs)
  }

  /** Checks an order, and requests the chunks that it needs. */
  #begin(order: Order): void {
    this.#forget()
    const wanted = this.#problemOf(order) ?? this.#missingChunks(order)
    if (typeof wanted === 'string') this.#refuse(order, wanted)
    else if (wanted.size === 0) this.#inTurn(() => this.#carryOut(order, new Map()))
    else {
      this.#reception = { order, wanted, received: new Map(), bytes: 0, timer: undefined }
      this.#await(this.#reception)
      this.#connection.send({ type: 'want', deploy: order.deploy, chunks: [...wanted] })
    }
  }

  /** Returns the chunks that are not on the disk, or the reason why they cannot be requested. */
  #missingChunks({ manifest }: Order): Set<string> | string {
    try {
      const missing = this.#options.folder.missingChunks(manifest)
      return missing.length > MAX_WANTED ? `more than ${MAX_WANTED} chunks are missing` : new Set(missing)
    } catch (error) {
      return `cannot read the bundles on the disk: ${messageOf(error)}`
    }
  }

  #problemOf({ type, deploy, manifest }: Order): string | null {
    const active = this.#active
    if (active !== null && active.store === this.#store) {
      const { deploy: now, digest } = active
      if (deploy < now) return `deploy ${deploy} is older than the active deploy ${now}`
      if (deploy === now && (type === 'prepare' || manifestDigest(manifest) !== digest))
        return `deploy ${deploy} is active already`
    }
    return manifestProblem(manifest)
  }

  #onChunk(bytes: Buffer): void {
    const reception = this.#reception
    const digest = chunkDigest(bytes)
    if (reception === null || (!reception.wanted.has(digest) && this.#staleChunks.has(digest))) return
    reception.bytes += bytes.length
    if (!reception.wanted.delete(digest) || reception.bytes > MAX_BUNDLE_BYTES) {
      this.#refuse(reception.order, 'the controller sent a chunk with a wrong digest')
      throw new Error('the controller sent a chunk that was not requested')
    }
    reception.received.set(digest, Buffer.from(bytes))
    this.#await(reception)
    if (reception.wanted.size > 0) return
    this.#forget()
    this.#inTurn(() => this.#carryOut(reception.order, reception.received))
  }

  #await(reception: Reception): void {
    clearTimeout(reception.timer)
    reception.timer = setTimeout(
      () => this.#refuse(reception.order, `the controller did not send ${reception.wanted.size} chunks`),
      this.#options.chunkMs ?? CHUNK_MS,
    )
  }

  /** Ends the reception of chunks. */
  #forget(): void {
    if (this.#reception === null) return
    clearTimeout(this.#reception.timer)
    this.#staleChunks = this.#reception.wanted
    this.#reception = null
  }

  async #carryOut(order: Order, received: ReadonlyMap<string, Buffer>): Promise<void> {
    const { gateway } = this.#options
    const { deploy, type } = order
    const digest = manifestDigest(order.manifest)
    const prepared = this.#prepared
    this.#prepared = null
    if (prepared?.deploy === deploy && prepared.digest === digest && type === 'serve') {
      const outcome = await gateway.activate(deploy)
      if (outcome.outcome !== 'expired') return this.#done(type, deploy, outcome)
    } else if (prepared !== null) await gateway.discard(prepared.deploy)
    let bundle: PlacedBundle
    try {
      bundle = await this.#place(order, digest, received)
    } catch (error) {
      return this.#refuse(order, `cannot store the bundle: ${messageOf(error)}`)
    }
    if (type === 'serve') return this.#done(order.type, deploy, await gateway.serve(bundle))
    if (this.#discarded === deploy) return
    this.#prepared = { deploy, digest }
    const answer = await gateway.prepare(bundle, order.holdMs)
    if (answer.vote === 'refused') this.#prepared = null
    this.#send({ type: 'vote', deploy, ...answer }, 'prepare')
  }

  async #place(order: Order, digest: string, received: ReadonlyMap<string, Buffer>): Promise<PlacedBundle> {
    const { folder, group } = this.#options
    const { deploy, note, actor, manifest } = order
    await folder.place(manifest, received)
    folder.stage({ store: this.#store!, group, deploy, digest, note, actor })
    return {
      deploy,
      digest,
      note,
      actor,
      documentPath: folder.documentPath(digest),
      commit: () => folder.commit(deploy),
    }
  }

  async #activate(deploy: number): Promise<void> {
    if (this.#prepared?.deploy === deploy) {
      this.#prepared = null
      return this.#done('activate', deploy, await this.#options.gateway.activate(deploy))
    }
    const isActive = this.#active?.store === this.#store && this.#active?.deploy === deploy
    this.#done('activate', deploy, { outcome: isActive ? 'active' : 'expired', reasons: [] })
  }

  /** Discards at once, not in turn: the gateway may be preparing the bundle. */
  #discard(deploy: number): void {
    if (this.#reception?.order.deploy === deploy) this.#forget()
    if (this.#prepared?.deploy === deploy) this.#prepared = null
    this.#discarded = deploy
    const discarded = this.#options.gateway.discard(deploy)
    void discarded.then(() => this.#done('discard', deploy, { outcome: 'discarded', reasons: [] }))
  }

  #done(
    type: string,
    deploy: number,
    outcome: Omit<Extract<MemberMessage, { readonly type: 'outcome' }>, 'type' | 'deploy'>,
  ): void {
    this.#send({ type: 'outcome', deploy, ...outcome }, type)
    void this.report()
  }

  #refuse({ type, deploy }: Order, reason: string): void {
    if (this.#reception?.order.deploy === deploy) this.#forget()
    const reasons = [reason]
    if (type === 'prepare') this.#send({ type: 'vote', deploy, vote: 'refused', reasons }, type)
    else this.#send({ type: 'outcome', deploy, outcome: 'refused', reasons }, type)
  }

  #send(message: Extract<MemberMessage, { readonly type: 'vote' | 'outcome' }>, type: string): void {
    this.#connection.send(message)
    const { deploy, reasons } = message
    const answer = message.type === 'vote' ? message.vote : message.outcome
    this.#options.onEvent({ kind: 'order', type, deploy, answer, reasons })
  }

  #inTurn(job: () => Promise<void>): void {
    if (this.#waiting >= MAX_WAITING) throw new Error('the controller sends too many orders')
    this.#waiting++
    this.#turn = this.#turn
      .then(job)
      .catch((error: unknown) => this.#options.onEvent({ kind: 'failure', error }))
      .finally(() => this.#waiting--)
  }
}
