import type { ConfigBundle } from '@sluice/config'

/** A bundle sent to the workers. */
export interface Assignment {
  /** Sequence number of the bundle, by which answers for an older one are recognised. */
  readonly epoch: number
  readonly bundle: ConfigBundle
  /** Actual port by listener address. */
  readonly ports: Readonly<Record<string, number>>
}

/** Answer of a worker: null on success, otherwise the reason. */
export type Refusal = string | null

/** A worker taking part in a rollout. Every call has a deadline, and no call rejects. */
export interface Participant {
  /** Worker number, from 1 to N. */
  readonly worker: number
  prepare(assignment: Assignment): Promise<Refusal>
  activate(epoch: number): Promise<Refusal>
  discard(epoch: number): Promise<Refusal>
  /** Kills the worker. Its slot is then filled with the active bundle. */
  kill(reason: string): void
  /** Resolves when the process has exited. */
  readonly exited: Promise<unknown>
}

/** Reason why a worker prevents a rollout. */
export interface Objection {
  readonly worker: number
  readonly reason: string
}

/** Result of a rollout. */
export type RolloutResult =
  | { readonly kind: 'activated' }
  | { readonly kind: 'rolled-back'; readonly objections: readonly Objection[] }

/** Called when all workers have prepared a bundle. False makes all of them discard it. */
export type MayActivate = () => Promise<boolean>

/**
 * Rolls a bundle out to all workers or to none. Every worker first prepares it beside the active one. It is
 * activated only if all succeeded. If one fails, hangs or dies while preparing, nothing changes.
 */
export async function rollOut(
  assignment: Assignment,
  workers: readonly Participant[],
  confirm: MayActivate | null = null,
): Promise<RolloutResult> {
  if (workers.length === 0) return rolledBack([{ worker: 0, reason: 'no worker is running; see the log' }])

  const objections = await ask(workers, (worker) => worker.prepare(assignment))
  if (objections.length > 0) {
    await discardEverywhere(assignment, workers)
    return rolledBack(objections)
  }

  if (confirm !== null && !(await confirm())) {
    await discardEverywhere(assignment, workers)
    return rolledBack([
      { worker: 0, reason: 'the caller discarded the rollout, or did not activate it in time' },
    ])
  }
  await activateEverywhere(assignment, workers)
  return { kind: 'activated' }
}

/** Calls all workers and returns their objections. */
async function ask(
  workers: readonly Participant[],
  question: (worker: Participant) => Promise<Refusal>,
): Promise<Objection[]> {
  const objections: Objection[] = []
  const refusals = await Promise.all(workers.map(question))
  refusals.forEach((reason, i) => {
    if (reason !== null) objections.push({ worker: workers[i]!.worker, reason })
  })
  return objections
}

/** Discards the bundle everywhere. A worker that fails to discard is in an unknown state and is replaced. */
async function discardEverywhere(assignment: Assignment, workers: readonly Participant[]): Promise<void> {
  const stuck = await ask(workers, (worker) => worker.discard(assignment.epoch))
  // The next bundle may need the addresses on which these processes listen.
  await Promise.all(end(stuck, workers).map(({ exited }) => exited))
}

/**
 * Activates the bundle everywhere. There is no way back now: a worker that fails is replaced by one with the
 * new bundle.
 */
async function activateEverywhere(assignment: Assignment, workers: readonly Participant[]): Promise<void> {
  const broken = await ask(workers, (worker) => worker.activate(assignment.epoch))
  end(broken, workers)
}

/** Kills the workers that objected, and returns them. */
function end(objections: readonly Objection[], workers: readonly Participant[]): Participant[] {
  return workers.filter((candidate) => {
    const objection = objections.find(({ worker }) => worker === candidate.worker)
    if (objection !== undefined) candidate.kill(objection.reason)
    return objection !== undefined
  })
}

function rolledBack(objections: readonly Objection[]): RolloutResult {
  return { kind: 'rolled-back', objections }
}
