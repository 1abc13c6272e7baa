import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import { createStoreMemory } from './cache-store.js'
import { countersMemory } from './counters.js'
import { persistMemory } from './persist/persist-calls.js'
import { Persistence } from './persist/persistence.js'
import type { CacheSettings, FromThread, SharedMemory, ThreadData, ToThread } from './settings.js'
import { Spaces } from './spaces.js'

/** Young objects have as much room as in a worker of the gateway; old ones are few, because values are outside the heap. */
const LIMITS = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 256 }
const THREAD = new URL('./server-thread.js', import.meta.url)

/** A server that serves. */
export interface CacheServer {
  readonly port: number
  /** Ends it: connections hear of it with their next answer, and what is under way has 10 s. */
  stop(): void
  /** Resolves when the event loops of all threads have turned. */
  turned(): Promise<void>
  /** Resolves when it has ended; with the text of a fault when it had to. */
  readonly ended: Promise<string | null>
}

/** Hears what operators should know. */
export type CacheReport = (event: string, fields: Readonly<Record<string, unknown>>) => void

/** Starts the threads of a cache server. @throws Error when the address cannot be listened on. */
export async function startCacheServer(
  settings: CacheSettings,
  report: CacheReport = () => {},
): Promise<CacheServer> {
  const port = await findPort(settings)
  const memory = shareMemory(settings)
  const persistence = openPersistence(settings, memory, report)
  await persistence?.opened
  const epoch = randomBytes(4).toString('hex')
  const threads = Array.from(
    { length: settings.workers },
    (_, row) => new ServerThread({ settings: { ...settings, port }, memory, row, epoch }, persistence),
  )
  try {
    await Promise.all(threads.map(({ listening }) => listening))
  } catch (error) {
    for (const thread of threads) thread.post('end')
    await persistence?.close()
    throw error
  }
  return {
    port,
    stop() {
      for (const thread of threads) thread.post('drain')
    },
    async turned() {
      await Promise.all(threads.map((thread) => thread.turned()))
    },
    ended: endOf(threads, persistence),
  }
}

/**
 * The port that all threads are to share. The address is bound alone for a moment, because it would also be shared with
 * another server of the same user that nobody remembers.
 */
async function findPort({ host, port }: CacheSettings): Promise<number> {
  const probe = createServer().listen(port, host)
  await once(probe, 'listening')
  const bound = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  return bound
}

function shareMemory({ maxBytes, workers, spaces, persist }: CacheSettings): SharedMemory {
  return {
    common: createStoreMemory(maxBytes),
    own: spaces.flatMap(({ name, maxBytes: ownBytes }) =>
      ownBytes === null ? [] : [{ space: name, memory: createStoreMemory(ownBytes) }],
    ),
    counters: countersMemory(workers),
    persist: persist === null ? null : persistMemory(),
  }
}

function openPersistence(
  settings: CacheSettings,
  memory: SharedMemory,
  report: CacheReport,
): Persistence | null {
  if (settings.persist === null || memory.persist === null) return null
  return new Persistence({
    plan: settings.persist,
    spaces: new Spaces(settings, memory),
    memory: memory.persist,
    secret: memory.common.secret,
    maxObjectBytes: settings.maxObjectBytes,
    report,
  })
}

/** When all have drained they end together; a fault of one ends the server, whose memory may be half written. */
async function endOf(
  threads: readonly ServerThread[],
  persistence: Persistence | null,
): Promise<string | null> {
  const fault = await Promise.race([
    Promise.all(threads.map(({ drained }) => drained)).then(() => null),
    ...threads.map(({ fault }) => fault),
  ])
  if (fault !== null) return fault
  await persistence?.close()
  for (const thread of threads) thread.post('end')
  await Promise.all(threads.map(({ exited }) => exited))
  return null
}

/** One thread, and what it says. */
class ServerThread {
  readonly listening: Promise<void>
  readonly drained: Promise<void>
  /** Resolves only when there is one. */
  readonly fault: Promise<string>
  readonly exited: Promise<void>
  readonly #worker: Worker
  /** Of a thread that has not answered yet; null: it is not asked. */
  #turned: Promise<void> | null = null

  constructor(data: ThreadData, persistence: Persistence | null) {
    const worker = new Worker(THREAD, { workerData: data, resourceLimits: LIMITS })
    this.#worker = worker
    this.listening = new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'listening') resolve()
        else if (message.kind === 'cannot-listen') reject(new Error(message.message))
      })
      worker.once('error', reject)
    })
    if (persistence !== null)
      worker.on('message', (message: FromThread) => {
        if (message.kind !== 'persist') return
        const id = 'id' in message.call ? message.call.id : 0
        persistence.hear(message.call, (outcome) => this.post({ kind: 'answer', id, outcome }))
      })
    this.drained = new Promise((resolve) => {
      worker.on('message', ({ kind }: FromThread) => {
        if (kind === 'drained') resolve()
      })
    })
    this.fault = new Promise((resolve) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'fault') resolve(message.message)
      })
      worker.once('error', (error) => resolve(String(error)))
    })
    this.exited = new Promise((resolve) => worker.once('exit', () => resolve()))
  }

  /** Resolves when its event loop has turned. */
  turned(): Promise<void> {
    this.#turned ??= new Promise((resolve) => {
      const hear = ({ kind }: FromThread): void => {
        if (kind !== 'heartbeat') return
        this.#worker.off('message', hear)
        this.#turned = null
        resolve()
      }
      this.#worker.on('message', hear)
      this.post('beat')
    })
    return this.#turned
  }

  post(message: ToThread): void {
    this.#worker.postMessage(message)
  }
}
