import type { HttpTargetOptions } from '../http/options.js'

/** Options for the OTLP output. */
export interface OtlpOptions extends Omit<HttpTargetOptions, 'auth'> {
  /** Additional fields of every request. */
  readonly headers: Readonly<Record<string, string>>
}
