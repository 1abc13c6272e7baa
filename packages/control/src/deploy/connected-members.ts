import type { Manifest, MemberMessage } from '@sluice/control-client'
import type { ControlLog } from '../state/control-log.js'
import { groupOf } from '../state/control-state.js'
import type { MemberReport } from '../store/control-store.js'
import type { Bundles } from './bundles.js'
import type { Due } from './fleet-reports.js'
import { type Clock, type Hello, type MemberLink, MemberSession } from './member-session.js'

/** Maximum number of requests for chunks that one member may have waiting. */
const MAX_WANTS = 8

/** Dependencies of the members. */
export interface MembersOptions {
  readonly log: ControlLog
  readonly bundles: Bundles
  readonly clock: Clock
  /** Id of this controller. */
  readonly controller: string
  /** Called with the report of a member after each change. */
  readonly onReport: (report: MemberReport, due: Due) => void
  /** Called when a member has shut down gracefully. */
  readonly onLeave: (group: string, member: string) => void
  readonly onProblem: (event: string, error: unknown) => void
}

/** The members that are connected to this controller. It brings them to the state of their groups. */
export class ConnectedMembers {
  readonly #options: MembersOptions
  readonly #sessions = new Map<string, MemberSession>()
  readonly #loading = new Set<string>()

  constructor(options: MembersOptions) {
    this.#options = options
    options.log.onChange(() => this.reconcile())
  }

  get size(): number {
    return this.#sessions.size
  }

  reports(): MemberReport[] {
    return [...this.#sessions.values()].map((session) => session.report(this.#options.controller))
  }

  /** Adds a member. An older connection of it is closed: the member may have lost it without the controller noticing. */
  connect(hello: Hello, link: MemberLink, owner: string): MemberConnection {
    const key = `${hello.group}/${hello.member}`
    const session = new MemberSession(hello, { link, owner, clock: this.#options.clock })
    const older = this.#sessions.get(key)
    this.#sessions.set(key, session)
    older?.link.close(
      'the gateway has connected again; if this repeats, two gateways use the same data directory',
    )
    this.#changed(session, 'now')
    let wants: Promise<void> = Promise.resolve()
    let waiting = 0
    return {
      isReconnect: older !== undefined,
      receive: (message) => {
        if (this.#sessions.get(key) !== session) return
        if (message.type !== 'want') {
          this.#receive(session, message)
          return
        }
        if (++waiting > MAX_WANTS) link.close('too many requests for chunks')
        else
          wants = wants
            .then(() => this.#sendChunks(session, message))
            .catch((error) => {
              this.#options.onProblem('member.chunks_failed', error)
              link.close('the chunks are unavailable')
            })
            .finally(() => waiting--)
      },
      closed: (isLeaving) => {
        if (this.#sessions.get(key) !== session) return
        this.#sessions.delete(key)
        if (isLeaving) this.#options.onLeave(hello.group, hello.member)
        else this.#options.onReport(session.report(this.#options.controller, false), 'now')
      },
    }
  }

  /** Sends members what they need. Called after each change and regularly, for backoff and timeouts. */
  reconcile(): void {
    for (const session of this.#sessions.values()) this.#reconcile(session)
  }

  close(): void {
    for (const { link } of this.#sessions.values()) link.close('the controller is shutting down')
    this.#sessions.clear()
  }

  #receive(session: MemberSession, message: Exclude<MemberMessage, { readonly type: 'want' }>): void {
    const { digest, isCounted } = session
    if (message.type === 'vote') session.takeVote(message)
    else if (message.type === 'outcome') session.takeOutcome(message)
    else if (message.type === 'status') session.takeState(message)
    else return
    const isCompared = groupOf(this.#options.log.state, session.hello.group).pending?.canary != null
    const isSoon = isCompared || session.isCounted !== isCounted
    const isNow = message.type !== 'status' || session.digest !== digest
    this.#changed(session, isNow ? 'now' : isSoon ? 'soon' : 'later')
  }

  #changed(session: MemberSession, due: Due): void {
    this.#reconcile(session)
    this.#options.onReport(session.report(this.#options.controller), due)
  }

  #reconcile(session: MemberSession): void {
    const group = groupOf(this.#options.log.state, session.hello.group)
    session.reconcile(group, (digest) => this.#manifest(digest))
  }

  /** Returns a manifest, or null after starting to load it. */
  #manifest(digest: string): Manifest | null {
    const { bundles, onProblem } = this.#options
    const known = bundles.known(digest)
    if (known !== null || this.#loading.has(digest)) return known?.manifest ?? null
    this.#loading.add(digest)
    bundles
      .load(digest)
      .then((loaded) => {
        this.#loading.delete(digest)
        if (loaded === null) onProblem('bundle.missing', `the store does not have the bundle ${digest}`)
        else this.reconcile()
      })
      .catch((error: unknown) => {
        this.#loading.delete(digest)
        onProblem('bundle.failed', error)
      })
    return null
  }

  async #sendChunks(
    session: MemberSession,
    { deploy, chunks }: Extract<MemberMessage, { readonly type: 'want' }>,
  ): Promise<void> {
    const { bundles } = this.#options
    // A member may only read the chunks of a bundle that it was sent.
    const digest = session.bundleOf(deploy)
    const bundle = digest === null ? null : await bundles.load(digest)
    const missing: string[] = []
    for (const chunk of chunks) {
      const bytes = bundle?.chunks.has(chunk) ? await bundles.chunk(chunk) : null
      if (bytes === null) missing.push(chunk)
      else await session.link.sendChunk(bytes)
    }
    if (missing.length > 0) session.link.send({ type: 'missing', deploy, chunks: missing })
  }
}

/** The controller's end of a connection to a member. */
export interface MemberConnection {
  /** True if the member had another connection, which is closed. */
  readonly isReconnect: boolean
  receive(message: MemberMessage): void
  /** Must be called when the connection is closed. `isLeaving`: the member has shut down gracefully. */
  closed(isLeaving: boolean): void
}
