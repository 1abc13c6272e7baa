import type { Exchange } from '@sluice/core'
import { matchesHash, type PasswordHash } from '../../shared/consumers/password.js'

/** Half of the default thread pool: name look-ups and files need the other half. */
const MAX_RUNNING = 2
/** Requests that may wait for a hash. Most of a flood shares one, so that this is seldom a matter of seconds. */
const MAX_SLOTS = 512
/** Longest wait for a hash, in ms: below the bound for a policy, so that a busy machine is an overload and no fault. */
export const MAX_WAIT_MS = 20_000

/** A password to compare with a hash. */
export interface Attempt {
  readonly password: string
  readonly hash: PasswordHash
  /** The hash is that of a user who does not exist: no password matches, whichever is hashed. */
  readonly isStandIn: boolean
  /** The credentials were right before: they are hashed first, and need no slot. */
  readonly isKnownGood: boolean
  /** Whose slots it takes. */
  readonly client: string
}

/** True if the password matches; null if all requests that waited for it have ended, or it took too long. */
type Result = boolean | null
/** What is asked of the request of an attempt. */
type Waiter = Pick<Exchange, 'endedMono'>

/** One hash, and who waits for it. */
export interface Job {
  readonly attempt: Attempt
  readonly requests: Waiter[]
  readonly result: Promise<Result>
  readonly settle: (result: Result | Promise<Result>) => void
  slots: number
  /** Ends the wait; null once the job has its result. */
  timer: NodeJS.Timeout | null
  /** A later attempt went before it, once. */
  hasYielded: boolean
}

interface ClientQueue {
  readonly jobs: Job[]
  slots: number
}

/**
 * The hashes that wait for a thread. Clients take turns, so that nobody waits for all attempts of another one:
 *
 *     known good   ─►┐
 *     client a  ●●●●─►┤
 *     client b  ●────►┼─► at most MAX_RUNNING hashes
 *     client c  ●●───►┘
 *
 * Attempts of one client on users who do not exist share one hash that has not begun. They still wait as long as an
 * attempt on a real user would that came in their place, and count as many slots: neither time nor a refusal shows
 * which users exist.
 */
export class PasswordQueue {
  readonly #knownGood: Job[] = []
  /** By client; the one whose turn is next stands first. */
  readonly #queues = new Map<string, ClientQueue>()
  #slots = 0
  #running = 0

  /** The hash of the attempt, its own or a shared one; null when the client has as many slots as it may have. */
  add(attempt: Attempt, x: Waiter): Job | null {
    if (attempt.isKnownGood) {
      const job = this.#newJob(attempt, x)
      this.#knownGood.push(job)
      this.#run()
      return job
    }
    const queue = this.#queues.get(attempt.client) ?? { jobs: [], slots: 0 }
    if (queue.slots >= this.#share()) return null
    this.#queues.set(attempt.client, queue)
    const job = sharedJob(queue, attempt, x) ?? placedJob(queue, this.#newJob(attempt, x))
    job.slots++
    queue.slots++
    this.#slots++
    this.#run()
    return job
  }

  /** Half of what is free: however many slots some clients hold, there is one for another. */
  #share(): number {
    const free = MAX_SLOTS - this.#slots
    return free === 0 ? 0 : Math.max(1, Math.floor(free / 2))
  }

  #run(): void {
    while (this.#running < MAX_RUNNING) {
      const job = this.#knownGood.shift() ?? this.#next()
      if (job === undefined) return
      if (job.timer === null) continue
      if (job.requests.every(({ endedMono }) => endedMono !== 0)) this.#end(job, null)
      else void this.#hash(job)
    }
  }

  /** The first job of the client whose turn it is, who stands last from now on. */
  #next(): Job | undefined {
    for (const [client, queue] of this.#queues) {
      const job = queue.jobs.shift()
      if (job === undefined) continue
      this.#queues.delete(client)
      this.#queues.set(client, queue)
      return job
    }
    return undefined
  }

  async #hash(job: Job): Promise<void> {
    this.#running++
    const { password, hash, isStandIn } = job.attempt
    try {
      this.#end(job, (await matchesHash(password, hash)) && !isStandIn)
    } catch (error) {
      this.#end(job, Promise.reject(error))
    }
    this.#running--
    this.#run()
  }

  #newJob(attempt: Attempt, x: Waiter): Job {
    let settle!: Job['settle']
    const result = new Promise<Result>((resolve) => {
      settle = resolve
    })
    const job: Job = { attempt, requests: [x], result, settle, slots: 0, timer: null, hasYielded: false }
    job.timer = setTimeout(() => this.#end(job, null), MAX_WAIT_MS).unref()
    return job
  }

  #end(job: Job, result: Result | Promise<Result>): void {
    if (job.timer === null) return
    clearTimeout(job.timer)
    job.timer = null
    const { client } = job.attempt
    const queue = this.#queues.get(client)
    if (queue !== undefined && job.slots > 0) {
      queue.slots -= job.slots
      this.#slots -= job.slots
      if (queue.slots === 0) this.#queues.delete(client)
    }
    job.settle(result)
  }
}

/** The hash that the client's last attempt waits for, when both are on users who do not exist. */
function sharedJob(queue: ClientQueue, attempt: Attempt, x: Waiter): Job | null {
  const last = queue.jobs.at(-1)
  if (last === undefined || last.timer === null || !attempt.isStandIn || !last.attempt.isStandIn) return null
  if (!costsTheSame(last.attempt.hash, attempt.hash)) return null
  last.requests.push(x)
  return last
}

/** An attempt on a real user takes the place that one on a user who does not exist would share. */
function placedJob(queue: ClientQueue, job: Job): Job {
  const { attempt } = job
  const last = queue.jobs.at(-1)
  if (last?.attempt.isStandIn === true && !attempt.isStandIn && !last.hasYielded) {
    last.hasYielded = true
    queue.jobs.splice(-1, 0, job)
  } else queue.jobs.push(job)
  return job
}

function costsTheSame(a: PasswordHash, b: PasswordHash): boolean {
  return a.logCost === b.logCost && a.blockSize === b.blockSize && a.parallelism === b.parallelism
}
