import type { Exchange } from '@sluice/core'
import { matchesHash, type PasswordHash } from '../../identity/consumers/password.js'

/**
 * Maximum number of concurrent hashes: half of the default thread pool. DNS look-ups and file access need the
 * rest.
 */
const MAX_RUNNING = 2
/**
 * Maximum number of requests that wait for a hash. Requests of a flood usually share one, so the wait is
 * short.
 */
const MAX_SLOTS = 512
/**
 * Maximum wait for a hash in milliseconds. Less than the policy timeout, so a busy machine causes an overload
 * response, not an error.
 */
export const MAX_WAIT_MS = 20_000

/** A password to compare with a hash. */
export interface Attempt {
  readonly password: string
  readonly hash: PasswordHash
  /** True if the user does not exist. The hash is then a dummy that no password matches. */
  readonly isUnknownUser: boolean
  /** True if the credentials were correct before. Such attempts go first and need no slot. */
  readonly isKnownGood: boolean
  /** Client whose slots the attempt uses. */
  readonly client: string
}

/**
 * True if the password matches. Null if all requests that waited have ended, or if the wait took too long.
 */
type Result = boolean | null
/** Part of the exchange that the queue needs. */
type Waiter = Pick<Exchange, 'endedMono'>

/** A hash and the requests that wait for it. */
export interface Job {
  readonly attempt: Attempt
  readonly requests: Waiter[]
  readonly result: Promise<Result>
  readonly settle: (result: Result | Promise<Result>) => void
  slots: number
  /** Timer that ends the wait, or null once the job has its result. */
  timer: NodeJS.Timeout | null
  /** True if a later attempt has been placed before this one. */
  hasYielded: boolean
}

interface ClientQueue {
  readonly jobs: Job[]
  slots: number
}

/**
 * Queue of passwords to hash. Clients take turns, so one client's attempts do not delay the others:
 *
 *     known good   ─►┐
 *     client a  ●●●●─►┤
 *     client b  ●────►┼─► at most MAX_RUNNING hashes
 *     client c  ●●───►┘
 *
 * Attempts of one client on unknown users share one hash that has not started. They wait as long, and use as
 * many slots, as attempts on real users would. So neither timing nor a refusal reveals which users exist.
 */
export class PasswordQueue {
  readonly #knownGood: Job[] = []
  /** Queues by client. The first one is next. */
  readonly #queues = new Map<string, ClientQueue>()
  #slots = 0
  #running = 0

  /** Adds an attempt. Returns its job, which may be shared, or null if the client has no free slot. */
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

  /**
   * Returns the slots a client may use: half of the free ones, so that there is always one left for another
   * client.
   */
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

  /** Takes the next job and moves its client to the end. */
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
    const { password, hash, isUnknownUser } = job.attempt
    try {
      this.#end(job, (await matchesHash(password, hash)) && !isUnknownUser)
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

/** Returns the client's last job if both it and the new attempt are for unknown users. */
function sharedJob(queue: ClientQueue, attempt: Attempt, x: Waiter): Job | null {
  const last = queue.jobs.at(-1)
  if (last === undefined || last.timer === null || !attempt.isUnknownUser || !last.attempt.isUnknownUser)
    return null
  if (!hasEqualCost(last.attempt.hash, attempt.hash)) return null
  last.requests.push(x)
  return last
}

/**
 * Places a job. An attempt on a real user takes the place that an attempt on an unknown user would have
 * shared.
 */
function placedJob(queue: ClientQueue, job: Job): Job {
  const { attempt } = job
  const last = queue.jobs.at(-1)
  if (last?.attempt.isUnknownUser === true && !attempt.isUnknownUser && !last.hasYielded) {
    last.hasYielded = true
    queue.jobs.splice(-1, 0, job)
  } else queue.jobs.push(job)
  return job
}

function hasEqualCost(a: PasswordHash, b: PasswordHash): boolean {
  return a.logCost === b.logCost && a.blockSize === b.blockSize && a.parallelism === b.parallelism
}
