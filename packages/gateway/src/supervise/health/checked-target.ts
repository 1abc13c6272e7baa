import type { HealthPlan } from '@sluice/config'
import type { HealthCheck } from './health-check.js'

/** Health of a target according to its checks. */
export type Health = 'unknown' | 'healthy' | 'unhealthy'

/** Maximum number of concurrent checks. Checks beyond it are delayed. */
const MAX_RUNNING = 100
const WAIT_MS = 50
/** The first checks of many targets are spread over at most this many milliseconds. */
const SPREAD_MS = 1000
/** A recovering target is checked this many times more often. */
const RECOVERY_SPEEDUP = 10

const running = { count: 0 }

/** A target with its health checks, for as long as it is in the plan. */
export class CheckedTarget {
  health: Health = 'unknown'
  /** Reason why the last check failed, or null if it passed or there was none. */
  problem: string | null = null
  /** End of the last check, or null before the first. */
  checkedAt: Date | null = null
  /** Number of checks by result. */
  readonly counts = { success: 0, failure: 0 }
  /** Called when the target becomes unhealthy or recovers. */
  readonly #onChange: () => void
  #plan: HealthPlan
  #check: HealthCheck
  /** Number of equal results in a row. */
  #inRow = 0
  #timer: NodeJS.Timeout
  #isStopped = false

  constructor(plan: HealthPlan, check: HealthCheck, onChange: () => void) {
    this.#plan = plan
    this.#check = check
    this.#onChange = onChange
    this.#timer = setTimeout(
      () => this.#begin(),
      Math.random() * Math.min(SPREAD_MS, plan.intervalMs * plan.jitter),
    )
  }

  /** Continues with other settings. The known health is kept. */
  change(plan: HealthPlan, check: HealthCheck): void {
    this.#plan = plan
    this.#check = check
    this.#inRow = 0
    this.#schedule(0)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#begin(), ms)
  }

  #begin(): void {
    if (running.count >= MAX_RUNNING) this.#schedule(WAIT_MS * (1 + Math.random()))
    else void this.#run(this.#check)
  }

  async #run(check: HealthCheck): Promise<void> {
    running.count++
    const problem = await check()
    running.count--
    // A check replaced meanwhile has its successor scheduled already.
    if (this.#isStopped || check !== this.#check) return
    this.#note(problem)
    this.#schedule(this.#nextMs())
  }

  #note(problem: string | null): void {
    const wasGood = this.problem === null
    const isGood = problem === null
    this.#inRow = wasGood === isGood ? this.#inRow + 1 : 1
    this.problem = problem
    this.checkedAt = new Date()
    this.counts[isGood ? 'success' : 'failure']++
    const { healthyAfter, unhealthyAfter } = this.#plan
    if (isGood && (this.health === 'unknown' || this.#inRow >= healthyAfter)) this.#become('healthy')
    else if (!isGood && this.#inRow >= unhealthyAfter) this.#become('unhealthy')
  }

  #become(health: Health): void {
    if (this.health === health) return
    const wasUnhealthy = this.health === 'unhealthy'
    this.health = health
    if (wasUnhealthy || health === 'unhealthy') this.#onChange()
  }

  #nextMs(): number {
    const { intervalMs, jitter } = this.#plan
    const ms = intervalMs * (1 + jitter * (2 * Math.random() - 1))
    return this.health === 'unhealthy' && this.problem === null ? ms / RECOVERY_SPEEDUP : ms
  }
}
