// Generated from the OpenAPI description: UPDATE_GOLDEN=1 with answer-types.test.

/** Schema `Session` of the admin API. */
export type Session = {
  readonly name: string
  readonly role: 'viewer' | 'operator' | 'admin'
  readonly isLoginRequired: boolean
}

/** Schema `Metrics` of the admin API. */
export type Metrics = {
  readonly at: string
  readonly boundsSeconds: readonly number[]
  readonly total: Traffic
  readonly routes: readonly RouteTraffic[]
  readonly errors: Readonly<Record<string, number>>
  readonly certificates: readonly {
    readonly file: string
    readonly expiresSeconds: number | null
  }[]
}

/** Schema `RouteTraffic` of the admin API. */
export type RouteTraffic = Traffic & {
  readonly id: string
  readonly errors: Readonly<Record<string, number>>
  readonly policies: Readonly<Record<string, {
    readonly count: number
    readonly seconds: number
  }>>
}

/** Schema `Status` of the admin API. */
export type Status = {
  readonly version: string
  readonly pid: number
  readonly startedAt: string
  readonly uptimeMs: number
  readonly digest: string | null
  readonly origin: 'file' | 'api' | 'last-good' | 'control' | null
  readonly ready: boolean
  readonly reason: string | null
  readonly draining: boolean
  readonly workers: readonly Worker[]
  readonly listeners: readonly Listener[]
  readonly admin: {
    readonly address: string
    readonly url: string
  } | null
  readonly cacheServer: {
    readonly pid: number | null
    readonly state: 'starting' | 'ready' | 'restarting'
    readonly host: string
    readonly port: number
    readonly tls: boolean
    readonly restarts: number
    readonly rssBytes: number
  } | null
  readonly control: {
    readonly group: string
    readonly name: string
    readonly member: string
    readonly url: string
    readonly connected: boolean
    readonly since: string
    readonly problem: string | null
    readonly lastContactMs: number | null
    readonly deploy: number
    readonly digest: string | null
    readonly drift: string | null
  } | null
  readonly lastRollout: Rollout | null
  readonly plugins: readonly {
    readonly name: string
    readonly version: string
    readonly contract: string
    readonly entry: string
    readonly policies: readonly string[]
  }[]
  readonly warnings: readonly string[]
}

/** Schema `Worker` of the admin API. */
export type Worker = {
  readonly id: number
  readonly pid: number | null
  readonly state: 'starting' | 'idle' | 'ready' | 'restarting' | 'stopped' | 'draining'
  readonly digest: string | null
  readonly inFlight: number
  readonly connections: number
  readonly restarts: number
  readonly rssBytes: number
  readonly loopLagMs: number
  readonly stateProblem: string | null
  readonly uptimeMs: number
  readonly log: LogIdentity
}

/** Schema `Deploy` of the admin API. */
export type Deploy = {
  readonly id: string
  readonly at: string
  readonly digest: string
  readonly origin: 'file' | 'api' | 'last-good' | 'control'
  readonly actor: string
  readonly note: string
  readonly rollbackTo?: string
}

/** Schema `Deploys` of the admin API. */
export type Deploys = {
  readonly digest: string | null
  readonly deploys: readonly Deploy[]
}

/** Schema `Changes` of the admin API. */
export type Changes = {
  readonly changes: readonly Change[]
}

/** Schema `Change` of the admin API. */
export type Change = {
  readonly kind: 'add' | 'change' | 'remove'
  readonly what: string
  readonly name: string
  readonly details: readonly string[]
  readonly cost?: RouteCost
}

/** Schema `Routes` of the admin API. */
export type Routes = {
  readonly digest: string | null
  readonly routes: readonly Route[]
}

/** A route of the plan; `gw render` prints all members. */
export type Route = {
  readonly id: string
  readonly match: {
    readonly hosts: readonly string[]
    readonly methods: readonly string[]
    readonly path: {
      readonly text: string
    }
    readonly when: string | null
  }
  readonly action: {
    readonly kind: 'proxy' | 'respond' | 'redirect'
    readonly upstream?: string
    readonly status?: number
  }
  readonly policies: readonly Policy[]
}

/** Schema `Policy` of the admin API. */
export type Policy = {
  readonly id: string
  readonly use: string
  readonly when: string | null
  readonly with: unknown
}

/** Schema `Upstreams` of the admin API. */
export type Upstreams = {
  readonly digest: string | null
  readonly upstreams: readonly Upstream[]
}

/** Schema `Upstream` of the admin API. */
export type Upstream = {
  readonly name: string
  readonly balance: string
  readonly targets: readonly Target[]
  readonly numbers: Readonly<Record<string, number>>
  readonly canary?: Canary
}

/** Schema `Target` of the admin API. */
export type Target = {
  readonly url: string
  readonly weight: number
  readonly role: string
  readonly state: {
    readonly health: 'unchecked' | 'unknown' | 'healthy' | 'unhealthy'
    readonly problem: string | null
    readonly checkedAt: string | null
    readonly drained: boolean
    readonly workers: Readonly<Record<string, number>>
  }
  readonly numbers: Readonly<Record<string, number>>
}

/** Schema `Explanation` of the admin API. */
export type Explanation = {
  readonly request: {
    readonly method: string
    readonly scheme: string
    readonly host: string
    readonly path: string
    readonly query: string
    readonly clientIp: string
  }
  readonly outcome: 'routed' | 'refused' | 'health'
  readonly refusal: {
    readonly status: number
    readonly code: string
    readonly detail: string
  } | null
  readonly route: ExplainedRoute | null
  readonly losers: readonly {
    readonly id: string
    readonly path: string
    readonly failed: string
    readonly reason: string
  }[]
}

/** Schema `ExplainedPolicy` of the admin API. */
export type ExplainedPolicy = {
  readonly id: string
  readonly use: string
  readonly when: string | null
  readonly with: unknown
  readonly verdict: 'always' | 'true' | 'false' | 'fails' | 'unknown'
  readonly meaning: readonly string[]
  readonly cost: 'cheap' | 'cpu' | 'call'
  readonly measured: {
    readonly addedMicros: number
  } | null
  readonly buffers: readonly ('request' | 'response')[] | null
  readonly decision: {
    readonly refusal: string | null
    readonly reason: string
  } | null
}

/** Schema `Records` of the admin API. */
export type Records = {
  readonly at: string
  readonly searched: SearchedLog
  readonly records: readonly LogRecord[]
}

/** A record; the traffic log guide lists all fields. */
export type LogRecord = {
  readonly '@timestamp': string
  readonly id?: string
  readonly route?: string
  readonly trace?: {
    readonly id?: string
  }
  readonly span?: {
    readonly id?: string
  }
  readonly parent?: {
    readonly id?: string
  }
  readonly consumer?: {
    readonly id?: string
    readonly name?: string
  }
  readonly client?: {
    readonly ip?: string
  }
  readonly http?: {
    readonly method?: string
  }
  readonly url?: {
    readonly host?: string
    readonly path?: string
    readonly query?: string
    readonly scheme?: string
  }
  readonly req?: {
    readonly bytes_b?: number
  }
  readonly res?: {
    readonly status?: number
    readonly bytes_b?: number
  }
  readonly result?: string
  readonly t?: Readonly<Record<string, number>>
  readonly up?: {
    readonly name?: string
    readonly addr?: string
    readonly status?: number
    readonly attempts?: number
    readonly at?: number
    readonly ms?: number
    readonly tries?: readonly FailedAttempt[]
  }
  readonly policies?: readonly PolicyRun[]
  readonly policy_spans?: readonly PolicyRun[]
  readonly api_calls?: readonly {
    readonly name: string
    readonly at: number
    readonly ms: number
    readonly result: string
    readonly status?: number
  }[]
  readonly error?: {
    readonly code?: string
    readonly policy?: string
    readonly phase?: string
    readonly reason?: string
    readonly msg?: string
  }
  readonly hdr?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly body?: Readonly<Record<string, RecordedBody>>
}

/** Schema `SearchedLog` of the admin API. */
export type SearchedLog = {
  readonly kind: 'file' | 'elasticsearch'
  readonly where: string
  readonly isComplete: boolean
}

/** Schema `ExplainedRecord` of the admin API. */
export type ExplainedRecord = {
  readonly record: LogRecord
  readonly configuration: {
    readonly recorded: string
    readonly active: string | null
    readonly deploy: Deploy | null
  }
  readonly route: {
    readonly id: string
  } | null
  readonly policies: readonly RecordedPolicy[]
  readonly refusal: RecordedRefusal | null
}

/** Schema `RecordedPolicy` of the admin API. */
export type RecordedPolicy = {
  readonly id: string
  readonly use: string
  readonly out: string
  readonly ms: number | null
  readonly note: string
  readonly when: string | null
  readonly with: unknown
  readonly meaning: readonly string[]
}

/** Schema `Document` of the admin API. */
export type Document = {
  readonly yaml: string
}

/** Schema `Applied` of the admin API. */
export type Applied = {
  readonly result: 'applied' | 'unchanged' | 'valid' | 'prepared'
  readonly digest: string | null
  readonly changes: readonly Change[]
  readonly warnings: readonly Diagnostic[]
  readonly rollback?: RollbackTarget
}

/** Schema `Diagnostic` of the admin API. */
export type Diagnostic = {
  readonly severity: 'error' | 'warning'
  readonly file: string
  readonly line: number
  readonly column: number
  readonly path: string
  readonly message: string
  readonly remedy: string
}

/** Schema `StepTrace` of the admin API. */
export type StepTrace = {
  readonly id: string
  readonly at: string
  readonly worker: number
  readonly route: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly status: number
  readonly result: string
  readonly code: string
  readonly ms: number
  readonly traceId: string
  readonly upstream: {
    readonly name: string
    readonly target: string
    readonly status: number
  } | null
  readonly steps: readonly TracedStep[]
  readonly lostSteps: number
}

/** Schema `TracedStep` of the admin API. */
export type TracedStep = {
  readonly phase: string
  readonly policy: string
  readonly use: string
  readonly outcome: 'continue' | 'respond' | 'skipped' | 'error'
  readonly note: string
  readonly micros: number
  readonly changes: readonly StepChange[]
}

/** Schema `StepChange` of the admin API. */
export type StepChange = {
  readonly what: string
  readonly side: 'request' | 'response'
  readonly name: string
  readonly before: string | null
  readonly after: string | null
  readonly diff: readonly string[] | null
}

type Traffic = {
  readonly requests: Readonly<Record<string, number>>
  readonly durationSeconds: number
  readonly buckets: readonly number[]
}

type Listener = {
  readonly address: string
  readonly host: string
  readonly port: number
  readonly engine: 'uws' | 'node'
  readonly tls: boolean
  readonly url: string
}

type Rollout = {
  readonly at: string
  readonly result: 'applied' | 'unchanged' | 'rolled-back' | 'invalid'
  readonly digest: string | null
  readonly origin: 'file' | 'api' | 'last-good' | 'control'
  readonly actor: string
  readonly note: string
  readonly durationMs: number
  readonly mistakes: readonly string[]
  readonly reasons: readonly {
    readonly worker: number
    readonly reason: string
  }[]
}

type LogIdentity = {
  readonly received: number
  readonly indexed: number
  readonly dead: number
  readonly deadRemoved: number
  readonly dropped: number
  readonly droppedBy: Readonly<Record<string, number>>
  readonly onDisk: number
  readonly inMemory: number
  readonly lagMs: number
  readonly targets?: Readonly<Record<string, LogCounts>>
}

type RouteCost = {
  readonly addedMicros: number
  readonly policies: readonly {
    readonly use: string
    readonly uses: number
    readonly addedMicros: number | null
  }[]
}

type Canary = {
  readonly percent: number
  readonly key: string
  readonly abortedWorkers: number
}

type ExplainedRoute = {
  readonly id: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly policies: readonly ExplainedPolicy[]
  readonly action: {
    readonly kind: 'respond' | 'redirect' | 'proxy'
    readonly status?: number
    readonly location?: string | null
    readonly upstream?: string
    readonly path?: string | null
    readonly targets?: readonly {
      readonly url: string
    }[]
  }
}

type FailedAttempt = {
  readonly addr: string
  readonly ms: number
  readonly reason: string
  readonly retry: string
  readonly at?: number
  readonly code?: string
  readonly status?: number
}

type PolicyRun = {
  readonly id: string
  readonly ms: number
  readonly out: string
  readonly at?: number
  readonly note?: string
}

type RecordedBody = {
  readonly text?: string
  readonly base64?: string
  readonly bytes?: number
  readonly truncated?: boolean
  readonly ct?: string
}

type RecordedRefusal = {
  readonly code: string
  readonly policy: string
  readonly phase: string
  readonly reason: string
  readonly message: string
  readonly cause: string
  readonly remedy: string
  readonly accepts: string
}

type RollbackTarget = {
  readonly id: string
  readonly at: string
  readonly digest: string
  readonly origin: 'file' | 'api' | 'last-good' | 'control'
  readonly actor: string
  readonly note: string
  readonly wasRolledBack: boolean
  readonly rollbackTo?: string
}

type LogCounts = {
  readonly received: number
  readonly indexed: number
  readonly dead: number
  readonly deadRemoved: number
  readonly dropped: number
  readonly droppedBy: Readonly<Record<string, number>>
  readonly onDisk: number
  readonly inMemory: number
  readonly lagMs: number
}
