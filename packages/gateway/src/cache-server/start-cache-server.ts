import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { pickFreePort, probePort } from '../lib/free-port.js'
import { Persistence } from './persist/persistence.js'
import { createStoreMemory } from './store/cache-store.js'
import { Counters, countersMemory } from './store/counters.js'
import { writesMemory } from './store/persist-calls.js'
import type { CacheSettings, FromThread, SharedMemory, ThreadData, ToThread } from './store/settings.js'
import { Spaces } from './store/spaces.js'

/**
 * Heap limits of a server thread. Young objects get as much room as in a gateway worker. Old ones are few,
 * because values are outside the heap.
 */
const LIMITS = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 256 }
const THREAD = new URL('./server-thread.js', import.meta.url)

/** A running cache server. */
export interface CacheServer {
  readonly port: number
  /**
   * Stops the server. Connections are told to close with their next response, and transfers have 10 s to
   * finish.
   */
  stop(): void
  /** Resolves when the event loops of all threads have turned. */
  turned(): Promise<void>
  /** Resolves when the server has stopped, with an error text if it failed. */
  readonly ended: Promise<string | null>
}

/** Called with events for operators. */
export type CacheReport = (event: string, fields: Readonly<Record<string, unknown>>) => void

/** Starts the threads of a cache server. @throws Error if it cannot listen on the address. */
export async function startCacheServer(
  settings: CacheSettings,
  report: CacheReport = () => {},
): Promise<CacheServer> {
  const { host } = settings
  // Bound exclusively for a moment: with port sharing, a forgotten server of the same user would go unnoticed.
  const port = settings.port === 0 ? await pickFreePort(host) : await probePort(host, settings.port)
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

function shareMemory({ maxBytes, workers, spaces, persist }: CacheSettings): SharedMemory {
  return {
    common: createStoreMemory(maxBytes),
    own: spaces.flatMap(({ name, maxBytes: ownBytes }) =>
      ownBytes === null ? [] : [{ space: name, memory: createStoreMemory(ownBytes) }],
    ),
    counters: countersMemory(workers + 1),
    writes: persist === null ? null : writesMemory(),
  }
}

function openPersistence(
  settings: CacheSettings,
  memory: SharedMemory,
  report: CacheReport,
): Persistence | null {
  if (settings.persist === null || memory.writes === null) return null
  return new Persistence({
    plan: settings.persist,
    spaces: new Spaces(settings, memory),
    writes: memory.writes,
    counters: new Counters(memory.counters, settings.workers),
    secret: memory.common.secret,
    maxObjectBytes: settings.maxObjectBytes,
    report,
  })
}

/**
 * Resolves with null when all threads have drained, or with the first fault. After a fault the server ends,
 * because its memory may be half written.
 */
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

class ServerThread {
  readonly listening: Promise<unknown>
  readonly drained: Promise<unknown>
  /** Resolves with a fatal error, if there is one. */
  readonly fault: Promise<string>
  readonly exited: Promise<unknown>
  readonly #worker: Worker
  /** Messages of the thread, by kind. */
  readonly #messages = new EventEmitter()
  /** Pending answer of the thread to a heartbeat request, or null. */
  #turned: Promise<unknown> | null = null

  constructor(data: ThreadData, persistence: Persistence | null) {
    const worker = new Worker(THREAD, { workerData: data, resourceLimits: LIMITS })
    const messages = this.#messages
    this.#worker = worker
    worker.on('message', (message: FromThread) => messages.emit(message.kind, message))
    messages.on('persist', ({ call }: Extract<FromThread, { kind: 'persist' }>) => {
      const id = 'id' in call ? call.id : 0
      persistence?.handle(call, (outcome) => this.post({ kind: 'answer', id, outcome }))
    })
    this.listening = new Promise((resolve, reject) => {
      messages.once('listening', resolve)
      messages.once('cannot-listen', ({ message }: { message: string }) => reject(new Error(message)))
      worker.once('error', reject)
    })
    this.drained = once(messages, 'drained')
    this.fault = new Promise((resolve) => {
      messages.once('fault', ({ message }: { message: string }) => resolve(message))
      worker.once('error', (error) => resolve(String(error)))
    })
    this.exited = new Promise((resolve) => worker.once('exit', resolve))
  }

  /** Resolves when the thread's event loop has turned. */
  async turned(): Promise<void> {
    if (this.#turned === null) {
      this.#turned = once(this.#messages, 'heartbeat').finally(() => {
        this.#turned = null
      })
      this.post('beat')
    }
    await this.#turned
  }

  post(message: ToThread): void {
    this.#worker.postMessage(message)
  }
}
