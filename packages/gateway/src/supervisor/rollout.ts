import type { ConfigBundle } from '@sluice/config'

/** A bundle on its way to the workers. */
export interface Assignment {
  /** Grows with every bundle; a worker's answer to an older one is thereby recognised. */
  readonly epoch: number
  readonly bundle: ConfigBundle
  /** Listener address to real port, for those that name port 0. */
  readonly ports: Readonly<Record<string, number>>
}

/** One answer of a worker: null when it did what was asked, else why not. */
export type Refusal = string | null

/** A worker in a rollout. Every call has a deadline, and no call rejects. */
export interface Participant {
  /** 1 to N. */
  readonly worker: number
  prepare(assignment: Assignment): Promise<Refusal>
  activate(epoch: number): Promise<Refusal>
  discard(epoch: number): Promise<Refusal>
  /** Ends the worker at once; its seat is filled again with what is current then. */
  kill(reason: string): void
  /** Resolves when its process is gone. */
  readonly exited: Promise<unknown>
}

/** Why a worker stands in the way. */
export interface Objection {
  readonly worker: number
  readonly reason: string
}

/** How a rollout ended. */
export type RolloutResult =
  | { readonly kind: 'activated' }
  | { readonly kind: 'rolled-back'; readonly objections: readonly Objection[] }

/** Asked when all workers have prepared a bundle; false: it is discarded everywhere. */
export type MayActivate = () => Promise<boolean>

/**
 * Brings a bundle to all workers or to none: first every worker prepares it beside what it serves, and only when all
 * of them could do so is it activated. One that fails, is silent or dies while preparing leaves everything as it was.
 */
export async function rollOut(
  assignment: Assignment,
  workers: readonly Participant[],
  agree: MayActivate | null = null,
): Promise<RolloutResult> {
  if (workers.length === 0) return rolledBack([{ worker: 0, reason: 'no worker is running; see the log' }])

  const objections = await ask(workers, (worker) => worker.prepare(assignment))
  if (objections.length > 0) {
    await discardEverywhere(assignment, workers)
    return rolledBack(objections)
  }

  if (agree !== null && !(await agree())) {
    await discardEverywhere(assignment, workers)
    return rolledBack([{ worker: 0, reason: 'given up by who asked for it, or not activated in time' }])
  }
  await activateEverywhere(assignment, workers)
  return { kind: 'activated' }
}

/** The workers that did not do what was asked, and why. */
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

/** A worker that cannot even let go of the bundle is in an unknown state: a fresh one with the old bundle replaces it. */
async function discardEverywhere(assignment: Assignment, workers: readonly Participant[]): Promise<void> {
  const stuck = await ask(workers, (worker) => worker.discard(assignment.epoch))
  // The next bundle may need the addresses that they listen on.
  await Promise.all(end(stuck, workers).map(({ exited }) => exited))
}

/** All have promised, so there is no way back: one that breaks the promise is replaced by one with the new bundle. */
async function activateEverywhere(assignment: Assignment, workers: readonly Participant[]): Promise<void> {
  const broken = await ask(workers, (worker) => worker.activate(assignment.epoch))
  end(broken, workers)
}

/** Kills those that objected, and returns them. */
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
