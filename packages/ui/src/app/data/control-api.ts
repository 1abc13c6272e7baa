// Generated from the schemas of the API: UPDATE_GOLDEN=1 with dashboard-types.test.

/** Schema `Session` of the controller API. */
export type Session = {
  readonly name: string
  readonly role: string
  readonly isLoginRequired: boolean
}

/** Schema `LoginMethods` of the controller API. */
export type LoginMethods = {
  readonly openidConnect: boolean
}

/** Schema `Group` of the controller API. */
export type Group = {
  readonly name: string
  readonly head: {
    readonly deploy: number
    readonly group: string
    readonly digest: string
    readonly source: string | null
    readonly note: string
    readonly rollbackTo: number | null
    readonly actor: string
    readonly at: string
    readonly controller: string
    readonly quorumPercent: number
    readonly deadlineMs: number
    readonly status: 'pending' | 'committed' | 'aborted'
    readonly reasons: readonly string[]
    readonly missing: readonly string[]
    readonly canary: {
      readonly size: string
      readonly forMs: number
      readonly abortOn: string
      readonly members: readonly {
        readonly member: string
        readonly name: string
      }[]
      readonly phase: 'activating' | 'observing' | 'passed'
      readonly observedFrom: string | null
      readonly comparison: {
        readonly canary: {
          readonly gateways: number
          readonly responses: number
          readonly errors: number | null
          readonly p50Ms: number | null
          readonly p99Ms: number | null
        }
        readonly others: {
          readonly gateways: number
          readonly responses: number
          readonly errors: number | null
          readonly p50Ms: number | null
          readonly p99Ms: number | null
        }
        readonly notChecked: readonly string[]
      } | null
    } | null
  } | null
  readonly pending: {
    readonly deploy: number
    readonly group: string
    readonly digest: string
    readonly source: string | null
    readonly note: string
    readonly rollbackTo: number | null
    readonly actor: string
    readonly at: string
    readonly controller: string
    readonly quorumPercent: number
    readonly deadlineMs: number
    readonly status: 'pending' | 'committed' | 'aborted'
    readonly reasons: readonly string[]
    readonly missing: readonly string[]
    readonly canary: {
      readonly size: string
      readonly forMs: number
      readonly abortOn: string
      readonly members: readonly {
        readonly member: string
        readonly name: string
      }[]
      readonly phase: 'activating' | 'observing' | 'passed'
      readonly observedFrom: string | null
      readonly comparison: {
        readonly canary: {
          readonly gateways: number
          readonly responses: number
          readonly errors: number | null
          readonly p50Ms: number | null
          readonly p99Ms: number | null
        }
        readonly others: {
          readonly gateways: number
          readonly responses: number
          readonly errors: number | null
          readonly p50Ms: number | null
          readonly p99Ms: number | null
        }
        readonly notChecked: readonly string[]
      } | null
    } | null
  } | null
  readonly members: number
  readonly connected: number
  readonly inSync: number
  readonly canary: {
    readonly deploy: number
    readonly phase: 'activating' | 'observing' | 'passed'
    readonly members: readonly string[]
    readonly connected: number
    readonly abortOn: string
    readonly leftMs: number | null
    readonly canary: {
      readonly gateways: number
      readonly responses: number
      readonly errors: number | null
      readonly p50Ms: number | null
      readonly p99Ms: number | null
    }
    readonly others: {
      readonly gateways: number
      readonly responses: number
      readonly errors: number | null
      readonly p50Ms: number | null
      readonly p99Ms: number | null
    }
    readonly notChecked: readonly string[]
  } | null
}

/** Schema `Member` of the controller API. */
export type Member = {
  readonly member: string
  readonly name: string
  readonly group: string
  readonly version: string
  readonly adminUrl: string | null
  readonly status: 'inSync' | 'drifted' | 'canary' | 'away' | 'unmanaged'
  readonly reason: string | null
  readonly digest: string | null
  readonly deploy: number
  readonly lagDeploys: number
  readonly isReady: boolean
  readonly workers: number
  readonly clockDifferenceMs: number
  readonly figures: {
    readonly requestsPerSecond: number
    readonly errorsPerSecond: number
    readonly p99Ms: number | null
  } | null
  readonly controller: string
  readonly seenAgoMs: number
}

/** Schema `Deploy` of the controller API. */
export type Deploy = {
  readonly deploy: number
  readonly group: string
  readonly digest: string
  readonly source: string | null
  readonly note: string
  readonly rollbackTo: number | null
  readonly actor: string
  readonly at: string
  readonly controller: string
  readonly quorumPercent: number
  readonly deadlineMs: number
  readonly status: 'pending' | 'committed' | 'aborted'
  readonly reasons: readonly string[]
  readonly missing: readonly string[]
  readonly canary: {
    readonly size: string
    readonly forMs: number
    readonly abortOn: string
    readonly members: readonly {
      readonly member: string
      readonly name: string
    }[]
    readonly phase: 'activating' | 'observing' | 'passed'
    readonly observedFrom: string | null
    readonly comparison: {
      readonly canary: {
        readonly gateways: number
        readonly responses: number
        readonly errors: number | null
        readonly p50Ms: number | null
        readonly p99Ms: number | null
      }
      readonly others: {
        readonly gateways: number
        readonly responses: number
        readonly errors: number | null
        readonly p50Ms: number | null
        readonly p99Ms: number | null
      }
      readonly notChecked: readonly string[]
    } | null
  } | null
}
