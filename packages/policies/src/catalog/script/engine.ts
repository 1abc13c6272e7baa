/** The functions that a script may export. */
export const HOOKS = ['onRequest', 'onResponse', 'onError'] as const

/** A function that a script exports. */
export type HookName = (typeof HOOKS)[number]

/** What a script may use. */
export interface Limits {
  readonly memoryBytes: number
  readonly stackBytes: number
  /** Of one call. */
  readonly timeoutMs: number
}

/** A script and its bounds. */
export interface Program {
  readonly source: string
  readonly limits: Limits
}

/** What scripts run in. */
export type EngineName = 'quickjs' | 'isolated-vm'

/** Runs scripts apart from the gateway. */
export interface Engine {
  readonly name: EngineName
  /** @throws ScriptFault when the script cannot be read, or fails while it is loaded. */
  open(program: Program): Promise<Sandbox>
}

/** A script in a realm of its own. */
export interface Sandbox {
  /** What the script exports. */
  readonly exported: readonly string[]
  /** It met a limit: what is inside cannot be relied on any more, and it is to be replaced. */
  readonly isBroken: boolean
  /**
   * @param factor of its time.
   * @throws ScriptFault
   * @throws TimeLimitExceeded
   */
  call(hook: HookName, input: string, body: string, factor: number): string
  /** What the script holds in memory now. */
  memoryBytes(): number
  close(): void
}

/** How a script failed; `body` is the fault of who sent the body. */
export type FaultKind = 'exception' | 'body' | 'timeout' | 'memory' | 'stack' | 'promise' | 'answer'

/** A script failed; the message is for the operator. */
export class ScriptFault extends Error {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string) {
    super(message)
    this.name = 'ScriptFault'
    this.kind = kind
  }
}

/** What operators read of a call that met its limit of time. */
export const TOO_LONG = 'the script took longer than it may'

/** The name of the script inside the sandbox, by which its lines are found in stacks. */
export const SCRIPT_NAME = 'script'

/** Most promise callbacks of one call. */
export const MAX_JOBS = 10_000
