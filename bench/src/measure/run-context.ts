import type { Engine } from '../model/engine.js'
import type { RunObserver, RunOptions } from '../model/run.js'
import type { LogNode } from '../servers/elasticsearch.js'

/** What the parts of a run have in common. */
export interface RunContext {
  readonly options: RunOptions
  readonly observer: RunObserver
  readonly engines: RunEngines
  /** For the files of servers and load generators. */
  readonly dir: string
  readonly random: () => number
  /** Of what is measured and what measures; filled as they start. */
  readonly versions: Record<string, string>
  /** Digests of what gateways served, by scenario. */
  readonly documents: Record<string, string>
  /** Null: none is needed, or none is there. */
  readonly logNode: LogNode | null
  warn(text: string): void
}

/** The load generators of a run; often the same. */
export interface RunEngines {
  /** Asks for as much as systems can do. */
  readonly saturation: Engine
  /** Holds the rates. */
  readonly rate: Engine
}
