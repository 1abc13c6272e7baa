import type { Format } from '../output/output.js'

/** Global options for the connection to a gateway. */
export interface ServerOptions {
  readonly server?: string
  readonly tokenFile?: string
}

/** Options of commands that print results in several formats. */
export interface OutputOptions {
  readonly output: Format
}

/** Options of commands that read a document. */
export interface DocumentOptions {
  readonly config: string
}

/** Options for the connection to a controller. */
export interface ControlOptions {
  readonly control?: readonly string[]
  readonly group?: string
  readonly controlName?: string
  readonly controlTokenFile?: string
  readonly controlCa?: string
  readonly controlCert?: string
  readonly controlKey?: string
  readonly controlFingerprint?: readonly string[]
}

/** True if a controller is set by an option or the environment. */
export function hasController({ control }: ControlOptions): boolean {
  return control !== undefined || (process.env['GW_CONTROL'] ?? '') !== ''
}
