import type { DocumentSource } from '@sluice/config'
import { errorFields, type OperationLog } from '../telemetry/operation-log.js'
import { SourceWatch } from './documents/source-watch.js'
import type { Supervisor } from './supervisor.js'

/** Applies the document again when its content changes or on request. */
export class DocumentReloader {
  readonly #supervisor: Supervisor
  readonly #log: OperationLog
  #watch: SourceWatch | null = null

  constructor(supervisor: Supervisor, log: OperationLog) {
    this.#supervisor = supervisor
    this.#log = log
  }

  /** Starts watching the document. `source` is the version that is already active. */
  watch(path: string, source: DocumentSource): void {
    this.#watch = new SourceWatch({ path, onChange: (changed) => void this.#apply(changed) })
    this.#watch.acknowledge(source.text)
  }

  /**
   * Reads and applies the document now, even if its text is unchanged: values behind its references may have
   * changed.
   */
  async reload(actor: string): Promise<void> {
    try {
      const source = await this.#supervisor.reload(actor)
      if (source !== null) this.#watch?.acknowledge(source.text)
    } catch (error) {
      this.#log.error('reload.failed', { actor, ...errorFields(error) })
    }
  }

  close(): void {
    this.#watch?.close()
  }

  async #apply(source: DocumentSource): Promise<void> {
    try {
      await this.#supervisor.reload('watch', source)
    } catch (error) {
      this.#log.error('reload.failed', { actor: 'watch', ...errorFields(error) })
    }
  }
}
