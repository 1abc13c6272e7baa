/** Functions that a script may export. */
export const HOOKS = ['onRequest', 'onResponse', 'onError'] as const

/** Name of an exported hook. */
export type HookName = (typeof HOOKS)[number]

/** Resource limits of a script. */
export interface Limits {
  readonly memoryBytes: number
  readonly stackBytes: number
  /** CPU time limit per call, in milliseconds. */
  readonly timeoutMs: number
}

/** A script and its limits. */
export interface Program {
  readonly source: string
  readonly limits: Limits
}

/** Name of a script engine. */
export type EngineName = 'quickjs' | 'isolated-vm'

/** Runs scripts isolated from the gateway. */
export interface Engine {
  readonly name: EngineName
  /** @throws ScriptFault if the script has a syntax error or fails while loading. */
  open(program: Program): Promise<Sandbox>
}

/** A script in its own realm. */
export interface Sandbox {
  /** Names of the script's exports. */
  readonly exported: readonly string[]
  /** True after a limit was exceeded. The state inside is unreliable, and the sandbox must be replaced. */
  readonly isBroken: boolean
  /** Calls a hook. @param factor multiplier for the time limit. @throws ScriptFault @throws TimeLimitExceeded */
  call(hook: HookName, input: string, body: string, factor: number): string
  /** Returns the current memory use of the script, in bytes. */
  memoryBytes(): number
  close(): void
}

/** Kind of failure. `body` is caused by the sender of the body. */
export type FaultKind = 'exception' | 'body' | 'timeout' | 'memory' | 'stack' | 'promise' | 'answer'

/** A script failed. The message is for the operator. */
export class ScriptFault extends Error {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string) {
    super(message)
    this.name = 'ScriptFault'
    this.kind = kind
  }
}

/** Operator message for a call that exceeded its time limit. */
export const TOO_LONG = 'the script exceeded its time limit'

/** Name of the script inside the sandbox, used to find its lines in stack traces. */
export const SCRIPT_NAME = 'script'

/** Maximum number of promise callbacks per call. */
export const MAX_JOBS = 10_000
