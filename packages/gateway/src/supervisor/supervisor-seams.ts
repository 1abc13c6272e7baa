import type { DocumentSource, Plan } from '@sluice/config'
import type { OperationLog } from '../telemetry/operation-log.js'
import type { Documents } from './documents.js'
import type { FleetFile } from './fleet-file.js'
import type { DrainedFile } from './targets/drained-file.js'
import type { Fork } from './worker-pool.js'

/** What a supervisor is made of; `startSupervisor` fills it in. */
export interface SupervisorSeams {
  readonly documents: Documents
  /** @throws Error when the document cannot be read. */
  readonly readSource: () => DocumentSource | Promise<DocumentSource>
  /** What a document that comes over the API is called; relative files are looked up beside it. */
  readonly documentName: string
  /** Writes a document to the file that the gateway was started with. @throws Error */
  readonly saveDocument: (text: string) => void
  readonly fork: Fork
  /** The number of workers that a plan makes. */
  readonly size: (plan: Plan) => number
  /** Workers that start while the document is still being read. */
  readonly earlyWorkers: number
  readonly fleetFile: FleetFile
  readonly drainedFile: DrainedFile
  /** Where the counts of quotas outlive the supervisor. */
  readonly quotaPath: string
  readonly dataDir: string
  readonly version: string
  readonly log: OperationLog
}
