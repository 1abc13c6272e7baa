import { once } from 'node:events'
import { join } from 'node:path'
import { readDocumentFile } from '@sluice/config'
import {
  type LogFields,
  type OperationLog,
  SourceWatch,
  StartError,
  type Supervisor,
  startSupervisor,
  workerEntry,
} from '@sluice/gateway/start'
import { FileSource, recordFilter } from '@sluice/logger'
import { lazyCatalog } from '@sluice/policies/catalog'
import { EXIT, Failure, messageOf } from '../output/failure.js'
import type { DevEvent, Serving } from './dev-event.js'
import { DevPlan } from './dev-plan.js'
import type { MockMode } from './mocked-upstreams.js'
import { requestRow } from './request-row.js'

/** Options for `DevSession`. */
export interface DevSessionOptions {
  readonly config: string
  readonly port: number | null
  /** Host of the listeners, or null for this machine only. */
  readonly host: string | null
  readonly workers: number
  readonly mock: MockMode
  /** Scratch folder. The caller removes it. */
  readonly folder: string
  readonly onEvent: (event: DevEvent) => void
}

/** Interval in milliseconds for checking the targets behind mocks, and the files of policies. */
const POLL_MS = 1000
/** Maximum number of step traces in memory. */
const MAX_TRACES = 500
/** Step tracing runs as long as the session: the largest count and the longest timer. */
const ENDLESS = { route: null, when: null, count: 2 ** 31 - 1, forMs: 2 ** 31 - 1 } as const

/** A gateway in this process for development. */
export class DevSession {
  readonly #options: DevSessionOptions
  readonly #plan: DevPlan
  readonly #stop = new AbortController()
  /** Step traces as JSON by request id, the oldest first. */
  readonly #traces = new Map<string, string>()
  readonly #log: OperationLog
  #supervisor: Supervisor | null = null
  #requests = 0
  /** True if the last document was refused because of its errors. */
  #isRefused = false

  constructor(options: DevSessionOptions) {
    this.#options = options
    this.#plan = new DevPlan(options)
    const logger = (level: LogEntry['level']) => (event: string, fields?: LogFields) =>
      this.#onLog(level, event, fields ?? {})
    this.#log = { info: logger('info'), warn: logger('warn'), error: logger('error') }
  }

  /**
   * Runs the gateway until the signal fires. If the document has errors at the start, it waits for the next version
   * of the file.
   * @throws Failure if the document cannot be read, or if the gateway cannot start or stops by itself
   */
  async run(signal: AbortSignal): Promise<void> {
    const supervisor = await this.#started(signal)
    if (supervisor === null) return
    this.#supervisor = supervisor
    this.#options.onEvent({ kind: 'started', ...this.#serving() })
    const { closed } = this.#plan
    if (closed.length > 0) {
      const text = `listening on this machine only, instead of ${closed.join(', ')}; --host 0.0.0.0 accepts other machines`
      this.#options.onEvent({ kind: 'message', level: 'info', text })
    }
    supervisor.stepTraces.start(ENDLESS, 'gw dev', {
      onArmed: () => {},
      onTrace: (trace) => this.#onTrace(trace),
      onEnd: () => {},
    })
    void this.#followRequests()
    const poll = setInterval(() => void this.#refresh(), POLL_MS)
    const ended = supervisor.finished.then(() => {
      throw new Failure('the gateway has stopped; run gw start to see why')
    })
    await Promise.race([aborted(signal), ended]).finally(() => clearInterval(poll))
  }

  /** Step trace of a request as JSON, or null if it has been discarded. */
  traceOf(id: string): string | null {
    return this.#traces.get(id) ?? null
  }

  /** Stops all processes of the gateway. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#plan.close()
    await this.#supervisor?.close(0)
  }

  async #started(signal: AbortSignal): Promise<Supervisor | null> {
    while (!signal.aborted) {
      const { text } = this.#read()
      try {
        return await startSupervisor({
          configFile: this.#options.config,
          catalog: lazyCatalog(),
          workerEntry,
          dataDir: join(this.#options.folder, 'data'),
          workers: this.#options.workers,
          log: this.#log,
          embedding: {
            adjust: (bundle) => this.#plan.adjust(bundle),
            onOutput: (line) => this.#onWorkerLine(line),
          },
        })
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        const hint = /is in use/.test(error.message) ? '; --port chooses another port' : ''
        if (!this.#isRefused) throw new Failure(error.message + hint)
      }
      await this.#untilChanged(text, signal)
    }
    return null
  }

  #read(): { readonly text: string } {
    try {
      return readDocumentFile(this.#options.config)
    } catch (error) {
      throw new Failure(messageOf(error), EXIT.invalid)
    }
  }

  #untilChanged(text: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        watch.close()
        resolve()
      }
      const watch = new SourceWatch({ path: this.#options.config, onChange: end })
      watch.acknowledge(text)
      void aborted(signal).then(end)
    })
  }

  #serving(): Serving {
    const { listeners, admin } = this.#supervisor!.status()
    return {
      gateway: listeners[0]?.url ?? '',
      dashboard: admin === null ? null : `${admin.url}/ui`,
      mocks: this.#plan.mocked,
    }
  }

  /** Shows the results of applied documents, warnings and errors. */
  #onLog(level: 'info' | 'warn' | 'error', event: string, fields: LogFields): void {
    const { onEvent } = this.#options
    const isServing = this.#supervisor !== null
    if (event === 'config.invalid' || event === 'config.rolled-back') {
      const reasons = (fields['reasons'] ?? []) as readonly { worker: number; reason: string }[]
      this.#isRefused = event === 'config.invalid' || reasons.some(({ worker }) => worker !== 0)
      const found = (fields['diagnostics'] ?? reasons.map(({ reason }) => reason)) as readonly string[]
      if (isServing || this.#isRefused) onEvent({ kind: 'mistakes', lines: [...new Set(found)], isServing })
    } else if (event === 'config.applied' || event === 'config.unchanged') {
      const warnings = fields['warnings'] as readonly string[]
      const changes = event === 'config.applied' ? Number(fields['changes']) : 0
      if (isServing) onEvent({ kind: 'applied', changes, warnings, ...this.#serving() })
      else for (const text of warnings) onEvent({ kind: 'message', level: 'warn', text })
    } else if (level !== 'info') onEvent({ kind: 'message', level, text: eventText(event, fields) })
  }

  /** Shows a line of a worker: an entry of its operation log, or the output of a plugin. */
  #onWorkerLine(line: string): void {
    const entry = entryOf(line)
    if (entry === null) this.#options.onEvent({ kind: 'message', level: 'info', text: line })
    else if (entry.level !== 'info') {
      const { level, event, fields } = entry
      this.#options.onEvent({ kind: 'message', level, text: eventText(event, fields) })
    }
  }

  #onTrace(trace: string): boolean {
    const { id } = JSON.parse(trace) as { readonly id: string }
    this.#traces.set(id, trace)
    if (this.#traces.size > MAX_TRACES) this.#traces.delete(this.#traces.keys().next().value!)
    return true
  }

  async #followRequests(): Promise<void> {
    const options = { filter: recordFilter({}), last: Number.POSITIVE_INFINITY, follow: true }
    const source = new FileSource(this.#plan.trafficDir)
    for await (const { record } of source.tail({ ...options, signal: this.#stop.signal })) {
      const row = requestRow(record, {
        number: ++this.#requests,
        mocks: this.#plan.mocked.map(({ url }) => url),
        policyName: (id, route) => this.#plan.policyName(id, route),
      })
      this.#options.onEvent({ kind: 'request', row })
    }
  }

  /** Applies the document again when a target behind a mock has started or a file of a policy has changed. */
  async #refresh(): Promise<void> {
    if (!(await this.#plan.isOutdated()) || this.#stop.signal.aborted) return
    await this.#supervisor?.reload('gw dev').catch(() => {})
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  readonly fields: LogFields
}

function entryOf(line: string): LogEntry | null {
  try {
    const { time: _time, level, event, ...fields } = JSON.parse(line) as LogFields
    const isEntry = typeof event === 'string' && (level === 'info' || level === 'warn' || level === 'error')
    return isEntry ? { level, event, fields } : null
  } catch {
    return null
  }
}

/** Formats an entry of the operation log: the event and its fields, without process ids. */
function eventText(
  event: string,
  { pid: _pid, worker: _worker, stack: _stack, ...fields }: LogFields,
): string {
  const texts = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${name}: ${text}`
  })
  return [event, ...texts].join(', ')
}
