import type { HttpTargetOptions } from '../http/options.js'

/** Options of an export to an OpenTelemetry collector. */
export interface OtlpOptions extends Omit<HttpTargetOptions, 'auth'> {
  /** Additional fields of every request. */
  readonly headers: Readonly<Record<string, string>>
}

/** Options for the OTLP output. */
export interface OtlpOutputOptions extends OtlpOptions {
  /** Kind of what records become: spans or log records. */
  readonly signal: 'traces' | 'logs'
}
