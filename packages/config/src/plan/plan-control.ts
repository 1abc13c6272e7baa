/** Connection to a controller. */
export interface ControlPlan {
  /** Origins of controllers, tried in turn. */
  readonly urls: readonly string[]
  readonly group: string
  /** Name in the fleet; null: the host name. */
  readonly name: string | null
  readonly token: string | null
  readonly tls: {
    readonly caFile: string | null
    readonly certFile: string | null
    readonly keyFile: string | null
    /** SHA-256 fingerprints, lower-case hexadecimal; empty: any certificate of the CA. */
    readonly fingerprints: readonly string[]
  }
}
