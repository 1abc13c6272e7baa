import type { HttpTargetOptions } from '../http/options.js'

/** A label that is taken from the record. Each has few values. */
export type RecordLabel = 'route' | 'api' | 'group' | 'env' | 'status' | 'result' | 'pod' | 'worker'

/** Options for the Loki output. */
export interface LokiOptions extends HttpTargetOptions {
  /** Tenant for `X-Scope-OrgID`, or null. */
  readonly tenant: string | null
  /** Labels of every stream. */
  readonly labels: Readonly<Record<string, string>>
  /** Labels taken from the record. Absent and empty values are omitted. */
  readonly recordLabels: readonly RecordLabel[]
  /** True if entries carry the request ID as structured metadata. */
  readonly structuredMetadata: boolean
}
