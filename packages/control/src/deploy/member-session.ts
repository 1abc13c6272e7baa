import type { ControllerMessage, Manifest, MemberMessage, MemberState } from '@sluice/control-client'
import { type Deploy, type Group, isCanary } from '../state/control-state.js'
import type { MemberReport, MemberVote } from '../store/control-store.js'

/** Backoff for members that cannot activate the committed bundle, in milliseconds. */
const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 300_000
/** Time for an answer to `activate` or `serve`, in milliseconds. */
const ANSWER_MS = 120_000
/** Additional time for which members hold a prepared bundle after the deadline of the deploy, in milliseconds. */
const HOLD_MARGIN_MS = 30_000
const MAX_HOLD_MS = 300_000

/** Connection to a member. */
export interface MemberLink {
  send(message: ControllerMessage): void
  /** Sends a chunk. Resolves when the connection can take more. */
  sendChunk(bytes: Buffer): Promise<void>
  close(reason: string): void
}

/** Clock of a controller. */
export interface Clock {
  /** Current time in milliseconds since 1970. It may jump. */
  readonly wallMs: () => number
  /** Milliseconds of a clock that does not jump. */
  readonly steadyMs: () => number
}

/** First message of a member. */
export type Hello = Extract<MemberMessage, { readonly type: 'hello' }>

/** Connection of a session. */
export interface SessionOptions extends Pick<MemberSession, 'link' | 'owner'> {
  readonly clock: Clock
}

/** A member that is connected to this controller. */
export class MemberSession {
  readonly hello: Hello
  readonly link: MemberLink
  /** Token id or certificate of the connection. */
  readonly owner: string
  readonly #clock: Clock
  #state: MemberState
  #clockDifferenceMs = 0
  #vote: MemberVote | null = null
  /** The deploy for which `prepare` was sent and that was undecided then. */
  #prepared: Deploy | null = null
  /** The deploy that the member was told to activate, until it answers. */
  #awaited: { readonly deploy: number; readonly digest: string; readonly sinceMs: number } | null = null
  /** The deploy that was sent to this member as a canary last. */
  #served = 0
  #failures = 0
  #retryAtMs = 0
  #driftReason: string | null = null
  /** The deploy that the failures are about. */
  #failed = 0

  constructor(hello: Hello, { link, owner, clock }: SessionOptions) {
    this.hello = hello
    this.link = link
    this.owner = owner
    this.#clock = clock
    this.#state = hello
    this.takeState(hello)
  }

  get vote(): MemberVote | null {
    return this.#vote
  }

  get digest(): string | null {
    return this.#state.digest
  }

  /** True if the member has reported counters since its last activation. */
  get isCounted(): boolean {
    return this.#state.totals !== undefined
  }

  /** Returns the bundle whose chunks the member may request for this number, or null. */
  bundleOf(deploy: number): string | null {
    return [this.#prepared, this.#awaited].find((one) => one?.deploy === deploy)?.digest ?? null
  }

  takeState(state: MemberState): void {
    const { digest, deploy, isReady, reason, workers, at, drift, figures, totals } = state
    const always = { digest, deploy, isReady, reason, workers, at, figures }
    this.#state = {
      ...always,
      ...(drift === undefined ? {} : { drift }),
      ...(totals === undefined ? {} : { totals }),
    }
    // The answer may be lost if the member reconnects.
    if (this.#awaited?.deploy === deploy) this.#awaited = null
    const atMs = Date.parse(at)
    this.#clockDifferenceMs = Number.isNaN(atMs) ? 0 : atMs - this.#clock.wallMs()
  }

  takeVote({ deploy, vote, reasons }: Extract<MemberMessage, { readonly type: 'vote' }>): void {
    if (this.#prepared?.deploy === deploy) this.#vote = { deploy, vote, reasons }
  }

  takeOutcome({ deploy, outcome, reasons }: Extract<MemberMessage, { readonly type: 'outcome' }>): void {
    const awaited = this.#awaited
    if (awaited?.deploy !== deploy) return
    this.#awaited = null
    if (outcome === 'active') {
      // Its counters are from before the activation.
      const { totals: _, ...state } = this.#state
      this.#state = { ...state, deploy, digest: awaited.digest }
      this.#failures = 0
      this.#driftReason = null
    } else if (outcome === 'refused') this.#fail(deploy, reasons.join('; ') || 'refused without a reason')
  }

  /** Sends what the member needs to get to the state of its group. `manifestOf` returns null while one is loading. */
  reconcile(group: Group, manifestOf: (digest: string) => Manifest | null): void {
    this.#settle(group)
    const { pending, head, returnNumber } = group
    const isCanaryRunning = pending?.canary != null && pending.canary.phase !== 'passed'
    if (pending !== null && isCanary(group, this.hello.member)) {
      if (isCanaryRunning) this.#serveFirst(pending, manifestOf)
    } else if (pending !== null && !isCanaryRunning) this.#prepare(pending, manifestOf)
    else if (head !== null) {
      const number = this.#state.deploy > head.deploy ? returnNumber : head.deploy
      this.#catchUp({ ...head, deploy: number }, manifestOf)
    }
  }

  report(controller: string, isConnected = true): MemberReport {
    const { owner, hello } = this
    const { member, group, name, version, adminUrl } = hello
    return {
      ...{ member, group, name, version, adminUrl, controller, isConnected, owner, state: this.#state },
      ...{ clockDifferenceMs: this.#clockDifferenceMs, vote: this.#vote, driftReason: this.#driftReason },
    }
  }

  /** Sends the bundle of a deploy to a canary, once. */
  #serveFirst(pending: Deploy, manifestOf: (digest: string) => Manifest | null): void {
    if (this.#served === pending.deploy || this.#state.digest === pending.digest) return
    const manifest = manifestOf(pending.digest)
    if (manifest === null) return
    this.#served = pending.deploy
    this.#serve(pending, manifest)
  }

  #serve({ deploy, digest, note, actor }: Deploy, manifest: Manifest): void {
    this.#awaited = { deploy, digest, sinceMs: this.#clock.steadyMs() }
    this.link.send({ type: 'serve', deploy, manifest, note, actor })
  }

  #prepare(pending: Deploy, manifestOf: (digest: string) => Manifest | null): void {
    if (this.#prepared !== null) return
    const manifest = manifestOf(pending.digest)
    if (manifest === null) return
    const { deploy, note, actor, deadlineMs } = pending
    const holdMs = Math.min(MAX_HOLD_MS, deadlineMs + HOLD_MARGIN_MS)
    this.#prepared = pending
    this.#vote = null
    this.link.send({ type: 'prepare', deploy, manifest, holdMs, note, actor })
  }

  /** Tells the member how the deploy ended that it prepared. */
  #settle({ deploys, pending }: Group): void {
    const prepared = this.#prepared
    if (prepared === null || prepared.deploy === pending?.deploy) return
    this.#prepared = null
    const { deploy, digest } = prepared
    const isCommitted = deploys.find((known) => known.deploy === deploy)?.status === 'committed'
    if (isCommitted && this.#vote !== null && this.#vote.vote !== 'refused') {
      this.#awaited = { deploy, digest, sinceMs: this.#clock.steadyMs() }
      this.link.send({ type: 'activate', deploy })
    } else this.link.send({ type: 'discard', deploy })
  }

  #catchUp(head: Deploy, manifestOf: (digest: string) => Manifest | null): void {
    const now = this.#clock.steadyMs()
    if (this.#failed !== head.deploy) this.#failures = 0
    const awaited = this.#awaited
    if (awaited !== null) {
      if (now - awaited.sinceMs < ANSWER_MS) return
      this.#awaited = null
      this.#fail(awaited.deploy, `no answer within ${ANSWER_MS / 1000} s`)
    }
    if (this.#state.digest === head.digest) this.#driftReason = null
    // The operator of a gateway may replace its bundle until the next deploy.
    const isReplaced = this.#state.drift !== undefined && this.#state.deploy >= head.deploy
    if (this.#state.digest === head.digest || isReplaced) return
    if (this.#failures > 0 && now < this.#retryAtMs) return
    const manifest = manifestOf(head.digest)
    if (manifest === null) return
    this.#serve(head, manifest)
  }

  #fail(deploy: number, reason: string): void {
    this.#failures = this.#failed === deploy ? this.#failures + 1 : 1
    this.#failed = deploy
    this.#driftReason = reason
    const backoffMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures - 1, 20))
    this.#retryAtMs = this.#clock.steadyMs() + backoffMs
  }
}
