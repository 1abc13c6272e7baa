import type { Deploy, Group } from '../state/control-state.js'
import type { CanaryProgress } from '../store/canary.js'
import type { KnownMember } from './fleet.js'
import type { Clock } from './member-session.js'
import { type Verdict, verdictOf } from './verdict.js'

/** Time for members to activate a committed bundle before the result is reported without them, in milliseconds. */
const ACTIVATION_MS = 15_000
/** Interval of events about a canary, in milliseconds. */
const CANARY_EVENT_MS = 5000

/** Progress of a deploy. */
export type DeployEvent =
  | { readonly event: 'started'; readonly deploy: number; readonly members: readonly string[] }
  | {
      readonly event: 'vote'
      /** Name of the member. */
      readonly member: string
      readonly vote: string
      readonly reasons: readonly string[]
    }
  | ({ readonly event: 'canary' } & CanaryProgress)
  | { readonly event: 'committed' }
  | { readonly event: 'active'; readonly member: string }

/** State of a member after a deploy. */
export interface MemberOutcome {
  readonly member: string
  readonly name: string
  readonly outcome: 'active' | 'away' | 'pending'
  readonly reason: string | null
}

/** Result of a deploy. */
export interface DeployResult {
  readonly result: 'committed' | 'aborted'
  readonly group: string
  readonly deploy: number
  readonly digest: string
  readonly reasons: readonly string[]
  /** All known members, or the canaries of an aborted deploy. `active`: serves the committed bundle. */
  readonly members: readonly MemberOutcome[]
}

/** A deploy that this controller coordinates. */
export class RunningDeploy {
  readonly group: string
  readonly deploy: number
  /** Resolves when the deploy is aborted, or committed and active on all members that are connected. */
  readonly done: Promise<DeployResult>
  readonly #clock: Clock
  readonly #quorumPercent: number
  readonly #prepareMs: number
  #deadlineMs: number | null = null
  /** Steps by their key: a few per member. */
  readonly #events = new Map<string, DeployEvent>()
  readonly #listeners = new Set<(event: DeployEvent) => void>()
  #finish: (result: DeployResult) => void = () => {}
  #decidedMs: number | null = null
  #canaryMs = Number.NEGATIVE_INFINITY
  #phase = ''

  constructor({ name, deploys }: Group, deploy: number, clock: Clock) {
    const { quorumPercent, deadlineMs } = deploys.find((known) => known.deploy === deploy)!
    this.group = name
    this.deploy = deploy
    this.done = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#clock = clock
    this.#quorumPercent = quorumPercent
    this.#prepareMs = deadlineMs
  }

  /** Calls the listener for each step, also for earlier ones. */
  onEvent(listener: (event: DeployEvent) => void): void {
    for (const event of this.#events.values()) listener(event)
    this.#listeners.add(listener)
  }

  /** Tells listeners about the canaries, from time to time. */
  tellCanary(progress: CanaryProgress): void {
    const now = this.#clock.steadyMs()
    if (progress.phase === this.#phase && now - this.#canaryMs < CANARY_EVENT_MS) return
    this.#phase = progress.phase
    this.#canaryMs = now
    this.#events.delete('canary')
    this.#tell('canary', { event: 'canary', ...progress })
  }

  /** Decides about the deploy to all members. */
  verdict({ digest, canary }: Deploy, members: readonly KnownMember[]): Verdict {
    this.#deadlineMs ??= this.#clock.steadyMs() + this.#prepareMs
    const known = members.filter(({ group }) => group === this.group)
    const names = known.filter(({ isConnected }) => isConnected).map(({ name }) => name)
    this.#tell('started', { event: 'started', deploy: this.deploy, members: names })
    const voters = known.map(({ name, member, isConnected, vote, state }) => {
      const isActive = canary !== null && state.deploy === this.deploy && state.digest === digest
      const active = isActive ? { deploy: this.deploy, vote: 'unchanged' as const, reasons: [] } : null
      const own = vote?.deploy === this.deploy ? vote : active
      if (own !== null)
        this.#tell(`vote ${member}`, { event: 'vote', member: name, vote: own.vote, reasons: own.reasons })
      return { name, isConnected, vote: own }
    })
    const isOverdue = this.#clock.steadyMs() >= this.#deadlineMs
    return verdictOf({ voters, quorumPercent: this.#quorumPercent, isOverdue })
  }

  /** Returns the result if the deploy has ended, otherwise null. */
  advance({ deploys, head }: Group, members: readonly KnownMember[]): DeployResult | null {
    const deploy = deploys.find((known) => known.deploy === this.deploy)
    if (deploy === undefined || deploy.status === 'pending') return null
    const isCommitted = deploy.status === 'committed'
    const canaries = deploy.canary?.members.map(({ member }) => member) ?? []
    const outcomes = members
      .filter(({ group, member }) => group === this.group && (isCommitted || canaries.includes(member)))
      .map((member) => outcomeOf(member, isCommitted ? deploy : head))
    this.#decidedMs ??= this.#clock.steadyMs()
    if (isCommitted) {
      this.#tell('committed', { event: 'committed' })
      for (const { member, name, outcome } of outcomes)
        if (outcome === 'active') this.#tell(`active ${member}`, { event: 'active', member: name })
    }
    const isWaiting = outcomes.some(({ outcome, reason }) => outcome === 'pending' && reason === null)
    if (isWaiting && this.#clock.steadyMs() - this.#decidedMs < ACTIVATION_MS) return null
    const { group, digest, reasons } = deploy
    const outcome = {
      result: isCommitted ? ('committed' as const) : ('aborted' as const),
      group,
      digest,
      reasons,
    }
    const result = { ...outcome, deploy: this.deploy, members: outcomes }
    this.#finish(result)
    this.#listeners.clear()
    return result
  }

  #tell(key: string, event: DeployEvent): void {
    if (this.#events.has(key)) return
    this.#events.set(key, event)
    for (const listener of this.#listeners) listener(event)
  }
}

function outcomeOf(known: KnownMember, deploy: Deploy | null): MemberOutcome {
  const { member, name } = known
  if (!known.isConnected) return { member, name, outcome: 'away', reason: 'not connected' }
  if (known.state.digest === deploy?.digest) return { member, name, outcome: 'active', reason: null }
  return { member, name, outcome: 'pending', reason: known.driftReason }
}
