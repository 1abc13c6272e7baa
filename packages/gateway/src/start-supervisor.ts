import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ConfigBundle, DocumentSource, Overrides, Plan } from '@sluice/config'
import { formatDiagnostic, readDocumentFile, resolvePlan } from '@sluice/config/serving'
import type { Catalog } from '@sluice/core'
import { AdminEndpoint } from './admin/admin-endpoint.js'
import { MetricsEndpoint } from './admin/metrics-endpoint.js'
import type { ControlSettings } from './supervise/control/control-settings.js'
import { DocumentReloader } from './supervise/document-reloader.js'
import { documentFile } from './supervise/documents/document-file.js'
import { type DocumentThread, startDocumentThread } from './supervise/documents/document-thread.js'
import type { Documents } from './supervise/documents/documents.js'
import { saveDocument } from './supervise/documents/saved-document.js'
import { FleetFile } from './supervise/fleet-file.js'
import { DrainedFile } from './supervise/health/drained-file.js'
import { MetricsPush } from './supervise/metrics-push.js'
import { outliveParent, replacedPid } from './supervise/parent/parent-link.js'
import { serveAbandoned } from './supervise/serve-abandoned.js'
import { handleSignals } from './supervise/signals.js'
import { Supervisor } from './supervise/supervisor.js'
import { type VaultReading, VaultSecrets } from './supervise/vault/vault-secrets.js'
import type { EarlyWorkers } from './supervise/workers/early-workers.js'
import { workerFork } from './supervise/workers/fork.js'
import { earlyWorkerCount, type Tier, thisMachine, workerCount } from './supervise/workers/sizing.js'
import { createOperationLog, type OperationLog } from './telemetry/operation-log.js'
import { packageVersion } from './worker/entry.js'

/** Options for `startSupervisor`. */
export interface SupervisorOptions {
  /** Path of the document, read at start, on changes and on SIGHUP. Optional with `control`. */
  readonly configFile?: string
  /** Reads the document in place of `configFile`, at start and on SIGHUP. One of the two is required. */
  readonly source?: () => Promise<DocumentSource>
  /** Controller, in place of that in the document. */
  readonly control?: ControlSettings
  readonly catalog: Catalog
  /** Command-line values that override the document. */
  readonly overrides?: Overrides
  readonly workers?: number
  readonly tier?: Tier
  /** Folder for the last valid document and the deploy history; default `./data`. */
  readonly dataDir?: string
  /** Module that worker processes run. */
  readonly workerEntry: URL
  /** Module that the document thread runs, with the same catalog. Defaults to the gateway's own. */
  readonly documentsEntry?: URL
  /** Document thread that is already running. `documentsEntry`, `overrides` and `env` are then ignored. */
  readonly documentThread?: DocumentThread
  /** Workers that are already starting, with the same document, data directory and sizes. `workerEntry` is then ignored. */
  readonly early?: EarlyWorkers
  /** Environment for `${env:NAME}`; defaults to this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly log?: OperationLog
  /** Set if the gateway is a part of this process, as in `gw dev`. */
  readonly embedding?: Embedding
}

/**
 * A program that embeds a gateway. The program handles signals itself, and the workers exit with it: they do not wait
 * for another supervisor.
 */
export interface Embedding {
  /** Returns the bundle to apply instead of the bundle of the document. */
  readonly adjust: (bundle: ConfigBundle) => Promise<ConfigBundle>
  /** Called with each line that a worker writes to stdout or stderr. */
  readonly onOutput: (line: string) => void
}

/**
 * Starts a gateway in this process and handles its signals, unless it is embedded. Resolves when every worker is ready.
 * @throws StartError if it cannot serve; everything is stopped again then.
 */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { configFile, catalog, embedding, control = null, log = createOperationLog() } = options
  let lastRead = ''
  const readFile = options.source ?? fileReader(configFile, control)
  const readSource = async (): Promise<DocumentSource | null> => {
    const source = await readFile()
    lastRead = source?.text ?? ''
    return source
  }
  const nodeOptions = catalog.nodeOptions ?? []
  const early = suitable(options.early, nodeOptions)
  const version = packageVersion()
  const thread = options.documentThread ?? startDocumentThread(options)
  const secrets = new VaultSecrets(log)
  const dataDir = options.dataDir ?? './data'
  const fleetFile = new FleetFile(dataDir, configFile ?? '', replacedPid(), early?.program.fleet.instance)
  const supervisor = new Supervisor({
    documents: documentsOf(thread, secrets, embedding),
    secrets,
    control,
    readSource,
    documentName: join(dirname(configFile ?? '.'), 'deployed.yaml'),
    saveDocument: (text) => {
      if (options.source !== undefined || configFile === undefined)
        throw new Error('the gateway was not started with a file')
      saveDocument(configFile, text, lastRead)
      lastRead = text
    },
    openEndpoints: (backend) => ({
      admin: new AdminEndpoint(backend, log),
      metrics: new MetricsEndpoint(backend, log),
      metricsPush: new MetricsPush(backend, log),
    }),
    fork: workerFork(
      early?.program ?? {
        entry: options.workerEntry,
        version,
        nodeOptions,
        fleet: fleetFile,
        onOutput: embedding?.onOutput ?? null,
      },
      early,
    ),
    fleetFile,
    drainedFile: new DrainedFile(dataDir, configFile ?? ''),
    quotaPath: documentFile(dataDir, 'quotas', configFile ?? ''),
    size: sizeOf(options),
    earlyWorkers: earlyWorkerCount(options),
    dataDir,
    version,
    log,
  })
  const reloader = new DocumentReloader(supervisor, log)
  const removeSignalHandlers =
    embedding === undefined ? handleSignals(supervisor, () => void reloader.reload('SIGHUP'), log) : null
  void supervisor.finished.then(() => {
    removeSignalHandlers?.()
    reloader.close()
    thread.close()
  })
  const source = await supervisor.start()
  outliveParent(() => void serveAbandoned(supervisor, { fleetFile, log }))
  if (options.source === undefined && configFile !== undefined && source !== null)
    reloader.watch(configFile, source)
  return supervisor
}

/** Returns early workers if they have these Node.js options. Otherwise stops them and returns null. */
function suitable(early: EarlyWorkers | undefined, nodeOptions: readonly string[]): EarlyWorkers | null {
  if (early === undefined || isDeepStrictEqual(early.program.nodeOptions, nodeOptions)) return early ?? null
  early.close()
  return null
}

function fileReader(
  configFile: string | undefined,
  control: ControlSettings | null,
): () => DocumentSource | null {
  if (configFile === undefined && control === null)
    throw new TypeError('startSupervisor needs configFile, source or control')
  return () => (configFile === undefined ? null : readDocumentFile(configFile))
}

/** Connects the supervisor to the document thread. */
function documentsOf(thread: DocumentThread, secrets: VaultSecrets, embedding?: Embedding): Documents {
  const reading = async (source: DocumentSource): Promise<VaultReading | null> => {
    const request = await thread.vaultRequest(source)
    return request === null ? null : secrets.read(request)
  }
  /** Unadjusted bundles, by the adjusted bundle. Changes are counted between unadjusted bundles. */
  const written = new WeakMap<ConfigBundle, ConfigBundle>()
  return {
    load: async (source, serving) => {
      const vault = await reading(source)
      const before = serving === null ? null : (written.get(serving) ?? serving)
      const result = await thread.load(source, before, vault?.values)
      if (!result.ok || embedding === undefined) return { ...result, vault }
      const bundle = await embedding.adjust(result.bundle)
      written.set(bundle, result.bundle)
      return { ...result, bundle, vault }
    },
    resolve: resolvePlan,
    ask: (question) => thread.ask(question),
    compare: (before, after) =>
      thread.compare(before, after, async () => {
        const readings = await Promise.all([reading(before), reading(after)])
        return new Map(readings.flatMap((one) => [...(one?.values ?? [])]))
      }),
    display: (bundle) => thread.display(bundle),
    describe: formatDiagnostic,
  }
}

function sizeOf({ workers, tier }: SupervisorOptions): (plan: Plan) => number {
  return (plan) =>
    workerCount({ workers: workers ?? null, tier: tier ?? null, planned: plan.workers }, thisMachine())
}
