import type { DocumentSource, Plan } from '@sluice/config'
import type { OperationLog } from '../telemetry/operation-log.js'
import type { AdminBackend } from './admin-backend.js'
import type { ControlSettings } from './control/control-settings.js'
import type { Documents } from './documents/documents.js'
import type { Endpoints } from './fleet.js'
import type { FleetFile } from './fleet-file.js'
import type { DrainedFile } from './health/drained-file.js'
import type { VaultSecrets } from './vault/vault-secrets.js'
import type { Fork } from './workers/worker-pool.js'

/** Dependencies of a supervisor, provided by `startSupervisor`. */
export interface SupervisorDependencies {
  readonly documents: Documents
  /** Secrets from Vault, which are read again while the gateway runs. */
  readonly secrets: VaultSecrets
  /** Settings of the command line for a controller, or null. */
  readonly control: ControlSettings | null
  /** Reads the start document; null if there is only a controller. @throws Error if the document cannot be read. */
  readonly readSource: () => DocumentSource | null | Promise<DocumentSource | null>
  /** Name given to documents from the API. Relative file paths in them are resolved beside it. */
  readonly documentName: string
  /**
   * Writes a document to the file that the gateway was started with.
   * @throws Error if it cannot be written.
   */
  readonly saveDocument: (text: string) => void
  /** Creates the servers for operators. They listen once a plan is prepared. */
  readonly openEndpoints: (backend: AdminBackend) => Endpoints
  readonly fork: Fork
  readonly size: (plan: Plan) => number
  /** Number of workers started before the document is read. */
  readonly earlyWorkers: number
  readonly fleetFile: FleetFile
  readonly drainedFile: DrainedFile
  /** File in which quota counts survive the supervisor. */
  readonly quotaPath: string
  readonly dataDir: string
  readonly version: string
  readonly log: OperationLog
}
