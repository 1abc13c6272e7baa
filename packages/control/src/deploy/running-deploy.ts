import type { Deploy, Group } from '../state/control-state.js'
import type { KnownMember } from './fleet.js'
import type { Clock } from './member-session.js'
import { type Verdict, verdictOf } from './verdict.js'

/** Time for members to activate a committed bundle before the result is reported without them, in milliseconds. */
const ACTIVATION_MS = 15_000

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
  readonly #deadlineMs: number
  /** Steps by their key: a few per member. */
  readonly #events = new Map<string, DeployEvent>()
  readonly #listeners = new Set<(event: DeployEvent) => void>()
  #finish: (result: DeployResult) => void = () => {}
  #committedMs: number | null = null

  constructor({ name, deploys }: Group, deploy: number, clock: Clock) {
    const { quorumPercent, deadlineMs } = deploys.find((known) => known.deploy === deploy)!
    this.group = name
    this.deploy = deploy
    this.done = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#clock = clock
    this.#quorumPercent = quorumPercent
    this.#deadlineMs = clock.steadyMs() + deadlineMs
  }

  /** Calls the listener for each step, also for earlier ones. */
  onEvent(listener: (event: DeployEvent) => void): void {
    for (const event of this.#events.values()) listener(event)
    this.#listeners.add(listener)
  }

  /** Decides about the deploy. */
  verdict(members: readonly KnownMember[]): Verdict {
    const known = members.filter(({ group }) => group === this.group)
    const names = known.filter(({ isConnected }) => isConnected).map(({ name }) => name)
    this.#tell('started', { event: 'started', deploy: this.deploy, members: names })
    const voters = known.map(({ name, member, isConnected, vote }) => {
      const own = vote?.deploy === this.deploy ? vote : null
      if (own !== null)
        this.#tell(`vote ${member}`, { event: 'vote', member: name, vote: own.vote, reasons: own.reasons })
      return { name, isConnected, vote: own }
    })
    const isOverdue = this.#clock.steadyMs() >= this.#deadlineMs
    return verdictOf({ voters, quorumPercent: this.#quorumPercent, isOverdue })
  }

  /** Returns the result if the deploy has ended, otherwise null. */
  advance(deploy: Deploy, members: readonly KnownMember[]): DeployResult | null {
    if (deploy.status === 'pending') return null
    const outcomes = members
      .filter(({ group }) => group === this.group)
      .map((member) => outcomeOf(member, deploy))
    const isCommitted = deploy.status === 'committed'
    if (isCommitted) {
      this.#committedMs ??= this.#clock.steadyMs()
      this.#tell('committed', { event: 'committed' })
      for (const { member, name, outcome } of outcomes)
        if (outcome === 'active') this.#tell(`active ${member}`, { event: 'active', member: name })
      const isWaiting = outcomes.some(({ outcome, reason }) => outcome === 'pending' && reason === null)
      if (isWaiting && this.#clock.steadyMs() - this.#committedMs < ACTIVATION_MS) return null
    }
    const { group, digest, reasons } = deploy
    const head = {
      result: isCommitted ? ('committed' as const) : ('aborted' as const),
      group,
      digest,
      reasons,
    }
    const result = { ...head, deploy: this.deploy, members: isCommitted ? outcomes : [] }
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

function outcomeOf(known: KnownMember, { digest }: Deploy): MemberOutcome {
  const { member, name } = known
  if (!known.isConnected) return { member, name, outcome: 'away', reason: 'not connected' }
  if (known.state.digest === digest) return { member, name, outcome: 'active', reason: null }
  return { member, name, outcome: 'pending', reason: known.driftReason }
}
