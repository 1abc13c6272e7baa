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
