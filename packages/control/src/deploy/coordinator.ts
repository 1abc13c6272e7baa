import { type Author, CONTROLLER, type ControlLog } from '../state/control-log.js'
import { type ControlState, type Deploy, groupOf } from '../state/control-state.js'
import type { CanaryProgress, CanarySettings } from '../store/canary.js'
import type { LogEvent } from '../store/log-entry.js'
import { type CanaryVerdict, CanaryWatch, chooseCanaries } from './canary-watch.js'
import { CONTROLLER_TIMEOUT_MS, type KnownMember } from './fleet.js'
import type { FleetReports } from './fleet-reports.js'
import type { Clock } from './member-session.js'
import { type DeployResult, RunningDeploy } from './running-deploy.js'

/** Interval between attempts to write a decision while the store is unavailable, in milliseconds. */
const RETRY_MS = 500

/** A deploy to start. */
export interface DeployRequest {
  readonly group: string
  readonly digest: string
  /** Digest of the source of the document; absent: the document was not composed. */
  readonly source?: string
  readonly note: string
  readonly rollbackTo: number | null
  readonly quorumPercent: number
  readonly deadlineMs: number
  /** Digest that must be the committed one, or null. Empty: the group must have none. */
  readonly ifMatch: string | null
  /** Null: all members take the deploy together. */
  readonly canary: CanarySettings | null
  /** Number of the deploy that must be the committed one. 0: the group must have none. */
  readonly after?: number
}

/** A started deploy, or the reason why it was not started. */
export type StartResult =
  | { readonly kind: 'started'; readonly run: RunningDeploy }
  | { readonly kind: 'unchanged'; readonly head: Deploy }
  | { readonly kind: 'busy'; readonly pending: Deploy }
  | { readonly kind: 'stale'; readonly digest: string | null }
  | { readonly kind: 'noCanary'; readonly reason: string }

/** Dependencies of the coordinator. */
export interface CoordinatorOptions {
  readonly log: ControlLog
  readonly fleet: FleetReports
  readonly clock: Clock
  /** Id of this controller. */
  readonly controller: string
  readonly onDecision: (result: DeployResult) => void
  readonly onProblem: (event: string, error: unknown) => void
}

/**
 * Starts deploys, decides about them, and aborts those of dead controllers. The log arbitrates between controllers: a
 * decision is appended only while the deploy is undecided.
 * ```
 * deploy.started ─► canary.activated ─► canary.passed ─► deploy.committed, deploy.aborted
 *              └────────── without canaries ──────────┘
 * ```
 */
export class Coordinator {
  readonly #options: CoordinatorOptions
  readonly #running = new Map<number, RunningDeploy>()
  /** Canaries of pending deploys, also of those that other controllers coordinate. */
  readonly #watches = new Map<number, CanaryWatch>()
  /** Groups for which this controller is appending `deploy.started`. */
  readonly #starting = new Map<string, number>()
  /** Deploys about which a decision is being written, with the time of the last attempt. */
  readonly #deciding = new Map<number, { isWriting: boolean; atMs: number }>()

  constructor(options: CoordinatorOptions) {
    this.#options = options
    options.log.onChange(() => this.advance())
    options.fleet.onChange(() => this.advance())
  }

  /** Starts a deploy. Its bundle is in the store. @throws Error if the store is unavailable */
  async start(request: DeployRequest, author: Author): Promise<StartResult> {
    const { log, clock } = this.#options
    const { group, ifMatch, canary, after: _, ...event } = request
    let refusal: StartResult | null = null
    this.#starting.set(group, (this.#starting.get(group) ?? 0) + 1)
    try {
      const deploy = await log.append(author, (state) => {
        refusal = refusalOf(state, request, this.#hasDrift(group))
        if (refusal !== null) return null
        if (canary === null) return { type: 'deploy.started', group, ...event }
        const members = chooseCanaries(groupOf(state, group), this.#options.fleet.members(), canary.size)
        if (typeof members === 'string') {
          refusal = { kind: 'noCanary', reason: members }
          return null
        }
        return { type: 'deploy.started', group, ...event, canary: { ...canary, members } }
      })
      if (deploy === null) return refusal!
      const run = new RunningDeploy(groupOf(log.state, group), deploy, clock)
      this.#running.set(deploy, run)
      return { kind: 'started', run }
    } finally {
      const left = this.#starting.get(group)! - 1
      if (left === 0) this.#starting.delete(group)
      else this.#starting.set(group, left)
      this.advance()
    }
  }

  /** Aborts the pending deploy of a group. Returns its number, or null if there is none. */
  async abort(group: string, author: Author): Promise<number | null> {
    let aborted: number | null = null
    await this.#options.log.append(author, (state) => {
      aborted = groupOf(state, group).pending?.deploy ?? null
      if (aborted === null) return null
      return { type: 'deploy.aborted', group, deploy: aborted, reasons: [`aborted by ${author.actor}`] }
    })
    return aborted
  }

  /** Returns the progress of the canary of a group, or null if there is none. */
  canaryOf(group: string): CanaryProgress | null {
    const { pending } = groupOf(this.#options.log.state, group)
    return this.#watches.get(pending?.deploy ?? 0)?.progress ?? null
  }

  /** Advances all deploys. Called after each change and regularly, for deadlines. */
  advance(): void {
    const pending = this.#pendingDeploys()
    for (const number of this.#watches.keys())
      if (!pending.some(({ deploy }) => deploy === number)) this.#watches.delete(number)
    if (this.#running.size === 0 && pending.length === 0) return
    const members = this.#options.fleet.members()
    for (const deploy of pending) this.#decide(deploy, members)
    for (const [number, run] of this.#running) {
      const result = run.advance(groupOf(this.#options.log.state, run.group), members)
      if (result === null) continue
      this.#running.delete(number)
      this.#options.onDecision(result)
    }
  }

  /** True if a member of the group serves something else than its bundle. A deploy of the same bundle corrects it. */
  #hasDrift(name: string): boolean {
    const members = this.#options.fleet.members()
    return members.some(
      ({ group, isConnected, state }) => group === name && isConnected && state.drift !== undefined,
    )
  }

  #pendingDeploys(): Deploy[] {
    const found: Deploy[] = []
    for (const { pending } of this.#options.log.state.groups.values())
      if (pending !== null) found.push(pending)
    return found
  }

  #decide(deploy: Deploy, members: readonly KnownMember[]): void {
    const run = this.#running.get(deploy.deploy)
    const canary = this.#watchCanary(deploy, members)
    if (run === undefined) {
      if (this.#abandonment(deploy) !== null) this.#attempt(deploy, () => this.#abandon(deploy))
      return
    }
    const progress = this.#watches.get(deploy.deploy)?.progress ?? null
    if (progress !== null) run.tellCanary(progress)
    const verdict = canary ?? run.verdict(deploy, members)
    if (verdict.kind === 'activated') this.#write(deploy, { type: 'canary.activated' })
    else if (verdict.kind === 'passed')
      this.#write(deploy, { type: 'canary.passed', comparison: verdict.comparison })
    else if (verdict.kind === 'commit')
      this.#write(deploy, { type: 'deploy.committed', missing: verdict.missing })
    else if (verdict.kind === 'abort')
      this.#write(deploy, { type: 'deploy.aborted', reasons: verdict.reasons })
  }

  /** Updates the comparison of a deploy. Returns the decision while only canaries serve it, otherwise null. */
  #watchCanary(deploy: Deploy, members: readonly KnownMember[]): CanaryVerdict | null {
    if (deploy.canary === null) return null
    const watch = this.#watches.get(deploy.deploy) ?? new CanaryWatch(deploy, this.#options.clock)
    this.#watches.set(deploy.deploy, watch)
    const verdict = watch.advance(deploy, members)
    return deploy.canary.phase === 'passed' ? null : verdict
  }

  /** Returns the reason why nobody coordinates an undecided deploy any more, or null. */
  #abandonment({ controller, group }: Deploy): string | null {
    if (controller === this.#options.controller)
      return this.#starting.has(group) ? null : 'the controller lost its connection to the store'
    const ageMs = this.#options.fleet.controllerAgeMs(controller)
    return ageMs !== null && ageMs <= CONTROLLER_TIMEOUT_MS
      ? null
      : 'the controller that coordinated it stopped'
  }

  /** Aborts a deploy if its controller is still missing in new reports: it may just have started. */
  async #abandon(deploy: Deploy): Promise<void> {
    await this.#options.fleet.read()
    const reason = this.#abandonment(deploy)
    if (reason !== null) await this.#append(deploy, { type: 'deploy.aborted', reasons: [reason] })
  }

  #write(deploy: Deploy, decision: Decision): void {
    this.#attempt(deploy, () => this.#append(deploy, decision))
  }

  /** Writes a decision, unless there is one already. */
  async #append({ group, deploy }: Deploy, decision: Decision): Promise<void> {
    await this.#options.log.append(CONTROLLER, (state) =>
      groupOf(state, group).pending?.deploy === deploy ? { ...decision, group, deploy } : null,
    )
  }

  /** Tries to decide about a deploy. Later calls try again if the store is unavailable. */
  #attempt({ deploy }: Deploy, decide: () => Promise<void>): void {
    const { clock, onProblem } = this.#options
    const attempt = this.#deciding.get(deploy)
    if (attempt?.isWriting || (attempt && clock.steadyMs() - attempt.atMs < RETRY_MS)) return
    this.#deciding.set(deploy, { isWriting: true, atMs: clock.steadyMs() })
    decide().then(
      () => this.#deciding.delete(deploy),
      (error: unknown) => {
        this.#deciding.set(deploy, { isWriting: false, atMs: clock.steadyMs() })
        onProblem('deploy.undecided', error)
      },
    )
  }
}

type Decision<E = LogEvent> = E extends { readonly deploy: number } ? Omit<E, 'group' | 'deploy'> : never

function refusalOf(
  state: ControlState,
  { group, digest, source, ifMatch, after, canary }: DeployRequest,
  hasDrift: boolean,
): StartResult | null {
  const { head, pending } = groupOf(state, group)
  const isChanged = after !== undefined && after !== (head?.deploy ?? 0)
  if (isChanged || (ifMatch !== null && ifMatch !== (head?.digest ?? '')))
    return { kind: 'stale', digest: head?.digest ?? null }
  if (pending !== null) return { kind: 'busy', pending }
  const isSame = head?.digest === digest && head.source === (source ?? null) && !hasDrift
  // Canaries of the committed bundle would have nothing to compare: all members serve it.
  return head?.digest === digest && (canary !== null || isSame) ? { kind: 'unchanged', head } : null
}
